"""The papers' systems as commands.

    python3 recipes.py STEP PAPER ...     what PAPER/STEP.sh runs: prepare, train, ...

PAPER is a folder with a table, recipe.py. What stands in a table is text of words: the name of a system of
``ctxmt train --list``, which stands for its flags; ``--flag value``, which goes to fairseq-train; and
``name=value``, the value of an option of train.sh that is left open. ``size=`` is the size of the system's
architecture, one of ctxmt train's or none (fairseq's default dimensions). Of words that name the same the
later count: those of all recipes (ALL, below), the paper (ALL), the profile (PROFILES), the row (ROWS), its
parts (PARTS), the row in this profile (IN_PROFILE), the user. ``{name}`` stands for
  {K}, {K-1}, {name}     what the row or the part has in this place of its name; a single letter is a number
  {option}               the value of an option; a flag whose option is none is left out
  {data}, {out}, {runs}  DATA, OUT, the folder that holds OUT; a path that begins with ? counts if it is there
Which downloaded files a paper's text is made of says CORPORA, see recipe_corpora.py; what its tables have,
PUBLISHED and REPRODUCED, see recipe_tables.py.
"""

import fnmatch
import importlib.util
import os
import re
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

try:
    from ctxmt_fairseq.cli.systems import COMMON, SIZES, SYSTEMS, read_options
except ModuleNotFoundError as error:
    sys.exit(f"error: {error.name} not found: activate the environment that has ctxmt_fairseq (README)")

from recipe_few_shot import few_shot
from recipe_running import BadRecipe, find_plugin, run_script
from recipe_search import search_lr
from recipe_small import run_small
from recipe_steps import evaluate, prepare, train
from recipe_workers import plan_batch, plan_workers

HERE = Path(__file__).resolve().parent

ALL = f"""
    gpus=auto nodes=1 port=29500 precision=auto max-tokens=auto step-tokens=4000
    patience=10 seed=1 adam-eps=1e-9 kept=auto size=
    {COMMON} --adam-eps {{adam-eps}} --lr {{lr}} --warmup-updates {{warmup}} --dropout {{dropout}}
    --patience {{patience}} --keep-last-epochs {{kept}} --max-update {{max-update}} --seed {{seed}}
    --save-interval-updates {{validate-every}} --keep-interval-updates {{kept}}
    --save-dir {{out}}/checkpoints
"""
SMALL = "size=tiny lr=2e-3 batch-tokens=4000 warmup=200 dropout=0.1 validate-every=200 max-update=800"
OPTIONS = {
    "profile": "the values of the options that are auto; small: two layers of 128 units, for two CPU cores",
    "lr": "maximum learning rate",
    "batch-tokens": "tokens per update on all GPUs together",
    "max-tokens": "tokens per GPU and step, must divide the batch (auto: the most up to step-tokens that do)",
    "warmup": "updates until the learning rate's maximum",
    "dropout": "",
    "patience": "validations without a better loss until it ends",
    "validate-every": "updates between validations; 0: once per epoch",
    "max-update": "0: no end but patience",
    "gpus": "GPUs per machine, 0 for the CPU (auto: all)",
    "nodes": "machines; start this script on each with torchrun or srun, see ../README.md",
    "port": "of the first machine, for srun",
    "precision": "fp32, fp16, amp or bf16 (auto: fp16 on GPUs)",
    "seed": "",
}


