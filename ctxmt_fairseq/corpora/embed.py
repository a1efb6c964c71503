"""Embeds the contexts of a data folder's splits into a context store: surveys the text, then embeds the new.

Both passes read line by line. The survey comes first, so that text of another data folder is refused at once.
"""

import dataclasses
import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import numpy as np
from tqdm.auto import tqdm

from ctxmt_fairseq.base import ranks
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.folders import check_folder
from ctxmt_fairseq.corpora.data_folder import PathLike, digest_line, metadata_line, read_description
from ctxmt_fairseq.corpora.store_writer import CHUNK, check_same_kind, store_writer
from ctxmt_fairseq.corpora.text_rows import TextFiles
from ctxmt_fairseq.corpora.text_steps import TextSteps, steps_of_language
from ctxmt_fairseq.text.metadata_text import metadata_text
from ctxmt_fairseq.vectors.context_store import HEADER, INDEX_DTYPE, StoreHeader, index_file, read_header
from ctxmt_fairseq.vectors.text_encoders import load_text_encoder

_ENTRIES = 2**20  # of an index that are counted together
_NOTHING: List[List[str]] = []  # to embed


@dataclass(frozen=True)
class Request:
    """What to embed of the folder ``data``: splits by their prefixes, metadata fields (None: those of the
    store, if it is there, else all that are found), and perhaps the source sentences."""

    data: PathLike
    splits: Mapping[str, str]
    fields: Optional[Sequence[str]] = None
    sentences: bool = True
    blank_lines: bool = False

    def files(self) -> Dict[str, TextFiles]:
        """The text of each split; the data folder must have these splits."""
        description = read_description(self.data)
        for split in self.splits:
            if split not in description["splits"]:
                known = ", ".join(description["splits"])
                raise BadInput(f"has no split {split}, only {known}", self.data)
        if not self.splits:
            raise BadInput("expected --train, --valid or --test")
        languages = description["source_lang"], description["target_lang"]
        return {
            split: TextFiles(prefix, *languages, self.blank_lines) for split, prefix in self.splits.items()
        }


@dataclass(frozen=True)
class Survey:
    """What is in a split's text: the ``digests`` of its source text and metadata; field -> the number of
    sentences with a value, and of values that say nothing (fields in the order of their first occurrence)."""

    sentences: int
    digests: Dict[str, str]
    given: Dict[str, int]
    nothing: Dict[str, int]


def survey(request: Request) -> Dict[str, Survey]:
    """Read all text and metadata once, and check that they are the data folder's."""
    described = read_description(request.data)["splits"]
    steps = steps_of_language(request.data, "source")
    surveys = {}
    for split, files in request.files().items():
        digest, metadata = hashlib.sha256(), hashlib.sha256()
        given: Counter = Counter()
        nothing: Counter = Counter()
        sentences = 0
        for pair in tqdm(files.pairs(), desc=f"check {split}", unit=" lines", disable=None):
            digest.update(digest_line(steps.surface(pair.source)))
            metadata.update(metadata_line(pair.metadata))
            sentences += 1
            for field, value in pair.metadata.items():
                given[field] += 1
                nothing[field] += metadata_text(field, value) is None
        expected, text = described[split], files.path(files.source_lang)
        if sentences != expected["sentences"]:
            raise BadInput(
                f"expected the {expected['sentences']} sentences of the split {split} of {request.data}, "
                f"found {sentences}",
                text,
            )
        if digest.hexdigest() != expected.get("source_digest", digest.hexdigest()):
            raise BadInput(
                f"is another text than the split {split} of {request.data} was made from; run ctxmt "
                "preprocess again, or name the text that it has read",
                text,
            )
        digests = {"digest": digest.hexdigest(), "metadata_digest": metadata.hexdigest()}
        surveys[split] = Survey(sentences, digests, dict(given), dict(nothing))
    return surveys


def chosen_fields(
    request: Request, surveys: Mapping[str, Survey], store: Optional[StoreHeader]
) -> Tuple[str, ...]:
    """Choose the fields to embed, those of the store that they will be added to, if there is one."""
    found = list(dict.fromkeys(field for one in surveys.values() for field in one.given))
    known = list(store.fields) if store else []
    wanted = request.fields
    if wanted is None:
        wanted = known + [field for field in found if field not in known]
    for field in wanted:
        if field not in found + known:
            names = ", ".join(found) or "none"
            raise BadInput(f"--fields {field}: the metadata has no such field, only {names}")
    if store and set(wanted) != set(known):
        raise BadInput(
            f"the context store there has the fields {', '.join(known) or 'none'}, not "
            f"{', '.join(wanted) or 'none'}; --fields chooses fields, --out another folder"
        )
    fields = tuple(known) if store else tuple(dict.fromkeys(wanted))
    if not fields and not request.sentences:
        raise BadInput("nothing to embed: there is no metadata, and sentences are not wanted")
    return fields


