"""The commands that a page of the documentation shows, as a shell reads them."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^ *```", re.M | re.S)
# Our commands and fairseq's write their words down; any other program is not found, and nothing happens.
_SHELL = r"""
record() { printf '%s\0' "$@" END >> commands; }
for name in ctxmt fairseq-{train,generate,interactive,validate}; do
    eval "$name() { record $name \"\$@\"; }"
done
ctxmt() { [[ $1 == user-dir ]] && echo "$USER_DIR" || record ctxmt "$@"; }
torchrun() { while [[ $1 != --no-python ]]; do shift; done; "${@:2}"; }  # what each process runs
command_not_found_handle() { :; }
cd() { :; }
source() { :; }
"""


def blocks(page, language):
    """The page's blocks of code in a language, without their indent, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        re.sub(rf"^{indent}", "", code, flags=re.M)
        for indent, found, code in _BLOCK.findall(text)
        if found == language
    ]


def commands(page, folder, user_dir):
    """The words of each of our and of fairseq's commands in the page's bash blocks, in order.

    The shell expands its variables, arrays and loops. It runs in ``folder``, and no program is run.
    """
    script = "\n".join([_SHELL, *blocks(page, "bash")])
    record = folder / "commands"
    record.write_text("")
    done = subprocess.run(
        ["/bin/bash", "-c", script],
        cwd=folder,
        env={"PATH": "/nowhere", "USER_DIR": str(user_dir), "RANK": "0", "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
    )
    lines = record.read_text(encoding="utf-8").split("\0END\0")
    return [line.split("\0") for line in lines if line], done.stderr
