"""``--user-dir``: a folder of Python with users' own architectures, tasks and blocks.

Only the caller of a command or a function names it: no checkpoint says what is imported. Afterwards
checkpoints may name what it has registered.
"""

import os
import sys
import threading
from argparse import Namespace
from pathlib import Path
from typing import Union

from fairseq import utils

from ctxmt_fairseq import register
from ctxmt_fairseq.errors import BadInput

_IMPORT = threading.Lock()


def import_user_dir(folder: Union[str, Path]) -> None:
    """Import a folder as ``fairseq-train --user-dir`` does: as the module of its name, once, and after the
    plugin's own tasks, architectures and criterions are registered.

    Raises:
        BadInput: there is no such folder, another module has its name, or what it registers is registered
            already. What else goes wrong in its code is raised as it is.
    """
    path = os.path.abspath(folder)
    name = os.path.basename(path)
    if not os.path.isdir(path):
        raise BadInput("no such folder; --user-dir names one with Python code", folder)
    register()
    with _IMPORT:
        known = sys.modules.get(name)
        if known is not None and path not in (places := list(getattr(known, "__path__", []))):
            where = f" of {places[0]}" if places else ""
            raise BadInput(f"rename the folder: another module {name}{where} is imported already", folder)
        try:
            utils.import_user_module(Namespace(user_dir=path))
        except BaseException as error:
            utils.import_user_module.memo.discard(path)  # else fairseq would not try again
            said = str(error) if isinstance(error, ValueError) else ""
            if said.startswith("Cannot register duplicate") or said.endswith("is registered already"):
                raise BadInput(str(error), folder) from error
            raise
