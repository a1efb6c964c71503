"""Text with metadata, data folders without binarised text, and context stores made from them, for tests."""

import hashlib
import json
from pathlib import Path

from ctxmt_fairseq.corpora.data_folder import read_description, write_description
from ctxmt_fairseq.corpora.embed import Request, embed
from ctxmt_fairseq.vectors.text_encoders import DiscreteEncoder

SENTENCES = ["A cat.", "A  dog.", "", "A cat.", "Formal talk", "It sleeps."]
METADATA = [
    {"genre": "Drama", "rating": "R"},
    {"rating": "N/A", "genre": "Drama"},
    {},
    {"formality": "Formal talk"},
    {"genre": " ", "rating": "PG rating: R"},
    {"genre": "Crime"},
]


def write_split(root, split, sentences=SENTENCES, metadata=METADATA):
    """Write the text of a split and tell the data folder of it; returns the prefix of the text."""
    prefix = Path(root) / split
    columns = {
        "en": sentences,
        "fr": ["x"] * len(sentences),
        "docids": [str(line // 4) for line in range(len(sentences))],
        "meta.jsonl": [json.dumps(values) for values in metadata],
    }
    for suffix, lines in columns.items():
        write_lines(f"{prefix}.{suffix}", lines)
    data = data_folder(root)
    description = read_description(data) if (data / "ctxmt.json").is_file() else {"splits": {}}
    normal = "".join(" ".join(sentence.split()) + "\n" for sentence in sentences)
    description["splits"][split] = {
        "sentences": len(sentences),
        "source_digest": hashlib.sha256(normal.encode()).hexdigest(),
    }
    description.update(source_lang="en", target_lang="fr")
    write_description(data, description)
    return str(prefix)


def write_lines(path, lines):
    Path(path).write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def data_folder(root):
    """The data folder that ``write_split`` describes splits in."""
    data = Path(root) / "data"
    data.mkdir(exist_ok=True)
    return data


def make_store(root, *splits, out="store", encoder="discrete", dtype="float32", **options):
    """Embed splits that were written; returns the store's folder and the summary."""
    request = Request(data_folder(root), {split: str(Path(root) / split) for split in splits}, **options)
    return Path(root) / out, embed(request, Path(root) / out, encoder, dtype)


def contents(folder):
    """file -> bytes."""
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


class NotingEncoder(DiscreteEncoder):
    """The discrete encoder, which notes what it is asked for; the empty text is no matter."""

    def __init__(self):
        self.asked = []

    def encode(self, texts):
        self.asked += filter(None, texts)
        return super().encode(texts)
