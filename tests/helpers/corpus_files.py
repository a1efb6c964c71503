"""Corpora as text files, written and read whole."""

import json

SUFFIXES = ("en", "de", "docids", "current", "meta.jsonl")


def write_corpus_files(prefix, lines, without=()):
    """``lines``: (source, target, document, current, metadata); those in ``without`` are not written."""
    columns = list(zip(*lines, strict=True)) if lines else [()] * 5
    for suffix, column in zip(SUFFIXES, columns, strict=True):
        if suffix not in without:
            texts = [json.dumps(value) if suffix == "meta.jsonl" else str(value) for value in column]
            prefix.with_name(f"{prefix.name}.{suffix}").write_text(
                "".join(f"{text}\n" for text in texts), "utf-8"
            )
    return prefix


def read_corpus_files(prefix):
    """The lines as ``write_corpus_files`` takes them; [] if there are none."""
    columns = {}
    for suffix in SUFFIXES:
        path = prefix.with_name(f"{prefix.name}.{suffix}")
        columns[suffix] = path.read_text("utf-8").splitlines() if path.exists() else None
    size = len(columns["en"] or ())
    marks = [int(mark) for mark in columns["current"] or ["1"] * size]
    metadata = [json.loads(line) for line in columns["meta.jsonl"] or ["{}"] * size]
    return list(
        zip(columns["en"] or (), columns["de"] or (), columns["docids"] or (), marks, metadata, strict=True)
    )
