"""Python code of the user's own."""

from typing import Optional

from ctxmt_fairseq.base.command import OptionGroup, option
from ctxmt_fairseq.base.paths import Folder


class UserDir(OptionGroup):
    """The user's code, which is imported before the command line is read (``cli/main.py``)."""

    user_dir: Optional[Folder] = option(
        "a folder with Python code of your own: an architecture, a block, a format"
    )
