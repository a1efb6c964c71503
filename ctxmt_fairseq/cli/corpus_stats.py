"""What a corpus is like: documents, sentences a document, words, subwords, lengths.

--data names a data folder of "ctxmt preprocess", whose subwords are counted; the histograms, and the shares
of sentences that are longer than L, are then of subwords, else of words. A corpus without document ids counts
as documents of one sentence. Nothing but the files that are asked for is written.

Example: ctxmt corpus stats text/train --source-lang en --target-lang de --data data-bin --json train.json \\
             --longer-than 50 100 --lengths train-lengths.tsv --plot train-lengths.png
"""

import io
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.analysis.map_files import check_optional_picture
from ctxmt_fairseq.corpora.data_folder import read_description
from ctxmt_fairseq.corpora.formats import options
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.corpora.text_rows import TextFiles
from ctxmt_fairseq.corpora.workers import chunks
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.files import write_files
from ctxmt_fairseq.option_types import non_negative_int
from ctxmt_fairseq.tables import aligned_table

BATCH = 10_000  # sentences that are encoded together
BARS = 50
TAIL = 0.999  # the share of sentences or documents that a plot shows; longer ones are in the last bar
Encode = Callable[[List[str]], List[str]]


def add_arguments(parser: Any) -> None:
    options.add_report_options(parser)
    parser.add_argument("--data", metavar="DIR", help="a data folder, for its subwords")
    parser.add_argument("--longer-than", type=non_negative_int, nargs="+", default=[100], metavar="L",
                        help="print the share of longer sentences (default: 100)")  # fmt: skip
    parser.add_argument("--lengths", metavar="FILE.tsv", help="histograms: length, sentences, documents")
    parser.add_argument("--plot", metavar="FILE.png", help="draw the histograms")


def run(args: Any) -> None:
    languages = [args.source_lang, args.target_lang]
    check_optional_picture(args.plot, (), [args.json, args.lengths])
    encode: List[Encode] = []
    if args.data:
        known = {read_description(args.data)[f"{side}_lang"] for side in ("source", "target")}
        if set(languages) != known:
            expected, found = (" and ".join(sorted(names)) for names in (languages, known))
            raise BadInput(f"expected {expected}, found {found}", args.data)
        encode = [Subwords.load(args.data, language).encode_all for language in languages]
    statistics = measure(options.text_files(args, ids_optional=True), encode)
    record = statistics.as_dict(languages, args.longer_than)
    head = f"{record['sentences']} sentences ({record['context_only']} of them context only) in "
    print(f"{head}{record['documents']} documents ({record['documents of one sentence']} of one sentence)\n")
    rows = [("sentences a document", record["sentences a document"])]
    sides = record["sides"].items()
    rows += [
        (f"{x}: {unit}", side[unit]) for x, side in sides for unit in ("words", "subwords") if unit in side
    ]
    names = ["total", "mean", "median", "max"]
    cells = [
        [title, *(f"{row[x]:.2f}" if x == "mean" else str(row[x]) for x in names)] for title, row in rows
    ]
    print(aligned_table([["", *names], *cells]) + "\n")
    for language, side in sides:
        for length, share in side["longer"].items():
            unit = "subwords" if encode else "words"
            print(f"{language}: {share:.2%} of the sentences have more than {length} {unit}")
        print(f"{language}: {side['empty']} empty sentences")
    write_files(
        [
            (args.json, json.dumps(record, indent=2) + "\n"),
            (args.lengths, statistics.histogram(languages)),
            (args.plot, picture(statistics, languages) if args.plot else b""),
        ]
    )


