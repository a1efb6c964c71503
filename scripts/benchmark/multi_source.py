"""What encoding each sentence once saves, in training and in translation, with three context sentences."""

from typing import Any, Callable, Dict, List, Sequence, Tuple

import numpy as np
import torch
from fairseq import utils

from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.generation.document_translation import DocumentTranslator
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.generation.search_settings import SearchSettings
from ctxmt_fairseq.text.documents import Documents
from scripts.benchmark.paired import Comparison, alternate, seconds
from scripts.benchmark.training import Batch, smoothed, step_of
from tests.helpers import synthetic

RUN = 16  # consecutive sentences in a batch
BATCHES = 4
GOAL = {"iwslt": "at least 1.8"}
Batches = Callable[[Any, Sequence[np.ndarray]], List[Batch]]
Step = Callable[[Batch], None]
GRADIENT = {"no": "gradient of the context blocked", "yes": "gradient everywhere"}


def batch_runs(size: str, repeats: int, device: torch.device, max_tokens: int) -> List[Comparison]:
    """Time of training ``caching_transformer`` (all tokens): a step on the same sentences both ways, and the
    target tokens of the batches that either way has."""
    return [
        measure(size, repeats, device, max_tokens, gradient)
        for gradient in GRADIENT
        for measure in (_same_sentences, _own_batches)
    ]


def _training(
    size: str, device: torch.device, documents: int, gradient: str
) -> Tuple[Dict[int, Any], Batches, Step]:
    """Long documents as datasets, by their ``batch_runs``; batches of given examples of one; and a training
    step on a batch."""
    task = synthetic.make_multi_source_task(size, batch_runs=RUN)
    options = dict(shortening="none", context_gradient_encoder=gradient, dropout=0.1)
    model = synthetic.make_multi_source_model(task, size, "caching_transformer", **options)
    without_runs = synthetic.make_multi_source_task(size)
    without_runs.request.adopt(model, "caching_transformer")
    datasets = {
        runs: synthetic.dataset(of, documents=max(1, documents), document_length=100)
        for runs, of in ((RUN, task), (0, without_runs))
    }

    def batches(dataset: Any, groups: Sequence[np.ndarray]) -> List[Batch]:
        made = [dataset.collater([dataset[index] for index in group]) for group in groups]
        return utils.move_to_cuda(made) if device.type == "cuda" else made

    return datasets, batches, step_of(model, smoothed(task), device)


def _same_sentences(
    size: str, repeats: int, device: torch.device, max_tokens: int, gradient: str
) -> Comparison:
    datasets, batches, step = _training(size, device, max_tokens // 500, gradient)
    dataset = datasets[RUN]
    groups = dataset.batch_by_size(np.arange(len(dataset)), max_tokens=max_tokens * (1 + synthetic.CONTEXT))
    groups = groups[len(groups) // 4 :: max(1, len(groups) // (2 * BATCHES))][:BATCHES]  # of middling length
    anew, once = (batches(datasets[runs], groups) for runs in (0, RUN))
    values = alternate(
        lambda number: seconds(lambda: step(anew[number % len(groups)]), device),
        lambda number: seconds(lambda: step(once[number % len(groups)]), device),
        repeats * len(groups),
    )
    ways = ("every context anew", "each sentence once")
    return Comparison(f"train {size}, {GRADIENT[gradient]}", ways, "s", values, GOAL.get(size, ""))


def _own_batches(size: str, repeats: int, device: torch.device, max_tokens: int, gradient: str) -> Comparison:
    """Batches from all of the epoch, short sentences to long, with the same limit of tokens."""
    datasets, batches, step = _training(size, device, max_tokens // 100, gradient)

    def thousand_tokens(runs: int) -> Callable[[int], float]:
        dataset = datasets[runs]
        groups = dataset.batch_by_size(dataset.ordered_indices(), max_tokens=max_tokens)
        groups = [groups[(2 * number + 1) * len(groups) // (2 * BATCHES)] for number in range(BATCHES)]
        made = batches(dataset, groups)
        thousands = sum(batch["ntokens"] for batch in made) / 1000
        return lambda _: seconds(lambda: [step(batch) for batch in made], device) / thousands

    values = alternate(thousand_tokens(0), thousand_tokens(RUN), repeats)
    ways = ("batches by length", f"--batch-runs {RUN}")
    name = f"train {size}, {GRADIENT[gradient]}, 1,000 target tokens"
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
