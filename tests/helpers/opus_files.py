"""Small corpora in OPUS' layout."""

import gzip
import zipfile
from pathlib import Path


def clock(seconds):
    """00:00:05,897"""
    return f"{int(seconds // 3600):02}:{int(seconds // 60 % 60):02}:{seconds % 60:06.3f}".replace(".", ",")


def sentence(number, text, start=None, end=None, raw=False, cue=None):
    """An <s>; ``start`` and ``end`` put time marks before and after its words."""
    cue = cue or number
    parts = [f'  <s id="{number}">']
    if start is not None:
        parts.append(f'    <time id="T{cue}S" value="{clock(start)}" />')
    if raw:
        parts.append(text)
    else:
        parts += [f'<w id="{number}.{place}">{word}</w>' for place, word in enumerate(text.split(), 1)]
    if end is not None:
        parts.append(f'    <time id="T{cue}E" value="{clock(end)}" />')
    return "\n".join([*parts, "  </s>"])


def document(*sentences):
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<document id="7">\n'
        + "\n".join(sentences)
        + "\n</document>\n"
    )


def alignment(*groups):
    """``groups``: (fromDoc, toDoc, links); a link is (xtargets, overlap or None)."""
    lines = ['<?xml version="1.0" encoding="utf-8"?>']
    lines += ['<!DOCTYPE cesAlign PUBLIC "-//CES//DTD XML cesAlign//EN" "">', '<cesAlign version="1.0">']
    for first, second, links in groups:
        lines.append(f'<linkGrp targType="s" fromDoc="{first}" toDoc="{second}">')
        for number, (targets, overlap) in enumerate(links):
            share = "" if overlap is None else f' overlap="{overlap}"'
            lines.append(f'<link id="SL{number}" xtargets="{targets}"{share} />')
        lines.append("</linkGrp>")
    return "\n".join([*lines, "</cesAlign>"]) + "\n"


def write_folder(root, documents):
    """``documents``: name as in an alignment -> XML; those that end with .gz are compressed."""
    for name, text in documents.items():
        path = Path(root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return str(root)


def write_zip(path, documents, form="OpenSubtitles/xml/"):
    """As OPUS packs them: not compressed inside, below the corpus and the form."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in documents.items():
            archive.writestr(form + name.removesuffix(".gz"), text)
    return str(path)
