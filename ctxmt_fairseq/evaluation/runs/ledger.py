"""Notes which steps are finished in a folder of results, so that they are not repeated."""

import json
from pathlib import Path
from typing import Any, Callable, Dict, List, Sequence

from ctxmt_fairseq.base import ranks
from ctxmt_fairseq.base.files import write_file
from ctxmt_fairseq.base.journal import fingerprint
from ctxmt_fairseq.text.text_lines import file_digest

NAME = "done.json"


class Ledger:
    """The finished steps of a folder, in ``done.json``: what each was made from, and its files' hashes.

    A step is repeated if either has changed: another text, model or option, or a file that was edited. A
    ledger that cannot be read counts as empty.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._steps: Dict[str, Any] = {}
        try:
            steps = json.loads((folder / NAME).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return
        if isinstance(steps, dict):
            self._steps = {name: step for name, step in steps.items() if isinstance(step, dict)}

    def make(
        self,
        step: str,
        made_from: Any,
        files: Sequence[str],
        work: Callable[[], None],
        about: Any = None,
        shared: bool = False,
    ) -> bool:
        """Do a step unless it is finished; return whether it was done. Of several processes the first decides
        and, unless the work is shared, does it, while the others wait.

        Args:
            made_from: everything on which its result depends, for JSON.
            about: what the step belongs to, for ``steps_about``.
        """
        key = fingerprint(made_from)
        known = self._steps.get(step, {})
        if ranks.first_says(known.get("made_from") == key and known.get("files") == self._hashes(files)):
            if known.get("about") != fingerprint(about):
                known["about"] = fingerprint(about)
                self._write()
            return False
        if shared or not ranks.number():
            work()
        ranks.first_says(None)  # its files are there
        self._steps.pop(step, None)
        self._steps[step] = {"made_from": key, "about": fingerprint(about), "files": self._hashes(files)}
        self._write()
        return True

    def steps_about(self, about: Any) -> List[str]:
        """The finished steps that belong to ``about``, the oldest first."""
        wanted = fingerprint(about)
        found = [(name, step) for name, step in self._steps.items() if step.get("about") == wanted]
        return [name for name, step in found if step.get("files") == self._hashes(step.get("files") or ())]

    def _hashes(self, files: Any) -> Dict[str, str]:
        """The hashes of the files that are there."""
        there = [name for name in files if isinstance(name, str) and (self.folder / name).is_file()]
        return {name: file_digest(self.folder / name) for name in there}

    def _write(self) -> None:
        if not ranks.number():
            write_file(self.folder / NAME, json.dumps(self._steps, indent=1) + "\n")