@dataclass
class Words:
    """The words of a table: options of train.sh, and flags of fairseq-train with their values."""

    options: Dict[str, str] = field(default_factory=dict)
    flags: Dict[str, List[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> "Words":
        words, flags = cls(), []
        for word in shlex.split(text):
            option = re.fullmatch(r"([a-z][a-z-]*)=(.*)", word)
            if option:
                words.options[option[1]] = option[2]
            else:
                flags.append(word)
        words.flags = read_options(flags)
        for name in words.flags.pop(""):
            if name not in SYSTEMS:
                raise BadRecipe(f"{name}: no such system; ctxmt train --list shows them")
            system = read_options(shlex.split(SYSTEMS[name].words))
            words.options["architecture"], system["--arch"] = SYSTEMS[name].architecture, ["{sized}"]
            words.flags = {**system, **words.flags}
        words.flags.pop("", None)
        return words

    def update(self, other: "Words") -> None:
        self.options.update(other.options)
        self.flags.update(other.flags)


class _Known(Dict[str, str]):
    """For ``str.format_map``: leaves the names that it does not hold as they are."""

    def __missing__(self, name: str) -> str:
        return "{" + name + "}"


def _pattern(name: str) -> "re.Pattern[str]":
    """The names that a name with {places} in a table stands for."""
    seen: List[str] = []

    def place(found: "re.Match[str]") -> str:
        if found[1] in seen:
            return f"(?P={found[1]})"
        seen.append(found[1])
        return f"(?P<{found[1]}>{'[0-9]+' if len(found[1]) == 1 else '[^+]+'})"

    return re.compile(re.sub(r"\\{(\w+)\\}", place, re.escape(name)))


def _find(table: Mapping[str, str], words: Sequence[str]) -> Tuple[int, str, Words]:
    """The longest entry of a table that words begin with: how many they are, its name and its own words.

    The number is 0 where there is none.
    """
    for count in range(len(words), 0, -1):
        name = "+".join(words[:count])
        for key, text in table.items():
            found = _pattern(key).fullmatch(name)
            if found:
                places = _Known(found.groupdict())
                for place, value in found.groupdict().items():
                    places[f"{place}-1"] = str(int(value) - 1) if value.isdigit() else value
                return count, name, Words.read(text.format_map(places))
    return 0, "", Words()


class Recipe:
    """The table in a folder's recipe.py; a name without a slash is a folder of examples/, if there is one."""

    def __init__(self, folder: Any):
        places = [Path(folder)] if os.sep in str(folder) else [HERE / folder, Path(folder)]
        path = next((place / "recipe.py" for place in places if (place / "recipe.py").exists()), None)
        if path is None:
            raise BadRecipe(f"{folder}: expected a folder with a recipe.py")
        path = path.resolve()
        self.name = path.parent.name
        spec = importlib.util.spec_from_file_location(f"recipe_{self.name}", path)
        assert spec and spec.loader
        self.table: ModuleType = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.table)
        own = self._get("PROFILES", {})
        self.profiles: Dict[str, str] = {**own, "small": own.get("small", SMALL)}
        self.options: Dict[str, str] = {**OPTIONS, **self._get("OPTIONS", {})}
        self.first_profile = next(iter(self.profiles))
        self.corpora: Dict[str, str] = self._get("CORPORA", {})

    def _get(self, name: str, default: Any) -> Any:
        return getattr(self.table, name, default)

    def defaults(self, step: str) -> Dict[str, str]:
        """The values of options of prepare.sh (PREPARE) or evaluate.sh (EVALUATE)."""
        words = Words.read(self._get(step.upper(), ""))
        return {flag[2:]: " ".join(values) for flag, values in words.flags.items()}

    def row(self, name: str) -> Words:
        """The words of a row with its parts."""
        parts = name.split("+")
        count, row, words = _find(self.table.ROWS, parts)
        if not count:
            raise BadRecipe(f"{name}: no such row; expected one of {', '.join(self.table.ROWS)}; see --help")
        groups = self._get("PARTS", {})
        known = {part: text for rows in groups if _fits(row, rows) for part, text in groups[rows].items()}
        owners: Dict[str, str] = {}
        at = count
        while at < len(parts):
            count, part, added = _find(known, parts[at:])
            if not count:
                expected = ", ".join(f"+{part}" for part in known) or "none"
                raise BadRecipe(f"{name}: {row} has no part +{parts[at]}; expected {expected}; see --help")
            for setting in (*added.flags, *added.options):
                if setting in owners:
                    raise BadRecipe(f"{name}: expected one of +{owners[setting]}, +{part}")
                owners[setting] = part
            words.update(added)
            at += count
        return words

    def everywhere(self) -> Words:
        """The words of all rows in all profiles."""
        words = Words.read(ALL)
        words.update(Words.read(self._get("ALL", "")))
        return words

    def words(self, row: str, profile: Optional[str] = None) -> Words:
        """All that a row is trained with in a profile (default: the first); raises BadRecipe."""
        profile = profile or self.first_profile
        if profile not in self.profiles:
            raise BadRecipe(f"--profile {profile}: expected one of {', '.join(self.profiles)}")
        words = self.everywhere()
        words.update(Words.read(self.profiles[profile]))
        words.update(self.row(row))
        for profiles, rows, text in self._get("IN_PROFILE", []):
            if _fits(profile, profiles) and _fits(row, rows):
                words.update(Words.read(text))
        return words

    def command(
        self, row: str, data: str, out: str, extra: Sequence[str] = (), **options: Optional[str]
    ) -> List[str]:
        """The words of the ``fairseq-train`` command of a row.

        Args:
            extra: more flags, which count where they name what the row names, too.
            options: those of train.sh with _ for -; None or "auto" leaves them to the table.
        """
        given = {name.replace("_", "-"): text for name, text in options.items() if text not in (None, "auto")}
        profile = given.pop("profile", None) or self.first_profile
        words = self.words(row, profile)
        runs = os.path.dirname(str(out).rstrip("/")) or "."
        places = {"data": str(data), "out": str(out), "runs": runs}
        values = {name: _there(text.format_map(places)) for name, text in words.options.items()}
        values.update({name: str(text) for name, text in given.items()})
        if values["kept"] == "auto":  # for an average with checkpoints around the best
            values["kept"] = str(int(values["patience"]) + 3)
        words.update(Words.read(plan_workers(values)))
        words.update(Words.read(plan_batch(values)))
        size, architecture = values["size"], values.get("architecture", "")
        values["sized"] = SIZES[size].architecture(architecture) if size else architecture
        command = ["fairseq-train", str(data), "--user-dir", str(find_plugin())]
        for flag, texts in words.flags.items():
            if not any(values.get(_option_of(text)) == "none" for text in texts):
                command += [flag, *(text.format_map({**values, **places}) for text in texts)]
        return [*command, *extra]


def _fits(name: str, patterns: str) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns.split())


def _there(path: str) -> str:
    """A path that counts only if it is there."""
    if not path.startswith("?"):
        return path
    return path[1:] if os.path.exists(path[1:]) else "none"


def _option_of(text: str) -> str:
    """The name of the first place in a flag's value."""
    found = re.search(r"{([\w-]+)}", text)
    return found[1] if found else ""


STEPS: Dict[str, Callable[[Recipe, Sequence[str]], object]] = {
    "prepare": prepare,
    "train": train,
    "evaluate": evaluate,
    "search-lr": search_lr,
    "few-shot": few_shot,
    "run-small": run_small,
}


def main(arguments: Sequence[str]) -> int:
    """Returns the exit code; a command that fails ends with its own."""
    if len(arguments) < 2 or arguments[0] not in STEPS:
        print(__doc__)
        return 2
    return run_script(lambda words: STEPS[words[0]](Recipe(words[1]), words[2:]), arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
