"""Before the commands of prepare.sh: are all their inputs there? And where did they stop the last time?"""

import glob
import importlib.util
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any, Callable, Iterator, List, Sequence

from recipe_running import BadRecipe


def check_inputs(args: Any, commands: Sequence[Sequence[str]], extra: Sequence[str]) -> None:
    """Refuse what a command would miss, before the first one begins.

    Args:
        args: options of prepare.sh.
        commands: all that will run; those of the text read files of ``args.raw``.
        extra: options of ctxmt preprocess.
    """
    if args.raw:
        needed = [path for command in commands for path in _downloaded(args, command)]
    else:
        prefixes = [args.train, *args.valid.split(",")]
        ends = [args.source_lang, args.target_lang, *([] if "--blank-lines" in extra else ["docids"])]
        needed = [f"{prefix}.{end}" for prefix in prefixes for end in ends]
    missing = [path for path in dict.fromkeys(needed) if not (os.path.exists(path) or _is_prefix(path))]
    if missing:
        raise BadRecipe(f"no such file: {', '.join(missing)}")
    encoders = args.encoders.split()
    if encoders and not args.raw and args.fields not in ("all", "none"):
        lacking = {*args.fields.split(",")} - {*_fields([args.train, *args.valid.split(",")])}
        if lacking:
            raise BadRecipe(
                f"--fields {','.join(sorted(lacking))}: the metadata of the text has no such field"
            )
    if {*encoders} - {"discrete"} and importlib.util.find_spec("sentence_transformers") is None:
        raise BadRecipe('--encoders: expected discrete, or the extra "embed": pip install ".[embed]"')
    makes_data = any(command[1] == "preprocess" for command in commands)
    if makes_data and Path(args.data, "ctxmt.json").exists() and "--overwrite" not in extra:
        raise BadRecipe(f"{args.data}: exists; -- --overwrite replaces it")


def _downloaded(args: Any, command: Sequence[str]) -> Iterator[str]:
    """Yield the paths PATH and NAME=PATH of a command that lie in ``args.raw`` before anything is made."""
    folder = f"{args.raw}{os.sep}"
    made = (args.train, args.valid, str(Path(args.valid).with_name("test")))
    for word in command:
        path = word if word.startswith(folder) else folder + word.partition(f"={folder}")[2]
        if path != folder and not path.startswith(made):
            yield path


def _is_prefix(path: str) -> bool:
    return bool(glob.glob(f"{glob.escape(path)}.*"))


def _fields(prefixes: Sequence[str]) -> Iterator[str]:
    """Yield the fields of the metadata beside texts; ctxmt embed checks the rest."""
    for prefix in prefixes:
        for path in glob.glob(f"{glob.escape(prefix)}.meta.*"):
            if not path.endswith(".jsonl"):
                yield path.rpartition(".meta.")[2]
                continue
            with open(path, encoding="utf-8", errors="replace") as lines:
                for line in filter(str.strip, lines):
                    try:
                        yield from json.loads(line)
                    except (ValueError, TypeError) as error:
                        raise BadRecipe(f"{path}: {error}") from None


def finished(record: Path, commands: Sequence[Sequence[str]]) -> int:
    """How many of the commands an interrupted run has finished: the first ones that ``record`` names in this
    order, as long as what they made is there."""
    try:
        known = record.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return 0
    count = 0
    for command, line in zip(commands, known, strict=False):
        if line != shlex.join(command) or not all(map(_is_there, _made(command))):
            break
        count += 1
    return count


def _made(command: Sequence[str]) -> List[str]:
    return [word for flag, word in zip(command, command[1:], strict=False) if flag == "--out"]


def _is_there(path: str) -> bool:
    return os.path.exists(path) or _is_prefix(path)


def go_on(record: Path, commands: Sequence[List[str]], done: int, run: Callable[..., None]) -> None:
    """Run the commands behind the first ``done``; ``record`` keeps those that are finished until all are."""
    if done:
        print(f"going on behind {done} finished commands; {record} names them", file=sys.stderr)
    record.parent.mkdir(parents=True, exist_ok=True)
    lines = [shlex.join(command) for command in commands]
    for at in range(done, len(commands)):
        record.write_text("".join(f"{line}\n" for line in lines[:at]), encoding="utf-8")
        run(commands[at], False)
    record.unlink(missing_ok=True)
