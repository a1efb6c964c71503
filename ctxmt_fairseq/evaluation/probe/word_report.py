"""P-CXMI of the words in references: JSON lines, and tables of words and of tags."""

import json
from collections import defaultdict
from typing import Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.base.tables import aligned_table
from ctxmt_fairseq.corpora.linguistics.words import bare
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.evaluation.probe.probed_text import ProbedText
from ctxmt_fairseq.evaluation.probe.word_values import WordValues, word_values
from ctxmt_fairseq.text.languages import words_of
from ctxmt_fairseq.text.word_tags import Tags, tags_of_parts

NO_TAG = "(no tag)"
BitsRow = Tuple[str, int, float, float]  # word or tag, occurrences, mean bits, sum of bits


class SentenceWords(NamedTuple):
    """The words of the current sentence in a line (from 1), their bits, and their tags if they are known."""

    line: int
    words: WordValues
    tags: Optional[Tags]


def sentence_words(
    text: ProbedText, subwords: Subwords, bits: Sequence[np.ndarray], tags: Optional[Sequence[Tags]] = None
) -> List[SentenceWords]:
    """The words of the N current sentences, with their ``token_bits``, and the tags of their words
    (``words_of``) unless the subword model reads the text in another form."""
    found = []
    for line, values in zip(text.current.tolist(), bits, strict=True):
        reference = text.references[line]
        words = word_values(reference, subwords, values)
        known = None
        if tags is not None and words.as_written:
            known = tags_of_parts(tags[line], words_of(reference), words.words)
        found.append(SentenceWords(line + 1, words, known))
    return found


def word_lines(sentences: Iterable[SentenceWords]) -> Iterator[str]:
    """JSON lines: ``line`` (from 1), ``words``, their ``bits``, ``end_bits`` (those of ``</s>``),
    ``sentence_bits`` (the sum of both), and ``tags`` if they are known."""
    for line, words, tags in sentences:
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
    for _, words, _ in sentences:
        for word, value in zip(words.words, words.values.tolist(), strict=True):
            values[bare(word)].append(value)
    rows = [row for row in _rows(values) if row[1] >= least]
    return sorted(rows, key=lambda row: (-row[2], row[0]))[:count]


def by_tag(sentences: Sequence[SentenceWords]) -> List[BitsRow]:
    """As ``top_words`` for tags, best mean first and ``NO_TAG`` last. A word counts for each of its tags."""
    values: Dict[str, List[float]] = defaultdict(list)
    for _, words, tags in sentences:
        for value, names in zip(words.values.tolist(), tags or (), strict=bool(tags)):
            for name in names or (NO_TAG,):
                values[name].append(value)
    return sorted(_rows(values), key=lambda row: (row[0] == NO_TAG, -row[2], row[0]))


def _rows(values: Mapping[str, Sequence[float]]) -> List[BitsRow]:
    return [(name, len(each), sum(each) / len(each), sum(each)) for name, each in values.items()]


def bits_table(name: str, rows: Sequence[BitsRow]) -> str:
    """The rows of ``top_words`` or ``by_tag`` as a table."""
    cells = [[label, str(count), f"{mean:+.3f}", f"{total:+.2f}"] for label, count, mean, total in rows]
    return aligned_table([[name, "n", "bits/word", "bits"], *cells])


def bits_records(name: str, rows: Sequence[BitsRow]) -> List[Dict[str, object]]:
    """The same rows for JSON."""
    return [dict(zip((name, "n", "bits_per_word", "bits"), row, strict=True)) for row in rows]
