"""What a command writes: JSON, and pictures with their numbers beside them."""

import json
from typing import Any, Dict, Iterable, Optional, Tuple

from ctxmt_fairseq.command import OptionGroup, option
from ctxmt_fairseq.paths import Output

Content = Any  # of a file: text, bytes, or a function that writes to a stream


def as_json(record: Any) -> str:
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def as_lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


class Json(OptionGroup):
    """The numbers as JSON, with the command and the versions that made them."""

    json: Optional[Output] = option("write the numbers there too")

    def write(self, record: Dict[str, Any], *more: Tuple[Optional[str], Content]) -> None:
        """Write --json, if it is asked for, and other files with their content: all of them or none."""
        from ctxmt_fairseq.files import write_files
        from ctxmt_fairseq.provenance import made_by

        write_files([(self.json, as_json({**record, "made_by": made_by()})), *more])


class Examples(Json):
    """The numbers, and what they are of."""

    examples: Optional[Output] = option("write every example's scores or decision as JSON lines")


class Comparisons(Json):
    """Comparisons of systems with the first, or with each other."""

    all_pairs: bool = option("all systems with each other")
