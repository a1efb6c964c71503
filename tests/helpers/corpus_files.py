"""Corpora as text files, written and read whole."""

import json

from ctxmt_fairseq.cli.main import main

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


def convert(folder, kind, files, *options, languages=("en", "de")):
    """Run ``ctxmt corpus KIND`` on files, content by name, which options may name; returns the lines of each
    file of the corpus by its ending, and the counts."""
    for old in folder.glob("out.*"):
        old.unlink()
    for name, content in files.items():
        content = content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape")
        (folder / name).write_bytes(content)
    options = [folder / option if option in files else option for option in options]
    names = ("--source-lang", languages[0], "--target-lang", languages[1], "--out", folder / "out")
    main(["corpus", *map(str, (kind, *options, *names))])
    texts = {path.name.removeprefix("out."): path.read_text("utf-8") for path in folder.glob("out.*")}
    counts = json.loads(texts.pop("counts.json"))
    return {end: text.split("\n")[:-1] for end, text in texts.items()}, counts
