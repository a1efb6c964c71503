"""What encoding each sentence once saves, in training and in translation, with three context sentences."""

from typing import Any, Callable, Dict, List, Sequence, Tuple

import numpy as np
import torch
from fairseq import utils
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion

from ctxmt_fairseq.benchmark import synthetic
from ctxmt_fairseq.benchmark.paired import Comparison, alternate, seconds
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.data.documents import Documents
from ctxmt_fairseq.generation.document_translation import DocumentTranslator
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.search.settings import SearchSettings

RUN = 16  # consecutive sentences in a batch
BATCHES = 4
GOAL = {"iwslt": "at least 1.8"}
Batch = Dict[str, Any]
Batches = Callable[[Sequence[np.ndarray]], List[Batch]]
Step = Callable[[Batch], None]
GRADIENT = {"no": "gradient of the context blocked", "yes": "gradient everywhere"}


def batch_runs(size: str, repeats: int, device: torch.device, max_tokens: int) -> List[Comparison]:
    """Time of training ``caching_transformer`` (all tokens): a step on the same sentences both ways, and a
    sentence in the batches that either way has."""
    return [
        measure(size, repeats, device, max_tokens, gradient)
        for gradient in GRADIENT
        for measure in (_same_sentences, _own_batches)
    ]


def _training(size: str, device: torch.device, documents: int, gradient: str) -> Tuple[Any, Batches, Step]:
    """A dataset of long documents, its batches of given examples, and a training step on one."""
    task = synthetic.make_multi_source_task(size, batch_runs=RUN)
    options = dict(shortening="none", context_gradient_encoder=gradient, dropout=0.1)
    model = synthetic.make_multi_source_model(task, size, "caching_transformer", **options).to(device).train()
    dataset = synthetic.dataset(task, documents=max(1, documents), document_length=100)
    criterion = LabelSmoothedCrossEntropyCriterion(task, sentence_avg=False, label_smoothing=0.1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)

    def batches(groups: Sequence[np.ndarray]) -> List[Batch]:
        made = [dataset.collater([dataset[index] for index in group]) for group in groups]
        return utils.move_to_cuda(made) if device.type == "cuda" else made

    def step(batch: Batch) -> None:
        loss, sample_size, _ = criterion(model, batch)
        (loss / sample_size).backward()
        optimizer.step()
        optimizer.zero_grad()

    return dataset, batches, step


def _same_sentences(
    size: str, repeats: int, device: torch.device, max_tokens: int, gradient: str
) -> Comparison:
    dataset, batches, step = _training(size, device, max_tokens // 500, gradient)
    groups = dataset.batch_by_size(np.arange(len(dataset)), max_tokens=max_tokens * (1 + synthetic.CONTEXT))
    groups = groups[len(groups) // 4 :: max(1, len(groups) // (2 * BATCHES))][:BATCHES]  # of middling length
    dataset.distinct = False
    anew = batches(groups)
    dataset.distinct = True
    once = batches(groups)
    values = alternate(
        lambda number: seconds(lambda: step(anew[number % len(groups)]), device),
        lambda number: seconds(lambda: step(once[number % len(groups)]), device),
        repeats * len(groups),
    )
    ways = ("every context anew", "each sentence once")
    return Comparison(f"train {size}, {GRADIENT[gradient]}", ways, "s", values, GOAL.get(size, ""))


def _own_batches(size: str, repeats: int, device: torch.device, max_tokens: int, gradient: str) -> Comparison:
    """Batches from all of the epoch, short sentences to long, with the same limit of tokens."""
    dataset, batches, step = _training(size, device, max_tokens // 100, gradient)

    def a_sentence(runs: int) -> Callable[[int], float]:
        dataset.batch_runs, dataset.distinct = runs, runs > 0
        groups = dataset.batch_by_size(dataset.ordered_indices(), max_tokens=max_tokens)
        groups = [groups[(2 * number + 1) * len(groups) // (2 * BATCHES)] for number in range(BATCHES)]
        made, sentences = batches(groups), sum(map(len, groups))
        return lambda _: seconds(lambda: [step(batch) for batch in made], device) / sentences

    values = alternate(a_sentence(0), a_sentence(RUN), repeats)
    ways = ("batches by length", f"--batch-runs {RUN}")
    name = f"train {size}, {GRADIENT[gradient]}, a sentence"
    return Comparison(name, ways, "s", values, GOAL.get(size, ""))


def sentence_cache(
    size: str, repeats: int, device: torch.device, documents: int = 16, sentences: int = 12
) -> List[Comparison]:
    """Time of translating documents with and without kept encoder states, greedily and with beam 4."""
    task = synthetic.make_multi_source_task(size)
    model = synthetic.make_multi_source_model(task, size, "caching_transformer").eval().to(device)
    loaded = LoadedModels([model], task, device, Subwords(), Subwords())
    rng = np.random.default_rng(1)
    sources = synthetic.sentences(task, rng, documents * sentences)
    boundaries = Documents.from_lengths([sentences] * documents)

    def measure(cached: bool, beam: int) -> float:
        # An untrained model ends nowhere: the length is forced.
        search = SearchSettings(
            beam=beam, lenpen=0.6, max_len_a=0, max_len_b=synthetic.LENGTH, min_len=synthetic.LENGTH
        )
        translator = DocumentTranslator(loaded, search, width=documents)
        if not cached:
            translator.caching = []
            model.encoder.sentence_cache = None
        running = translator.running(sources, boundaries)
        return seconds(lambda: list(translator.translate(running, range(len(sources)))), device)

    def compare(beam: int) -> Comparison:
        values = alternate(lambda _: measure(False, beam), lambda _: measure(True, beam), repeats)
        ways = ("every context anew", "cached")
        return Comparison(f"translate {size}, beam {beam}", ways, "s", values, "at least 1.5")

    return [compare(beam) for beam in (1, 4)]
