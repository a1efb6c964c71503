"""Cross-entropies of sentences, for models of different subwords to compare: of pairs by translation models,
of sentences by language models (fairseq's ``transformer_lm``, or kenlm's)."""

import functools
import math
from pathlib import Path
from typing import Any, Dict, List, Optional, Protocol

import numpy as np
import torch
from fairseq.data import data_utils
from fairseq.models.transformer_lm import TransformerLanguageModel
from fairseq.tasks.language_modeling import LanguageModelingTask

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.checkpoints.allowed import ALLOWED, modules_of
from ctxmt_fairseq.checkpoints.options import mapping
from ctxmt_fairseq.checkpoints.reading import load_ensemble, read, upgraded
from ctxmt_fairseq.corpora.data_folder import first_folder
from ctxmt_fairseq.corpora.subwords import PathLike, Subwords
from ctxmt_fairseq.generation.forced_scoring import MAX_TOKENS, TranslationScorer, batches_by_length
from ctxmt_fairseq.generation.loading import LoadedModels, chosen_device
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.languages import words_of

KENLM = (".arpa", ".binary", ".bin", ".klm", ".mmap", ".arpa.gz", ".probing", ".trie")


def length_of(text: str) -> int:
    """Count the words (``words_of``), and the sentence's end as one more."""
    return len(words_of(text)) + 1


def cross_entropies(
    loaded: LoadedModels, sources: List[str], targets: List[str], max_tokens: int = MAX_TOKENS
) -> np.ndarray:
    """Compute -log p(target | source) of N pairs, ``</s>`` included, in nats per word of the target
    (``length_of``): (N,); infinite where a sentence is longer than the models can read. Every pair is a
    document of its own, so no context is read."""
    source_tokens = [loaded.encode_source(text) for text in sources]
    target_tokens = [loaded.encode_target(text) for text in targets]
    lengths = zip(map(len, source_tokens), map(len, target_tokens), strict=True)
    most = loaded.limits
    fits = [number for number, (s, t) in enumerate(lengths) if s <= most[0] and t <= most[1]]
    found = np.full(len(sources), np.inf)
    if fits:
        scorer = TranslationScorer(
            [source_tokens[number] for number in fits],
            [target_tokens[number] for number in fits],
            Documents.from_lengths([1] * len(fits)),
            loaded.contexts_of([sources[number] for number in fits], [{}] * len(fits)),
            max_tokens=max_tokens,
        )
        scores = scorer.scores(loaded, progress=False)
        for number, tokens in zip(fits, scores, strict=True):
            found[number] = -tokens.current.sum() / length_of(targets[number])
    return found


class LanguageModel(Protocol):
    """Scores sentences one by one."""

    def log_probabilities(self, sentences: List[str]) -> np.ndarray:
        """Compute the log-probabilities (base e) of sentences (N,), whose units are joined by spaces; each
        counts its end ``</s>``. Minus infinity for a sentence that is longer than the model can read."""


def language_cross_entropies(
    model: LanguageModel, texts: List[str], subwords: Optional[Subwords]
) -> np.ndarray:
    """Compute the cross-entropies of sentences (N,), ``</s>`` included, in nats per word (``length_of``), so
    that models with different units (subwords; None: words) can be compared. Infinite for one that is too
    long."""
    units = subwords.encode_all(texts) if subwords else [" ".join(text.split()) for text in texts]
    return -model.log_probabilities(units) / np.array([length_of(text) for text in texts])


def load_language_model(
    path: PathLike, data: Optional[PathLike] = None, device: Any = None, max_tokens: int = MAX_TOKENS
) -> LanguageModel:
    """Load a language model: one of kenlm, told by its name (.arpa, ..), or else a fairseq checkpoint, whose
    ``dict.txt`` is in the folder ``data`` (default: the one of the training)."""
    if str(path).endswith(KENLM):
        return _Kenlm(Path(path))
    return _Fairseq(Path(path), data, chosen_device(device), max_tokens)


class _Kenlm:
    def __init__(self, path: Path):
        try:
            import kenlm
        except ImportError:
            raise BadInput("needs kenlm: pip install kenlm", path) from None
        if not path.is_file():
            raise BadInput("no such file", path)
        try:
            self._model = kenlm.Model(str(path))
        except (OSError, RuntimeError) as error:
            raise BadInput(f"is no language model that kenlm can read: {error}", path) from None

    def log_probabilities(self, sentences: List[str]) -> np.ndarray:
        scores = [self._model.score(sentence, bos=True, eos=True) for sentence in sentences]  # base 10
        return np.array(scores) * math.log(10)


class _Fairseq:
    """A ``transformer_lm``, which a checkpoint can name here alone."""

    def __init__(self, path: Path, data: Optional[PathLike], device: torch.device, max_tokens: int):
        allowed = ALLOWED | modules_of(TransformerLanguageModel, LanguageModelingTask)
        state = read(path, allowed, sections=("task", "model"))
        options = mapping(state["cfg"]["task"], "task")
        if options["_name"] != "language_modeling":
            raise BadInput("is no language model of fairseq (--task language_modeling)", path)
        folder = first_folder(data or options.get("data"))
        if not (folder / "dict.txt").is_file():
            raise BadInput("has no dict.txt; expected the data folder of the language model", folder)
        overrides: Dict[str, Any] = {"data": str(folder)}
        full = upgraded(state, path, overrides)
        (model,), _, task = load_ensemble([str(path)], overrides, None, state=full)
        self._model, self._dictionary = model.eval().to(device), task.source_dictionary
        # As fairseq's generation begins a sentence.
        self._begin = self._dictionary.bos() if options.get("add_bos_token") else self._dictionary.eos()
        self._longest, self._device, self._max_tokens = int(model.max_positions()), device, max_tokens

    @torch.no_grad()
    def log_probabilities(self, sentences: List[str]) -> np.ndarray:
        encode = functools.partial(self._dictionary.encode_line, add_if_not_exist=False, append_eos=True)
        tokens = [encode(sentence).long() for sentence in sentences]
        found = np.full(len(sentences), -np.inf)
        lengths = np.array([len(each) for each in tokens], np.int64)
        fitting = np.flatnonzero(lengths <= self._longest)
        for batch in batches_by_length(lengths[fitting], self._max_tokens):
            rows = fitting[batch]
            target = data_utils.collate_tokens([tokens[row] for row in rows], self._dictionary.pad())
            target = target.to(self._device)  # (B, T)
            previous = torch.cat([target.new_full((len(rows), 1), self._begin), target[:, :-1]], dim=1)
            output = self._model(previous)
            scores = self._model.get_normalized_probs(output, log_probs=True, sample=None)
            scores = scores.gather(2, target[:, :, None])[:, :, 0].double()
            found[rows] = (scores * target.ne(self._dictionary.pad())).sum(1).cpu().numpy()
        return found
