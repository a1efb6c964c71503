"""Everything that a probe of one text finds, as text and for JSON."""

from dataclasses import dataclass, replace
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

from ctxmt_fairseq.base.tables import remark
from ctxmt_fairseq.data.context_options import SIZES
from ctxmt_fairseq.evaluation.probe import word_report
from ctxmt_fairseq.evaluation.probe.conditions import ABSENT, DOCUMENT, selected, sized
from ctxmt_fairseq.evaluation.probe.outcome_scores import ScoredOutcomes, Tests, score_outcomes
from ctxmt_fairseq.evaluation.probe.prober import Prober
from ctxmt_fairseq.text.word_tags import Tags

ONE_MODEL = "tests are about this trained model; another seed may use its context otherwise"


@dataclass(frozen=True)
class ProbeReport:
    """The result of a probe.

    Attributes:
        content: what tells the text from others (``ProbedText.content``).
        counts: how many sentences, documents and words the text has.
        contexts: the document's own context first.
        left_out: the contexts that are impossible, and why.
        sizes, by_size: sizes of the document's own context in sentences, and the outcomes with them.
        words: the words of the references, and what the document's own context adds to them.
        top_words: those that it helps most, of those that occur ``least`` times or more.
        tags: the same of the tags of words; None: they are not known.
        against: the context that CXMI compares with.
    """

    name: str
    content: str
    counts: Dict[str, int]
    options: Dict[str, Any]
    contexts: ScoredOutcomes
    left_out: Dict[str, str]
    sizes: List[int]
    by_size: ScoredOutcomes
    words: List[word_report.SentenceWords]
    top_words: List[word_report.BitsRow]
    least: int
    tags: Optional[List[word_report.BitsRow]]
    tests: Tests
    against: str

    @property
    def title(self) -> str:
        """The text and its size."""
        return f"{self.name}: " + ", ".join(f"{count} {name}" for name, count in self.counts.items())

    def text(self) -> str:
        parts = [remark(self.title), self.contexts.table()]
        left_out = (f"{name} is left out: {why}" for name, why in self.left_out.items())
        parts.append(remark("\n".join(left_out)))
        parts.append(self.by_size.table() if self.sizes else "")
        if self.against != ABSENT:
            parts.append(remark(f"CXMI compares with context that is {self.against}"))
        if self.top_words:
            parts.append(word_report.bits_table(f"word ({self.least} times or more)", self.top_words))
        else:
            parts.append(remark(f"no word occurs {self.least} times (--min-count)"))
        if self.tags is not None:
            drawn = f"95 %: of {self.tests.samples} samples of {self.tests.unit}s, seed {self.tests.seed}"
            parts.append(f"{word_report.bits_table('tag', self.tags)}\n{remark(drawn)}")
        unread = sum(not words.as_written for _, words, *_ in self.words)
        if unread:
            said = f"{unread} sentences with words as the subword model reads them, not as written"
            parts.append(remark(said))
        if self.contexts.outcomes[0].scores:
            tests = f"tests: {self.tests.unit}s resampled, {self.tests.samples} samples, "
            signatures = (f"{each.name}: {each.signature}" for each in self.tests.measures)
            parts.append(remark("\n".join([tests + f"seed {self.tests.seed}", ONE_MODEL, *signatures])))
        return "\n\n".join(filter(None, parts))

    def as_dict(self) -> Dict[str, Any]:
        tags = {} if self.tags is None else {"tags": word_report.bits_records("tag", self.tags)}
        sizes = zip(self.sizes, self.by_size.records(), strict=True)
        measures = self.tests.measures if self.contexts.outcomes[0].scores else ()
        return {
            "text": self.name,
            "content": self.content,
            **{name if name != "words" else "reference_words": count for name, count in self.counts.items()},
            "options": self.options,
            "against": self.against,
            "contexts": self.contexts.records(),
            "left_out": self.left_out,
            "comparisons": [each.as_dict() for each in self.contexts.comparisons],
            "sizes": [{"size": size, **record} for size, record in sizes],
            "size_comparisons": [each.as_dict() for each in self.by_size.comparisons],
            "top_words": word_report.bits_records("word", self.top_words),
            **tags,
            "about": ONE_MODEL,
            "unit": self.tests.unit,
            "samples": self.tests.samples,
            "seed": self.tests.seed,
            "signatures": {each.name: each.signature for each in measures},
        }


def probe(
    name: str,
    prober: Prober,
    contexts: Sequence[str],
    sizes: Optional[Sequence[int]],
    tests: Tests,
    tags: Optional[Sequence[Tags]] = None,
    top: int = 20,
    least: int = 10,
) -> ProbeReport:
    """Probe models on a text, in contexts besides the document's own, and in sizes of this one (None: all
    from 0 to that of the models); ``tags`` are those of the words in every line. The report shows the ``top``
    words that occur at least ``least`` times."""
    loaded, text = prober.loaded, prober.text
    conditions, left_out = selected(loaded, contexts, prober.scorer)
    options = loaded.task.options
    largest = max(options[name] for name in SIZES)  # other options may reach farther
    sizes = sorted(set(range(largest + 1) if sizes is None else sizes))
    smaller = sized(loaded, sizes)
    found = score_outcomes(prober.outcomes(conditions), text, tests)
    by_size = score_outcomes(prober.outcomes({DOCUMENT: conditions[DOCUMENT], **smaller}), text, tests)
    words = word_report.sentence_words(text, loaded.target_subwords, found.outcomes[0].bits, tags)
    lengths = text.document_lengths if tests.unit == "document" else [1] * len(words)
    units = np.repeat(np.arange(len(lengths)), lengths).tolist()
    return ProbeReport(
        name,
        text.content,
        {"sentences": len(text.current), "documents": len(text.document_lengths), "words": text.words},
        {key: value for key, value in options.items() if key != "context_selection"},
        found,
        left_out,
        sizes,
        replace(by_size, outcomes=by_size.outcomes[1:]),
        words,
        word_report.top_words(words, top, least),
        least,
        None if tags is None else word_report.by_tag(words, units, tests.samples, tests.seed),
        tests,
        prober.against,
    )