@dataclass
class Statistics:
    """Counts of lengths; memory does not grow with the corpus.

    Attributes:
        words, subwords: for source and target, length -> sentences; ``subwords`` is [] without a data folder.
        documents: length in sentences -> documents.
        context_only: sentences that are marked 0.
    """

    words: List[Counter]
    subwords: List[Counter]
    documents: Counter = field(default_factory=Counter)
    context_only: int = 0

    @property
    def lengths(self) -> List[Counter]:
        """Of source and target, in subwords if these are known."""
        return self.subwords or self.words

    def as_dict(self, languages: Sequence[str], longer_than: Sequence[int]) -> Dict[str, Any]:
        """For JSON; shares above the lengths ``longer_than`` are of ``lengths``."""
        sides = {
            language: {"empty": words[0], "words": summary(words), "longer": _longer(lengths, longer_than)}
            for language, words, lengths in zip(languages, self.words, self.lengths, strict=True)
        }
        for language, counter in zip(languages, self.subwords, strict=False):
            sides[language]["subwords"] = summary(counter)
        return {
            "sentences": self.words[0].total(),
            "context_only": self.context_only,
            "documents": self.documents.total(),
            "sentences a document": summary(self.documents),
            "documents of one sentence": self.documents[1],
            "sides": sides,
        }

    def histogram(self, languages: Sequence[str]) -> str:
        """Tab-separated: length, source and target sentences, and documents of as many sentences."""
        columns = [*self.lengths, self.documents]
        rows = [(length, *(column[length] for column in columns)) for length in sorted(set().union(*columns))]
        return "".join(
            "\t".join(map(str, row)) + "\n" for row in (("length", *languages, "documents"), *rows)
        )


def measure(files: TextFiles, encode: Sequence[Encode] = ()) -> Statistics:
    """Read a corpus once.

    Args:
        encode: for source and target, from sentences to their subwords, joined by spaces.
    """
    result = Statistics([Counter(), Counter()], [Counter() for _ in encode])
    for batch in chunks(files.documents(), BATCH // 10):
        result.documents.update(map(len, batch))
        pairs = [pair for document in batch for pair in document]
        result.context_only += sum(not pair.current for pair in pairs)
        for side, texts in enumerate(([pair.source for pair in pairs], [pair.target for pair in pairs])):
            result.words[side].update(len(text.split()) for text in texts)
            if encode:
                pieces = encode[side](texts)
                result.subwords[side].update(len(one.split()) for one in pieces)
    return result


def _sorted(lengths: Counter) -> Tuple[np.ndarray, np.ndarray]:
    """Lengths in rising order, and how often each occurs."""
    found = np.array(sorted(lengths.items()))
    return found[:, 0], found[:, 1]


def _quantile(lengths: Counter, share: float) -> int:
    values, times = _sorted(lengths)
    return int(values[np.searchsorted(times.cumsum(), share * times.sum())])


def summary(lengths: Counter) -> Dict[str, float]:
    """Total, mean, median (the lower of two) and greatest of lengths that are counted."""
    values, times = _sorted(lengths)
    total = int(values @ times)
    return {
        "total": total,
        "mean": total / int(times.sum()),
        "median": _quantile(lengths, 0.5),
        "max": int(values[-1]),
    }


def _longer(lengths: Counter, than: Sequence[int]) -> Dict[str, float]:
    """The share of sentences that are longer."""
    values, times = _sorted(lengths)
    return {str(most): float(times[values > most].sum() / times.sum()) for most in than}


def picture(statistics: Statistics, languages: Sequence[str]) -> bytes:
    """Lengths of sentences on either side, and of documents, as the content of a PNG file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    sentences, documents = figure.subplots(1, 2)
    _draw(sentences, statistics.lengths, languages)
    sentences.set(xlabel="subwords" if statistics.subwords else "words", ylabel="sentences")
    sentences.legend()
    _draw(documents, [statistics.documents], ["documents"])
    documents.set(xlabel="sentences", ylabel="documents", yscale="log")
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=150)
    return content.getvalue()


def _draw(axes: Any, counters: Sequence[Counter], labels: Sequence[str]) -> None:
    most = max(_quantile(counter, TAIL) for counter in counters)
    width = -(-(most + 1) // BARS)
    edges = np.arange(0, most + width + 1, width) - 0.5
    for counter, label in zip(counters, labels, strict=True):
        lengths, times = _sorted(counter)
        bars = {"bins": edges, "weights": times, "histtype": "step", "label": label.replace("$", r"\$")}
        axes.hist(np.minimum(lengths, most), **bars)
