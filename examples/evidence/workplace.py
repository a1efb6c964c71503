"""Where things lie, and whether this is a rehearsal."""

import fcntl
import os
import re
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, Mapping

import ctxmt_fairseq
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.contrastive_sets import read_contrastive_set
from evidence.texts import SUBTITLES, Text

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results" / "runs"
# Of other machines and first stages: runs are compared within a series alone.
SERIES = {name: RESULTS / name for name in ("second", "third", "fourth")}
PACKAGE = Path(ctxmt_fairseq.__file__).resolve().parent


def called(row: str, seed: int) -> str:
    """A run's name."""
    return f"{row}.{seed}"


@dataclass(frozen=True)
class Workplace:
    """The folders of one evidence.

    Attributes:
        corpora: holds the texts and contrastive sets; nothing is written there.
        work: text, data folders, checkpoints, translations.
        results: a JSON file per run.
        smoke: a few lines and updates only.
    """

    corpora: Path
    work: Path
    results: Path
    smoke: bool = False

    def home(self, text: Text) -> Path:
        """The folder of what is made of a text, and of its data folders."""
        return self.work if text == SUBTITLES else self.work / text.name

    def suite(self, text: Text) -> Path:
        """Its contrastive set: of a rehearsal, the first examples."""
        assert text.suite
        return self.home(text) / "suite" if self.smoke else self.corpora / text.suite

    def run(self, row: str, seed: int) -> Path:
        return self.work / "runs" / called(row, seed)

    def result(self, row: str, seed: int) -> Path:
        return self.results / f"{called(row, seed)}.json"

    @contextmanager
    def held(self, name: str, wait: bool = True) -> Iterator[bool]:
        """Whether this is the only one at work on what has this name; with ``wait``, not before it is."""
        path = self.work / "locks" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
            else:
                yield True

    def check(self, text: Text) -> None:
        """Raises BadInput: a file of this text is not there, or its contrastive set is none."""
        for split in text.splits:
            for kind in text.kinds:
                path = self.corpora / text.name / f"{split}.{kind}"
                if not path.is_file():
                    names = f"{text.name}/{{{','.join(text.splits)}}}.{{{','.join(text.kinds)}}}"
                    suite = f" and {text.suite}/" if text.suite else ""
                    raise BadInput(f"no such file; DATA is the folder of {names}{suite}", path)
        if text.suite:
            read_contrastive_set(self.corpora / text.suite)

    def masked(self, content: str) -> str:
        """With names in place of this machine's paths."""
        names = {self.work: "EVIDENCE_DIR", self.corpora: "DATA", PACKAGE: "ctxmt_fairseq"}
        for path in sorted(names, key=lambda path: len(str(path)), reverse=True):
            # a whole path or the beginning of one, not of a longer name
            content = re.sub(rf"(?<![\w./-]){re.escape(str(path))}(?![\w.-])", names[path], content)
        return content


def workplace(environment: Mapping[str, str] = os.environ) -> Workplace:
    """From DATA, EVIDENCE_DIR, EVIDENCE_RESULTS and SMOKE."""
    smoke = bool(environment.get("SMOKE"))
    work = Path(environment.get("EVIDENCE_DIR") or ROOT / "out" / "evidence").resolve()
    work = work / "smoke" if smoke else work
    results = Path(environment.get("EVIDENCE_RESULTS") or RESULTS)
    corpora = Path(environment.get("DATA") or ROOT.parent / "shared" / "data")
    return Workplace(corpora.resolve(), work, work / "results" if smoke else results.resolve(), smoke)
