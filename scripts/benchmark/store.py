"""What the context store saves: space, and time in training (MTCue, appendix A)."""

import dataclasses
import json
import tempfile
from pathlib import Path
from typing import Any, List

import numpy as np
import torch
from fairseq import utils

from ctxmt_fairseq.corpora.data_folder import write_description
from ctxmt_fairseq.corpora.demo_corpus.lexicon import NOUNS
from ctxmt_fairseq.corpora.embed import Request, embed
from ctxmt_fairseq.vectors.context_store import ContextStore
from ctxmt_fairseq.vectors.sentence_contexts import SentenceContexts
from ctxmt_fairseq.vectors.text_encoders import TextEncoder
from scripts.benchmark.metadata import PREVIOUS, make_model
from scripts.benchmark.paired import Comparison, alternate, seconds
from scripts.benchmark.training import groups_of, sentences, smoothed, step_of
from tests.helpers import synthetic
from tests.helpers.synthetic import DOCUMENT, FIELDS

FILMS, FILM = 25, 800  # documents and their sentences where space is measured
REPEATED = 0.1  # share of sentences that occur often, in subtitles of some ten thousand sentences
_PHRASES = 100


def write_text(folder: Path, documents: int, length: int) -> Request:
    """Random documents with metadata, as text; every field is there, the same in a document."""
    rng = np.random.default_rng(1)
    words = [noun.en for noun in NOUNS]  # a subword each: a sentence has as many as those of the batches

    def texts(number: int) -> List[str]:
        return [" ".join(rng.choice(words, size)) for size in synthetic.lengths(rng, number)]

    phrases = texts(_PHRASES)
    with (
        open(folder / "train.source", "w", encoding="utf-8") as source,
        open(folder / "train.target", "w", encoding="utf-8") as target,
        open(folder / "train.docids", "w", encoding="utf-8") as ids,
        open(folder / "train.meta.jsonl", "w", encoding="utf-8") as metadata,
    ):
        for document in range(documents):
            values = {f"field {number}": text for number, text in enumerate(texts(FIELDS))}
            for text in texts(length):
                source.write((rng.choice(phrases) if rng.random() < REPEATED else text) + "\n")
                target.write("\n")
                ids.write(f"{document}\n")
                metadata.write(json.dumps(values) + "\n")
    splits = {"train": {"sentences": documents * length}}
    write_description(folder, {"source_lang": "source", "target_lang": "target", "splits": splits})
    return Request(folder, {"train": str(folder / "train")})


def store_size(documents: int = FILMS, length: int = FILM) -> Comparison:
    """Bytes of a matrix of every sentence's contexts, previous sentences included, against the store's."""
    with tempfile.TemporaryDirectory(prefix="ctxmt-benchmark-") as name:
        report = embed(write_text(Path(name), documents, length), Path(name) / "store", "discrete", "float32")
    previous = documents * int(np.minimum(np.arange(length), PREVIOUS).sum())
    vector = report["bytes_one_per_context"] // report["contexts"]
    every = (report["contexts"] + previous) * vector
    return Comparison(
        f"store of {documents * length} sentences, up to {1 + FIELDS + PREVIOUS} contexts each, bytes",
        ("a vector for each context", "store"),
        "MiB",
        [(every / 2**20, report["bytes"] / 2**20)],
        "at least 10",
    )


class EmbeddedAnew:
    """In place of a store's vectors: every access embeds the texts of its rows, each distinct one once."""

    def __init__(self, contexts: SentenceContexts, encoder: TextEncoder):
        self.contexts = contexts
        self.encoder = encoder

    def __getitem__(self, rows: np.ndarray) -> np.ndarray:
        distinct, places = np.unique(rows, return_inverse=True)
        return self.encoder.encode(self.contexts.texts(distinct.tolist()))[places.reshape(rows.shape)]


def store_time(
    size: str, repeats: int, device: torch.device, max_tokens: int, encoder: TextEncoder
) -> Comparison:
    """Time of making a batch and a training step of MTCue on it, its contexts embedded anew or stored."""
    task = synthetic.make_metadata_task(size, PREVIOUS)
    step = step_of(make_model(task, "MTCue", size), smoothed(task), device)
    documents = 1 + sentences(max_tokens) // DOCUMENT
    with tempfile.TemporaryDirectory(prefix="ctxmt-benchmark-") as name:
        store = Path(name) / "store"
        embed(write_text(Path(name), documents, DOCUMENT), store, encoder.name, "float32", str(device))
        stored = ContextStore.open(store).split("train", documents * DOCUMENT)
        anew: Any = EmbeddedAnew(stored, encoder)
        datasets = [
            synthetic.dataset(task, documents, DOCUMENT, contexts=contexts)
            for contexts in (dataclasses.replace(stored, vectors=anew), stored)
        ]
        groups = groups_of(datasets[0], max_tokens)

        def measure(dataset: Any, number: int) -> float:
            def work() -> None:
                batch = dataset.collater(dataset.__getitems__(groups[number % len(groups)]))
                step(utils.move_to_cuda(batch) if device.type == "cuda" else batch)

            return seconds(work, device)

        values = alternate(
            lambda number: measure(datasets[0], number),
            lambda number: measure(datasets[1], number),
            repeats * len(groups),
        )
    ways, goal = ("contexts embedded anew", "from the store"), "at least 3" if size == "tiny" else ""
    return Comparison(f"train {size}, batch and step", ways, "s", values, goal)
