"""Gives the lines of a corpus their films' metadata, and counts their context (MTCue, section 3.1)."""

import functools
import itertools
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, Dict, Iterator, Mapping, Set, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.files import open_outputs
from ctxmt_fairseq.corpora.film_records import FIELDS, Films
from ctxmt_fairseq.corpora.films import Film, film_of_document
from ctxmt_fairseq.text.documents import id_spans, iterate_ids
from ctxmt_fairseq.text.metadata_files import MetadataFiles, metadata_line
from ctxmt_fairseq.text.metadata_text import metadata_text, parse_metadata
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines, parse_flag, together

PREVIOUS = 5  # previous sentences, as MTCue reads
_text = functools.lru_cache(maxsize=4096)(metadata_text)  # lines of a film have the same values
_RANGE = re.compile(r"\s*(\d{4})\s*[-‐-―−]\s*(\d{4})?\s*")


def films_of(prefix: PathLike) -> Set[str]:
    found = {film_of_document(name) for name, _ in id_spans(f"{prefix}.docids")}
    films = {film.id for film in found if film}
    if not films:
        raise BadInput("has no document with an id as YEAR/IMDB/FILE", f"{prefix}.docids")
    return films


def film_texts(film: Film, records: Mapping[str, str]) -> Dict[str, str]:
    """Give what is known of a film, in MTCue's fields: the values that say something, as they are.

    Series have a range of years. The document's own year counts if it is in the range, else the first.
    """
    texts = {}
    for field in FIELDS:
        text = " ".join(records.get(field, "").split())
        years = _RANGE.fullmatch(text) if field == "year" else None
        if years:
            first, last = int(years[1]), int(years[2] or 9999)
            text = str(film.year if film.year and first <= film.year <= last else first)
        if metadata_text(field, text) is not None:
            texts[field] = text
    return texts


def joined(first: Films, second: Films) -> Films:
    """Join what two sources know of films. If both have a value that says something, the first's counts."""
    films = {film: dict(records) for film, records in second.items()}
    for film, records in first.items():
        films.setdefault(film, {}).update(
            {field: text for field, text in records.items() if metadata_text(field, text) is not None}
        )
    return films


def add_film_metadata(prefix: PathLike, films: Films, remarks: Mapping[str, int]) -> Dict[str, Any]:
    """Write PREFIX.meta.jsonl with the six fields of MTCue, and PREFIX.films.json, the account; returns that.
    Other fields that the lines have stay. All lines of a film get its values. ``coverage`` is the share of
    sentences with each field, with at least 1, .., 5 lines before them in their document, and with any of
    these (table 1; lines that are only context do not count). ``remarks`` are further entries."""
    own = [field for field in FIELDS if field in MetadataFiles.beside(prefix).fields]
    if own:
        raise BadInput("is there already, but a field is in one file: remove it", f"{prefix}.meta.{own[0]}")
    counts: Counter = Counter()
    named: Set[str] = set()
    described: Set[str] = set()
    outputs = [f"{prefix}.meta.jsonl", f"{prefix}.films.json"]
    with open_outputs(outputs) as streams:
        for document, lines in itertools.groupby(_lines(prefix), key=lambda line: line[0]):
            film = film_of_document(document)
            known = film_texts(film, films.get(film.id, {})) if film else {}
            counts["documents"] += 1
            counts["documents that name no film"] += film is None
            if film:
                named.add(film.id)
            if film and known:
                described.add(film.id)
            for depth, (_, current, before) in enumerate(lines):
                metadata = {**before, **known}
                streams[outputs[0]].write(f"{metadata_line(metadata)}\n".encode())
                counts["lines"] += 1
                if current:
                    fields = [field for field in FIELDS if _text(field, metadata.get(field, ""))]
                    counts.update(["sentences", *fields])
                    counts.update(f"n-{number}" for number in range(1, min(depth, PREVIOUS) + 1))
                    counts["any context"] += bool(fields or depth)
        if not counts["sentences"]:
            raise BadInput("expected sentences, found none", f"{prefix}.docids")
        rows = [*FIELDS, *(f"n-{number}" for number in range(1, PREVIOUS + 1)), "any context"]
        totals = ("lines", "sentences", "documents", "documents that name no film")
        record = {
            "kind": "films",
            **{name: counts[name] for name in totals},
            "films": len(named),
            "films with metadata": len(described),
            **remarks,
            "coverage": {row: counts[row] / counts["sentences"] for row in rows},
        }
        streams[outputs[1]].write(json.dumps(record, indent=2).encode() + b"\n")
    return record


def _lines(prefix: PathLike) -> Iterator[Tuple[str, bool, Dict[str, str]]]:
    """The document of each line, whether it is more than context, and its metadata."""
    ids, marks, objects = (Path(f"{prefix}.{end}") for end in ("docids", "current", "meta.jsonl"))
    optional = [path for path in (marks, objects) if path.is_file()]
    columns = [(ids, iterate_ids(ids)), *((path, iterate_lines(path)) for path in optional)]
    for number, (document, *more) in enumerate(together(columns), 1):
        values = dict(zip(optional, more, strict=True))
        current, text = parse_flag(values.get(marks, "1"), marks, number), values.get(objects, "")
        yield document, current, parse_metadata(text, objects, number) if text.strip() else {}
