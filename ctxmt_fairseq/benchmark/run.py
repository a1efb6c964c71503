"""Which measurements a call of the benchmark makes, and on what machine."""

import os
from functools import partial
from typing import Any, Callable, Dict, List, Sequence

import torch
from tqdm.auto import tqdm

from ctxmt_fairseq.benchmark.context_memory import context_memory
from ctxmt_fairseq.benchmark.contrastive import contrastive
from ctxmt_fairseq.benchmark.corpora import corpora
from ctxmt_fairseq.benchmark.decoding import forced_prefix
from ctxmt_fairseq.benchmark.indexing import indexing
from ctxmt_fairseq.benchmark.metadata import metadata
from ctxmt_fairseq.benchmark.multi_source import batch_runs, sentence_cache
from ctxmt_fairseq.benchmark.paired import Comparison
from ctxmt_fairseq.benchmark.resampling import significance
from ctxmt_fairseq.benchmark.start_up import start_up
from ctxmt_fairseq.benchmark.store import store_size, store_time
from ctxmt_fairseq.benchmark.training import peak_memory, step_time
from ctxmt_fairseq.data.text_encoders import DEFAULT_ENCODER, load_text_encoder

_PROCESSES = 3  # pairs at most where every run starts an interpreter


def _device(cpu: bool) -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() and not cpu else "cpu")


def machine(cpu: bool) -> str:
    """The machine in words."""
    if _device(cpu).type == "cuda":
        return f"{torch.cuda.get_device_name()}, torch {torch.__version__}"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} CPU cores, {torch.get_num_threads()} threads, torch {torch.__version__}"


def measure(
    names: Sequence[str], size: str, repeats: int, sentences: int, links: int, cpu: bool
) -> List[Comparison]:
    """Make the measurements; a progress bar counts them on stderr.

    Args:
        names: train, decode, contrast, index, runs, cache, memory, metadata, store, corpus, significance,
            start.
        size: of the models: tiny, iwslt, base.
        repeats: pairs of runs.
        sentences: to index.
        links: to make a corpus of.
    """
    device = _device(cpu)
    max_tokens, examples = (16_000, 300) if device.type == "cuda" else (2_000, 60)
    few = min(repeats, _PROCESSES)
    # loaded first: if it is missing, that is said before an hour of measurements
    encoder: Any = load_text_encoder(DEFAULT_ENCODER, str(device)) if "store" in names else None
    steps: Dict[str, List[Callable[[], List[Comparison]]]] = {
        "train": [
            lambda: [step_time(size, repeats, device, max_tokens)],
            lambda: [peak_memory(size, few, device, max_tokens)],
        ],
        "decode": [lambda: [forced_prefix(size, repeats, device)]],
        "contrast": [lambda: [contrastive(size, repeats, device, examples)]],
        "index": [partial(indexing, sentences, few)],
        "runs": [partial(batch_runs, size, repeats, device, max_tokens)],
        "cache": [partial(sentence_cache, size, repeats, device)],
        "memory": [partial(context_memory, size, device)],
        "metadata": [partial(metadata, size, repeats, device, max_tokens)],
        "store": [
            lambda: [store_size()],
            lambda: [store_time(size, repeats, device, max_tokens, encoder)],
        ],
        "corpus": [partial(corpora, links, few)],
        "significance": [lambda: [significance(few)]],
        "start": [partial(start_up, repeats)],
    }
    chosen = [step for name in names for step in steps[name]]
    return [comparison for step in tqdm(chosen, unit="measurement", disable=None) for comparison in step()]
