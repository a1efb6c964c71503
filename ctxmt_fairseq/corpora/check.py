"""Checks a corpus: whether its files fit together, their encoding, ids, and pairs that look wrong.

``corpora.text_rows`` stops at the first fault; this module reads to the end and counts.
"""

import itertools
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Sequence, Set

from tqdm.auto import tqdm

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.transforms.language import Judge, check_codes
from ctxmt_fairseq.text.documents import document_id
from ctxmt_fairseq.text.metadata_files import MetadataFiles
from ctxmt_fairseq.text.metadata_text import parse_metadata
from ctxmt_fairseq.text.text_lines import is_text, iterate_lines

EXAMPLES = 5  # so many lines are named for each finding
SHORT = 20  # characters without blanks; shorter texts have any ratio of lengths
MAX_RATIO = 9  # of the two sides' characters


@dataclass
class Report:
    """What was found: ``ctxmt preprocess`` refuses ``faults``; ``remarks`` may be intended. ``examples`` of a
    finding are its first lines, as FILE:LINE."""

    lines: Dict[str, int] = field(default_factory=dict)
    faults: Counter = field(default_factory=Counter)
    remarks: Counter = field(default_factory=Counter)
    examples: Dict[str, List[str]] = field(default_factory=dict)

    def add(self, kind: Counter, finding: str, path: object, line: Optional[int] = None) -> None:
        kind[finding] += 1
        places = self.examples.setdefault(finding, [])
        if len(places) < EXAMPLES:
            places.append(f"{path}" if line is None else f"{path}:{line}")


def check(prefix: str, languages: Sequence[str], admitted: Sequence[Sequence[str]] = ((), ())) -> Report:
    """Read all files of a corpus, whose sides may be in the ``admitted`` languages; none: any."""
    if any(admitted):
        check_codes(itertools.chain(*admitted))
    report, judge = Report(), Judge()
    texts = [Path(f"{prefix}.{language}") for language in languages]
    ids, marks = Path(f"{prefix}.docids"), Path(f"{prefix}.current")
    paths = [*texts, ids, *(path for path in (marks, *MetadataFiles.beside(prefix).paths) if path.is_file())]
    present = [path for path in paths if path.is_file()]
    for path in paths:
        if path not in present:
            report.add(report.faults, "missing files", path)
    if not {*texts} <= {*present}:
        return report
    known: Set[str] = set()
    last = None
    counts, filled = dict.fromkeys(present, 0), dict.fromkeys(present, 0)
    necessary = {*texts, ids, marks}
    columns = [_lines(path, report) for path in present]
    rows = tqdm(itertools.zip_longest(*columns), unit=" lines", disable=None)
    for number, lines in enumerate(rows, 1):
        row = {path: line for path, line in zip(present, lines, strict=True) if line is not None}
        for path, line in row.items():
            counts[path] += 1
            if path in necessary or line.strip():  # blank lines at the end of metadata do not count
                filled[path] = number
        if texts[0] in row and texts[1] in row:
            sides = [row[path] for path in texts]
            _check_pair(report, prefix, number, sides)
            for path, text, codes in zip(texts, sides, admitted, strict=True):
                if codes and judge.judge(" ".join(text.split()), codes) is False:
                    report.add(report.remarks, "lines in another language", path, number)
        for path, line in row.items():
            if path == ids:
                name = document_id(line)
                if not name:
                    report.add(report.faults, "blank document ids", ids, number)
                elif name != last and name in known:
                    report.add(report.remarks, "ids that return after other documents", ids, number)
                known.add(name)
                last = name
            elif path == marks and line.strip() not in ("0", "1"):
                report.add(report.faults, "marks that are neither 0 nor 1", path, number)
            elif path.name.endswith(".meta.jsonl") and line.strip():
                try:
                    parse_metadata(line, path, number)
                except BadInput:
                    report.add(report.faults, "metadata that is no JSON object of strings", path, number)
    report.lines = {str(path): count for path, count in counts.items()}
    for path, count in counts.items():
        if not filled[path] <= counts[texts[0]] <= count:
            report.add(report.faults, f"files with other than {counts[texts[0]]} lines", path, count)
    if not counts[texts[0]]:
        report.add(report.faults, "files without lines", texts[0])
    return report


def _lines(path: Path, report: Report) -> Iterator[str]:
    """Yield a file's lines; those that are no text become empty, and are counted."""
    for number, line in enumerate(iterate_lines(path, lenient=True), 1):
        if not is_text(line):
            report.add(report.faults, "lines that are not UTF-8 text", path, number)
        yield line if is_text(line) else ""


def _check_pair(report: Report, name: str, number: int, texts: Sequence[str]) -> None:
    shorter, longer = sorted(sum(map(len, text.split())) for text in texts)
    same = " ".join(texts[0].split()) == " ".join(texts[1].split())
    unequal = longer >= SHORT and 0 < shorter * MAX_RATIO < longer
    findings = {
        "pairs that are empty on both sides": not longer,
        "pairs that are empty on one side": not shorter and longer,
        f"pairs with one side over {MAX_RATIO} times as long": unequal,
        "pairs with the same text on both sides": longer >= SHORT and same,
        "pairs with characters that could not be read (U+FFFD)": any("\ufffd" in text for text in texts),
    }
    for finding, found in findings.items():
        if found:
            report.add(report.remarks, finding, name, number)