def texts_to_embed(
    files: TextFiles, fields: Sequence[str], sentences: bool, steps: TextSteps
) -> Iterator[List[Optional[str]]]:
    """Yield for each sentence its own text (``TextSteps.surface``) and that of each field; None: nothing."""
    for pair in files.pairs():
        own = steps.surface(pair.source) if sentences else None
        yield [own, *(metadata_text(field, pair.metadata.get(field, "")) for field in fields)]


def existing(out: PathLike) -> Optional[StoreHeader]:
    """The header of the store in a folder; None: there is no store."""
    return read_header(out) if (Path(out) / HEADER).is_file() else None


def embed(
    request: Request, out: PathLike, encoder_name: str, dtype: str, device: str = "cpu", batch_size: int = 64
) -> Dict[str, Any]:
    """Make the store ``out``, or add to it; returns what is in it then (``summary``).

    On an error the store keeps what was embedded so far. Of several processes the first writes the store;
    the others embed for it.
    """
    encoder: Any = load_text_encoder(encoder_name, device, batch_size)
    if ranks.count() > 1:
        encoder = _SharedEncoder(encoder)
    if ranks.number():
        encoder.serve()
        return {}
    wanted = StoreHeader(encoder.name, encoder.dimension, dtype, (), request.sentences)
    store = existing(out)
    check_folder(out)
    if store:  # checked before the text is read
        check_same_kind(out, store, dataclasses.replace(wanted, fields=store.fields))
    surveys = survey(request)
    wanted = dataclasses.replace(wanted, fields=chosen_fields(request, surveys, store))
    steps = steps_of_language(request.data, "source")
    new = {}
    with store_writer(out, wanted, encoder) as writer:
        for split, files in request.files().items():
            before = writer.new
            rows = tqdm(
                texts_to_embed(files, wanted.fields, request.sentences, steps),
                desc=f"embed {split}",
                total=surveys[split].sentences,
                unit=" sentences",
                disable=None,
            )
            writer.write_split(split, rows, surveys[split].digests)
            new[split] = writer.new - before
    if ranks.count() > 1:
        encoder.end()
    return summary(out, new)


class _SharedEncoder:
    """An encoder whose work several processes share, chunk by chunk: the first asks, the others serve it."""

    def __init__(self, encoder: Any):
        self.encoder, self.name, self.dimension = encoder, encoder.name, encoder.dimension

    def encode(self, texts: List[str]) -> np.ndarray:
        """Embed texts in all processes, of which the first calls this, the others ``serve``."""
        return self._encode(ranks.first_says([texts[at : at + CHUNK] for at in range(0, len(texts), CHUNK)]))

    def _encode(self, chunks: List[List[str]]) -> np.ndarray:
        own = range(ranks.number(), len(chunks), ranks.count())
        found = ranks.united({number: self.encoder.encode(chunks[number]) for number in own})
        return np.concatenate([found[number] for number in range(len(chunks))])

    def serve(self) -> None:
        """Embed until the first process calls ``end``."""
        while chunks := ranks.first_says(_NOTHING):
            self._encode(chunks)

    def end(self) -> None:
        ranks.first_says(_NOTHING)


def summary(out: PathLike, new: Mapping[str, int]) -> Dict[str, Any]:
    """Tell what is in a store, and how much smaller it is than a vector for each text of all lines; ``new``
    has the number of vectors that were added for each split."""
    header = read_header(out)
    contexts = {split: _contexts(Path(out) / index_file(split)) for split in header.splits}
    total = sum(contexts.values())
    size = sum(path.stat().st_size for path in Path(out).iterdir())
    every = total * header.vector_bytes
    return {
        "store": str(out),
        "encoder": header.encoder,
        "dimension": header.dimension,
        "dtype": header.dtype,
        "fields": list(header.fields),
        "splits": {
            split: {"sentences": known["sentences"], "contexts": contexts[split], "new": new.get(split, 0)}
            for split, known in header.splits.items()
        },
        "contexts": total,
        "distinct": header.count,
        "bytes": size,
        "bytes_one_per_context": every,
        "saving": 1 - size / every if every else 0.0,
    }


def _contexts(path: Path) -> int:
    """Count the entries of an index that have a vector."""
    count = 0
    with open(path, "rb") as stream:
        while len(entries := np.fromfile(stream, INDEX_DTYPE, _ENTRIES)):
            count += int(np.count_nonzero(entries >= 0))
    return count
