"""``--user-dir``: a folder with users' own architectures, tasks and blocks in Python.

Only whoever calls a command or a function names the folder; no checkpoint can. Afterwards checkpoints may
name what the folder has registered.
"""

import os
import sys
import threading
from argparse import Namespace
from pathlib import Path
from typing import List, Union

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.generation.registration import register

_IMPORT = threading.Lock()


def import_user_dir(folder: Union[str, Path]) -> None:
    """Import a folder once, as ``fairseq-train --user-dir`` does: as a module with the folder's name. The
    plugin's own tasks, architectures and criterions are registered before.

    Raises:
        BadInput: there is no such folder, another module has its name, or it registers a name that is taken.
            Other exceptions of its code are raised as they are.
    """
    path = os.path.abspath(folder)
    name = os.path.basename(path)
    if not os.path.isdir(path):
        raise BadInput("no such folder; --user-dir names one with Python code", folder)
    register()
    from fairseq import utils  # not before, because its import speaks

    with _IMPORT:
        known = sys.modules.get(name)
        if known is not None and path not in (places := list(getattr(known, "__path__", []))):
            where = f" of {places[0]}" if places else ""
            raise BadInput(f"rename the folder: another module {name}{where} is imported already", folder)
        try:
            utils.import_user_module(Namespace(user_dir=path))
        except BaseException as error:
            utils.import_user_module.memo.discard(path)  # otherwise fairseq would not try again
            said = str(error) if isinstance(error, ValueError) else ""
            if said.startswith("Cannot register duplicate") or said.endswith("is registered already"):
                raise BadInput(str(error), folder) from error
            raise


def code_files(folder: Union[str, Path, None]) -> List[Path]:
    """The Python files of such a folder; None: none is given."""
    return sorted(Path(folder).rglob("*.py")) if folder is not None else []
