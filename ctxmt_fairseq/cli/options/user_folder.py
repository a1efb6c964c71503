"""Python code of the user's own, and of a checkpoint's author."""

from typing import Any, Optional

from ctxmt_fairseq.base.command import OptionGroup, option
from ctxmt_fairseq.base.paths import Folder

TRUST: Any = option(
    "take models of fairseq's, too, that run what the checkpoint says as Python code (--arch fconv)"
)


class UserDir(OptionGroup):
    """The user's code, which is imported before the command line is read (``cli/main.py``)."""

    user_dir: Optional[Folder] = option(
        "a folder with Python code of your own: an architecture, a block, a format"
    )
