"""Random texts, vectors, tasks and models without a data folder; the same seed gives the same ones."""

import random
from argparse import Namespace
from typing import Any, Dict, List, Union

import numpy as np
import torch
from fairseq.data import Dictionary
from fairseq.models import ARCH_CONFIG_REGISTRY

from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.corpora.vocabulary import MULTIPLE
from ctxmt_fairseq.data.context_dataset import ContextDataset
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.models.sizes import SIZES
from ctxmt_fairseq.tasks.context_task import ContextTask
from ctxmt_fairseq.tasks.document_window import DocumentWindowConfig, DocumentWindowTask
from ctxmt_fairseq.tasks.metadata_context import MetadataContextConfig, MetadataContextTask
from ctxmt_fairseq.tasks.multi_source import MultiSourceConfig, MultiSourceTask
from ctxmt_fairseq.tasks.search.running_document import Sentences
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.symbols import add_symbols
from ctxmt_fairseq.vectors.sentence_contexts import SentenceContexts

WORDS = {"tiny": 1_000, "iwslt": 10_000, "base": 32_000}  # of one vocabulary for both sides
LENGTH = 20  # mean subwords of a sentence
CONTEXT = 3  # sentences before the current one, on both sides: windows of K = 4
LIMITS = (1024, 1024)
DOCUMENT, FIELDS = 50, 6  # sentences of a document, and its fields of metadata


def word(number: int) -> str:
    """A vocabulary entry."""
    return f"w{number}"


def _dictionary(size: str) -> Dictionary:
    """A joint vocabulary of the size that goes with the model's, filled up as by ``ctxmt preprocess``."""
    dictionary = Dictionary()
    for number in range(WORDS[size]):
        dictionary.add_symbol(word(number))
    add_symbols(dictionary)
    dictionary.pad_to_multiple_(MULTIPLE)
    return dictionary


def _config(kind: Any, **options: int) -> Any:
    """A task's options without a data folder."""
    return kind(
        data="", source_lang="source", target_lang="target", required_seq_len_multiple=1, seed=1, **options
    )


def make_task(size: str, source_context: int = CONTEXT, target_context: int = CONTEXT) -> DocumentWindowTask:
    """Windows, of K = 4 unless told."""
    dictionary = _dictionary(size)
    cfg = _config(DocumentWindowConfig, source_context=source_context, target_context=target_context)
    return DocumentWindowTask(cfg, dictionary, dictionary)


def make_multi_source_task(size: str, source_context: int = CONTEXT, batch_runs: int = 0) -> MultiSourceTask:
    """Previous source sentences as rows."""
    dictionary = _dictionary(size)
    cfg = _config(MultiSourceConfig, source_context=source_context, batch_runs=batch_runs)
    return MultiSourceTask(cfg, dictionary, dictionary)


def make_metadata_task(size: str, source_context: int) -> MetadataContextTask:
    """Previous source sentences as vectors; there is no store."""
    dictionary = _dictionary(size)
    return MetadataContextTask(
        _config(MetadataContextConfig, source_context=source_context), dictionary, dictionary
    )


def make_multi_source_model(task: MultiSourceTask, size: str, arch: str, **options: Any) -> torch.nn.Module:
    """An architecture for ``multi_source`` in one of the sizes."""
    positions = dict(max_source_positions=LIMITS[0], max_target_positions=LIMITS[1])
    args = Namespace(arch=f"{arch}_{size}", share_all_embeddings=True, **positions, **options)
    ARCH_CONFIG_REGISTRY[args.arch](args)
    torch.manual_seed(1)
    return task.build_model(args)


def make_model(task: DocumentWindowTask, size: str, concat: bool) -> torch.nn.Module:
    """``concat_transformer`` with shifted segments, or fairseq's ``transformer`` of the same size."""
    options: Dict[str, Any] = dict(
        SIZES[size], max_source_positions=LIMITS[0], max_target_positions=LIMITS[1]
    )
    if concat:
        options.update(segment_positions="shift", segment_shift=LENGTH)
    torch.manual_seed(1)
    arch = "concat_transformer" if concat else "transformer"
    return task.build_model(Namespace(arch=arch, **options))


def load(size: str, device: torch.device) -> LoadedModels:
    """An untrained concatenation model, ready for evaluation."""
    task = make_task(size)
    model = make_model(task, size, concat=True).eval().to(device)
    return LoadedModels([model], task, device, Subwords(), Subwords())


def lengths(rng: np.random.Generator, count: int) -> np.ndarray:
    """Subwords of ``count`` sentences without ``</s>``: (count,) int32, skewed as natural ones are."""
    return np.clip(rng.gamma(3.0, LENGTH / 3.0, count).round(), 1, 100).astype(np.int32)


def translated(rng: np.random.Generator, source: np.ndarray) -> np.ndarray:
    """Subwords of translations: those of their sentences, give or take 15 %."""
    return np.clip((source * rng.normal(1, 0.15, len(source))).round(), 1, 100).astype(np.int32)


def sentences(
    task: ContextTask,
    rng: np.random.Generator,
    count: int,
    length: Union[int, np.ndarray, None] = None,
) -> List[torch.Tensor]:
    """Random words, each sentence ending with ``</s>``; of one length, or of (count,) lengths, if given."""
    dictionary = task.source_dictionary
    sizes = np.broadcast_to(lengths(rng, count) if length is None else length, count).tolist()
    first = dictionary.index(word(0))
    last = first + sum(name.startswith("w") for name in dictionary.symbols)
    ends = [dictionary.eos()]
    return [torch.from_numpy(np.concatenate([rng.integers(first, last, size), ends])) for size in sizes]


def dataset(task: ContextTask, documents: int, document_length: int, **more: Any) -> ContextDataset:
    """Random documents as a training set.

    Args:
        more: what the task's ``build_dataset`` wants besides them.
    """
    rng = np.random.default_rng(1)
    count = documents * document_length
    sizes = lengths(rng, count)
    source, target = (
        Sentences(sentences(task, rng, count, side)) for side in (sizes, translated(rng, sizes))
    )
    boundaries = Documents.from_lengths([document_length] * documents)
    return task.build_dataset("synthetic", source, target, boundaries, current=None, training=True, **more)


def contexts(count: int, dimension: int) -> SentenceContexts:
    """Random vectors for the sentences and their metadata; every field is there, the same in a document."""
    rng = np.random.default_rng(1)
    documents = np.arange(count) // DOCUMENT
    vectors = rng.standard_normal((count + FIELDS * (documents[-1] + 1), dimension), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return SentenceContexts(
        vectors,
        np.arange(count),
        count + FIELDS * documents[:, None] + np.arange(FIELDS),
        tuple(f"field {number}" for number in range(FIELDS)),
        0,
        lambda rows: [str(row) for row in rows],
    )


def random_texts(sentences: int, words: int = 15) -> List[List[str]]:
    """A reference and two translations of it, which differ from it in a tenth and a fifth of their words.

    Args:
        words: of a sentence, on average.
    """
    draw = random.Random(1)
    reference = [
        [str(draw.randrange(5000)) for _ in range(draw.randrange(1, 2 * words))] for _ in range(sentences)
    ]
    texts = [reference]
    for share in (0.1, 0.2):
        texts.append([["x" if draw.random() < share else word for word in line] for line in reference])
    return [[" ".join(line) for line in text] for text in texts]
