"""Which measurements a call of the benchmark makes, and on what machine."""

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Callable, Dict, List, Sequence

import torch
from tqdm.auto import tqdm

from ctxmt_fairseq.vectors.text_encoders import DEFAULT_ENCODER, TextEncoder, load_text_encoder
from scripts.benchmark.context_memory import context_memory
from scripts.benchmark.contrastive import contrastive
from scripts.benchmark.corpora import corpora
from scripts.benchmark.decoding import forced_prefix
from scripts.benchmark.indexing import indexing
from scripts.benchmark.loading import loading
from scripts.benchmark.metadata import metadata
from scripts.benchmark.multi_source import batch_runs, sentence_cache
from scripts.benchmark.paired import Comparison
from scripts.benchmark.resampling import significance
from scripts.benchmark.start_up import start_up
from scripts.benchmark.store import store_size, store_time
from scripts.benchmark.training import peak_memory, step_time

_PROCESSES = 3  # pairs at most where every run starts an interpreter


@dataclass(frozen=True)
class Settings:
    """How large measurements are, and where they are made."""

    size: str  # of the models: tiny, iwslt, base
    repeats: int  # pairs of runs
    sentences: int  # to index
    links: int  # to make a corpus of
    cpu: bool  # even where a GPU is

    @property
    def few(self) -> int:
        """Pairs of runs that are processes."""
        return min(self.repeats, _PROCESSES)

    @property
    def device(self) -> torch.device:
        return torch.device("cuda" if torch.cuda.is_available() and not self.cpu else "cpu")

    @property
    def max_tokens(self) -> int:
        """Padded tokens of a batch."""
        return 16_000 if self.device.type == "cuda" else 2_000

    @property
    def examples(self) -> int:
        """Of a contrastive set."""
        return 300 if self.device.type == "cuda" else 60

    @cached_property
    def encoder(self) -> TextEncoder:
        return load_text_encoder(DEFAULT_ENCODER, str(self.device))

    @property
    def machine(self) -> str:
        """In words."""
        if self.device.type == "cuda":
            return f"{torch.cuda.get_device_name()}, torch {torch.__version__}"
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return f"{cores} CPU cores, {torch.get_num_threads()} threads, torch {torch.__version__}"


Step = Callable[[Settings], List[Comparison]]
MEASUREMENTS: Dict[str, List[Step]] = {
    "train": [
        lambda of: [step_time(of.size, of.repeats, of.device, of.max_tokens)],
        lambda of: [peak_memory(of.size, of.few, of.device, of.max_tokens)],
    ],
    "decode": [lambda of: [forced_prefix(of.size, of.repeats, of.device)]],
    "contrast": [lambda of: [contrastive(of.size, of.repeats, of.device, of.examples)]],
    "index": [lambda of: indexing(of.sentences, of.few)],
    "load": [lambda of: loading(of.repeats, 100 * of.examples, of.max_tokens)],
    "runs": [lambda of: batch_runs(of.size, of.repeats, of.device, of.max_tokens)],
    "cache": [lambda of: sentence_cache(of.size, of.repeats, of.device)],
    "memory": [lambda of: context_memory(of.size, of.device)],
    "metadata": [lambda of: metadata(of.size, of.repeats, of.device, of.max_tokens)],
    "store": [
        lambda of: [store_size()],
        lambda of: [store_time(of.size, of.repeats, of.device, of.max_tokens, of.encoder)],
    ],
    "corpus": [lambda of: corpora(of.links, of.few)],
    "significance": [lambda of: [significance(of.few)]],
    "start": [lambda of: start_up(of.repeats)],
}


def measure(names: Sequence[str], settings: Settings) -> List[Comparison]:
    """Make the measurements of these names in ``MEASUREMENTS``; a progress bar counts them on stderr."""
    if "store" in names:
        settings.encoder  # noqa: B018  (if it is missing, that is said before an hour of measurements)
    chosen = [step for name in names for step in MEASUREMENTS[name]]
    return [
        comparison for step in tqdm(chosen, unit="measurement", disable=None) for comparison in step(settings)
    ]
