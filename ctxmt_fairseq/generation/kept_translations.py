"""Translations made so far, on disk: an interrupted run continues where it was."""

import json
from pathlib import Path
from typing import Any, Dict, List

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.journal import Journal, json_line, partial_file


class KeptTranslations(Journal):
    """The journal of a translation, a line for each sentence; ``finished`` when they are all in the output,
    beside which it is ``OUTPUT.partial``.

    Args:
        run: ``fingerprint`` of everything that the translations depend on.
        lines, symbols: of the input and of the target dictionary, which a translation must not exceed.
        replace: another run's journal gives way to a new one.
    """

    def __init__(self, output: Path, run: str, lines: int, symbols: int, replace: bool = False):
        self.done: Dict[int, Dict[str, Any]] = {}
        self._limits = lines, symbols
        super().__init__(partial_file(output), {"run": run}, self._keep, replace)

    def _keep(self, line: bytes, number: int) -> None:
        lines, symbols = self._limits
        try:
            record = json.loads(line)
            at, tokens, score = record.pop("line"), record["tokens"], record["score"]
            right = type(at) is int and 0 <= at < lines and type(score) is float and type(tokens) is list
            right = right and all(type(token) is int and 0 <= token < symbols for token in tokens)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            right = False
        if not right:
            raise BadInput("is no translation of this run; delete the file to start anew", self.path, number)
        self.done[at] = record

    def translated(self, line: int, tokens: List[int], score: float) -> None:
        """Keep one translation."""
        self.done[line] = {"tokens": tokens, "score": score}
        self.add(json_line({"line": line, **self.done[line]}))
