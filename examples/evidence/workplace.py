"""Where things lie, and whether this is a rehearsal."""

import fcntl
import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, Mapping

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Workplace:
    """The folders of one evidence.

    Attributes:
        corpora: holds ``TEXT`` and ``SUITE``; nothing is written there.
        work: text, data folders, checkpoints, translations.
        results: a JSON file per run.
        smoke: a few lines and updates only.
    """

    corpora: Path
    work: Path
    results: Path
    smoke: bool = False

    TEXT = "en-fr-subtitles"
    SUITE = "contrastive/en-fr-pronouns"

    @property
    def suite(self) -> Path:
        """The contrastive set: of a rehearsal, its first examples."""
        return self.work / "suite" if self.smoke else self.corpora / self.SUITE

    def run(self, row: str, seed: int) -> Path:
        return self.work / "runs" / f"{row}.{seed}"

    def result(self, row: str, seed: int) -> Path:
        return self.results / f"{row}.{seed}.json"

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

    def check(self) -> None:
        """Raises ValueError: a file of the corpora is not there."""
        for split in ("train", "valid"):
            for kind in ("en", "fr", "docids"):
                self._expect(self.corpora / self.TEXT / f"{split}.{kind}")
        self._expect(self.corpora / self.SUITE / "OpenSubs.current.src")

    @staticmethod
    def _expect(path: Path) -> None:
        if not path.is_file():
            raise ValueError(
                f"{path}: no such file; DATA is the folder of {Workplace.TEXT}/"
                f"{{train,valid}}.{{en,fr,docids}} and {Workplace.SUITE}/"
            )


def workplace(environment: Mapping[str, str] = os.environ) -> Workplace:
    """From DATA, EVIDENCE_DIR, EVIDENCE_RESULTS and SMOKE."""
    smoke = bool(environment.get("SMOKE"))
    work = Path(environment.get("EVIDENCE_DIR") or ROOT / "out" / "evidence").resolve()
    work = work / "smoke" if smoke else work
    results = Path(environment.get("EVIDENCE_RESULTS") or ROOT / "docs" / "evidence")
    corpora = Path(environment.get("DATA") or ROOT.parent / "shared" / "data")
    return Workplace(corpora.resolve(), work, work / "results" if smoke else results.resolve(), smoke)
