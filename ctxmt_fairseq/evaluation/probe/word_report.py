"""P-CXMI of the words in references: JSON lines, and tables of words and of tags."""

import json
from collections import defaultdict
from typing import Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.base.tables import aligned_table
from ctxmt_fairseq.corpora.linguistics.words import bare
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.evaluation.probe.probed_text import ProbedText
from ctxmt_fairseq.evaluation.probe.word_values import WordValues, word_values
from ctxmt_fairseq.evaluation.significance.resampling import bootstrap_scores, ratio
from ctxmt_fairseq.text.languages import words_of
from ctxmt_fairseq.text.word_tags import Tags, tags_of_parts

NO_TAG = "(no tag)"


class BitsRow(NamedTuple):
    """What context adds to the n occurrences of a word or tag: the mean and the sum, in bits. ``low`` and
    ``high`` are the 2.5 and 97.5 percentiles of the mean over bootstrap samples."""

    name: str
    n: int
    bits_per_word: float
    bits: float
    low: Optional[float] = None
    high: Optional[float] = None


class SentenceWords(NamedTuple):
    """The words of the current sentence in a line (from 1), their bits, and their tags if they are known;
    and how many words it has as written (``words_of``)."""

    line: int
    words: WordValues
    tags: Optional[Tags]
    size: int


def sentence_words(
    text: ProbedText, subwords: Subwords, bits: Sequence[np.ndarray], tags: Optional[Sequence[Tags]] = None
) -> List[SentenceWords]:
    """The words of the N current sentences, with their ``token_bits``, and the tags of their words
    (``words_of``) unless the subword model reads another text."""
    found = []
    for line, values in zip(text.current.tolist(), bits, strict=True):
        reference = text.references[line]
        words = word_values(text.written[line], subwords, values, reference)
        written = words_of(reference)
        known = None if tags is None else tags_of_parts(tags[line], written, words.words)
        found.append(SentenceWords(line + 1, words, known, len(written)))
    return found


def word_lines(sentences: Iterable[SentenceWords]) -> Iterator[str]:
    """JSON lines: ``line`` (from 1), ``words``, their ``bits``, ``end_bits`` (those of ``</s>``),
    ``sentence_bits`` (the sum of both), and ``tags`` if they are known."""
    for line, words, tags, _ in sentences:
        record = {
            "line": line,
            "words": words.words,
            "bits": [round(value, 6) for value in words.values.tolist()],
            "end_bits": round(words.end, 6),
            "sentence_bits": round(float(words.values.sum()) + words.end, 6),
            **({} if tags is None else {"tags": tags}),
        }
        yield json.dumps(record, ensure_ascii=False)


def top_words(sentences: Sequence[SentenceWords], count: int, least: int) -> List[BitsRow]:
    """The ``count`` words, of those that occur at least ``least`` times, that context helps most; best mean
    first. Words are compared in lower case, without punctuation around them."""
    values: Dict[str, List[float]] = defaultdict(list)
    for _, words, *_ in sentences:
        for word, value in zip(words.words, words.values.tolist(), strict=True):
            values[bare(word)].append(value)
    rows = [
        BitsRow(word, len(each), sum(each) / len(each), sum(each))
        for word, each in values.items()
        if len(each) >= least
    ]
    return sorted(rows, key=lambda row: (-row.bits_per_word, row.name))[:count]


def by_tag(
    sentences: Sequence[SentenceWords], units: Sequence[int], samples: int, seed: int
) -> List[BitsRow]:
    """As ``top_words`` for tags, best mean first and ``NO_TAG`` last. A word counts for each of its tags. A
    tag of one unit alone has no interval.

    Args:
        units: (N,) the document, from 0, or whatever else the bootstrap draws, of each sentence.
    """
    found: Dict[str, List[Tuple[int, float]]] = defaultdict(list)
    for unit, (_, words, tags, _) in zip(units, sentences, strict=True):
        for value, names in zip(words.values.tolist(), tags or (), strict=bool(tags)):
            for name in names or (NO_TAG,):
                found[name].append((unit, value))
    if not found:
        return []
    sums = []  # of each tag (units, 2): bits, and words
    for each in found.values():
        places, values = zip(*each, strict=True)
        counted = (np.bincount(places, weights, max(units) + 1) for weights in (values, None))
        sums.append(np.stack([*counted], axis=1).astype(np.float64))
    rows = []
    drawn = bootstrap_scores(sums, ratio, samples, seed)  # (tags, samples)
    for name, (bits, count), means in zip(found, (each.sum(0) for each in sums), drawn, strict=True):
        low = high = None
        if len({unit for unit, _ in found[name]}) > 1:
            low, high = (float(np.nanpercentile(means, share)) for share in (2.5, 97.5))
        rows.append(BitsRow(name, int(count), float(bits / count), float(bits), low, high))
    return sorted(rows, key=lambda row: (row.name == NO_TAG, -row.bits_per_word, row.name))


def bits_table(name: str, rows: Sequence[BitsRow]) -> str:
    """The rows of ``top_words`` or ``by_tag`` as a table."""
    cells = [[row.name, str(row.n), f"{row.bits_per_word:+.3f}", f"{row.bits:+.2f}"] for row in rows]
    head = [name, "n", "bits/word", "bits"]
    if any(row.low is not None for row in rows):
        head.insert(3, "95 %")
        for cell, row in zip(cells, rows, strict=True):
            cell.insert(3, "-" if row.low is None else f"({row.low:+.3f} .. {row.high:+.3f})")
    return aligned_table([head, *cells])


def bits_records(name: str, rows: Sequence[BitsRow]) -> List[Dict[str, object]]:
    """The same rows for JSON."""
    return [
        {name if key == "name" else key: value for key, value in row._asdict().items() if value is not None}
        for row in rows
    ]
