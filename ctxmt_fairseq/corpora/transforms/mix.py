"""One corpus from several: real and back-translated text, a large corpus and a small one of the domain.

With ratios, the numbers of sentences are in this proportion: the corpus that is largest for its ratio is
taken once, and the others are repeated; the last repetition takes documents at even distances. Without ratios
each is taken once. A corpus without document ids becomes documents of one sentence. The ids get the
number of the corpus and of the repetition before them (2.1/NAME).

Example: ctxmt corpus mix text/crawl=1 text/talks=1 --source-lang en --target-lang de --out text/train
"""

import itertools
from fractions import Fraction
from typing import Any, Iterator, List, Optional, Sequence, Tuple

from ctxmt_fairseq.base.command import argument
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Weighted
from ctxmt_fairseq.corpora.corpus_command import NewCorpus
from ctxmt_fairseq.corpora.pairs import Part, part_of


class Mix(NewCorpus):
    corpora: List[Weighted] = argument("PREFIX[=RATIO]", "how the names of each corpus' files begin")

    def parts(self) -> Iterator[Part]:
        from ctxmt_fairseq.corpora.text_rows import TextFiles

        prefixes, ratios = zip(*map(_prefix_and_ratio, self.corpora), strict=True)
        if None in ratios and any(ratios):
            raise BadInput("expected a ratio for each corpus, or none")
        corpora = [TextFiles(prefix, *self.languages, ids_optional=True) for prefix in prefixes]
        times = repetitions(corpora, ratios) if all(ratios) else [Fraction(1)] * len(corpora)
        return mix(corpora, times)


def _prefix_and_ratio(text: str) -> Tuple[str, Optional[Fraction]]:
    prefix, equals, number = text.rpartition("=")
    if not equals:
        return text, None
    try:
        ratio = Fraction(number)
    except (ValueError, ZeroDivisionError):
        ratio = Fraction(0)
    if not prefix or not Fraction(1, 10**6) <= ratio <= 10**6:
        raise BadInput(f"{text}: expected PREFIX=RATIO, a number from 0.000001 to 1000000")
    return prefix, ratio


def repetitions(corpora: Sequence[Any], ratios: Sequence[Fraction]) -> List[Fraction]:
    """How often each corpus is taken, so that the numbers of sentences have the ratios.

    The smallest is 1: that corpus is taken once. Lines that are only context do not count.
    """
    sizes = [sum(pair.current for pair in files.pairs()) for files in corpora]
    for files, size in zip(corpora, sizes, strict=True):
        if not size:
            raise BadInput("has no sentences, only context", files.prefix)
    weights = [ratio / size for ratio, size in zip(ratios, sizes, strict=True)]
    return [weight / min(weights) for weight in weights]


def mix(corpora: Sequence[Any], times: Sequence[Fraction]) -> Iterator[Part]:
    """Write one corpus after the other, each as often as asked for."""
    for number, (files, often) in enumerate(zip(corpora, times, strict=True), 1):
        for repetition in itertools.count(1):
            share = min(Fraction(1), often - repetition + 1)
            if share <= 0:
                break
            seen = taken = 0
            for document in files.documents():
                seen += len(document)
                wanted = taken + Fraction(len(document), 2) <= share * seen
                name = f"{number}.{repetition}/{document[0].document}"
                pairs = [pair._replace(document=name) for pair in document if wanted]
                taken += len(pairs)
                taken_of = {f"lines of {files.prefix}": len(pairs)}
                yield part_of(len(document), pairs, "beyond the ratios", taken_of)
