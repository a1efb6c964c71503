"""Train a system: fairseq-train with the options that make the system, and a size's.

DATA is a folder of ctxmt preprocess. Prints the command of fairseq-train, runs it, and ends with the best
validation and the commands that come next. RUN gets checkpoints/, the command as train.sh, and train.log. A
training that was interrupted goes on when it is started again.

Every option of fairseq-train may follow SYSTEM DATA RUN; it replaces the system's or the size's. With
--user-dir those are options of your own code, too. fairseq-train --help has fairseq's, docs/training.md the
plugin's. --list shows the systems and sizes, with --bibtex the papers.

Example: ctxmt train sentence data-bin runs/sentence
    ctxmt train gated data-bin runs/gated --from runs/sentence/checkpoints/checkpoint_best.pt --lr 1e-3
"""

import contextlib
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Dict, List, Optional

from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Folder, Input, OutputFolder
from ctxmt_fairseq.cli.parser import nearest
from ctxmt_fairseq.cli.systems import COMMON, END, OF_CHOICES, PAPERS, SIZES, SYSTEMS, read_options
from ctxmt_fairseq.text.json_files import Place, get, load_json

Options = Dict[str, List[str]]
# What torch and hydra say of fairseq's calls is nothing that a user can change.
_HYDRA = ("experimental.initialize", "experimental.compose", "core.default_element", "compose")
_SAYS = [":FutureWarning", "'pin_memory' argument is set as true", ":UserWarning:runpy"]
_SAYS += [f":UserWarning:hydra.{module}" for module in _HYDRA]
QUIET = [word for said in _SAYS for word in ("-W", f"ignore:{said}")]


class Train(Command):
    passes_on = True

    system: Optional[str] = argument("SYSTEM", "one of --list")
    data: Optional[Folder] = argument("DATA", "the data folder")
    folder: Optional[OutputFolder] = argument("RUN", "the training's folder")
    size: str = option("one of --list", "small", choices=tuple(SIZES))
    sentence_model: Optional[Input] = option(
        "start from this sentence-level model (fairseq-train's --sentence-checkpoint)",
        flag="--from",
        metavar="CHECKPOINT",
    )
    dry_run: bool = option("print the command of fairseq-train, and do nothing")
    list: bool = option("show systems and sizes")
    bibtex: bool = option("show the systems' papers")

    def run(self) -> Optional[int]:
        if self.bibtex:
            print(PAPERS.read_text(encoding="utf-8"), end="")
        elif self.list:
            print(_listed())
        elif self.dry_run:
            print(shlex.join(self.words()))
        else:
            return self._train(self.words())
        return None

    def words(self) -> List[str]:
        """The command of fairseq-train; raises BadInput."""
        if not (self.system and self.data and self.folder):
            raise BadInput("expected SYSTEM DATA RUN, and then options (see ctxmt train --list)")
        words = ["fairseq-train", self.data]
        for name, values in self._options(self.system, self.data, self.folder).items():
            words += [name, *values]
        return words

    def _train(self, words: List[str]) -> Optional[int]:
        data, folder, start = str(self.data), str(self.folder), self.sentence_model
        save_dir = Path(words[words.index("--save-dir") + 1])
        begun = any(save_dir.glob("*.pt"))  # it goes on without
        if start and not begun and not Path(start).exists():
            raise BadInput("no such file", start)
        from ctxmt_fairseq.base.files import writing
        from ctxmt_fairseq.base.journal import lock_file
        from ctxmt_fairseq.base.processes import run_logged

        command = [sys.executable, *QUIET, "-m", "fairseq_cli.train", *words[1:]]
        if int(os.environ.get("RANK", "0")):  # of the processes that torchrun started the first alone speaks
            return run_logged(command)
        log = Path(folder, "train.log")
        with writing(log):
            log.parent.mkdir(parents=True, exist_ok=True)
            lock = lock_file(log)  # keeps a second training out of the folder
        with contextlib.closing(lock):
            former = _begin(log, shlex.join(words))
            code = run_logged(command, log, lock)
        if former and code == 2:
            _put_back(log, former)
        if not code:
            metadata = "metadata_context" in words and any(_first(data).glob("train.*.meta.jsonl"))
            theirs = read_options(self.others).get("--user-dir", [])
            print(_end(log, data, save_dir / "checkpoint_best.pt", metadata, theirs))
        return code

    def _options(self, name: str, data: str, folder: str) -> Options:
        """fairseq-train's, of which later ones replace those that name the same."""
        if name not in SYSTEMS:
            raise BadInput(f"{name}: no such system; {nearest(name, SYSTEMS) or 'see ctxmt train --list'}")
        system, size, own = SYSTEMS[name], SIZES[self.size], read_options(self.others)
        options = {"--user-dir": [str(Path(__file__).resolve().parents[1])]}
        table = (
            COMMON,
            END,
            size.training,
            size.start if self.sentence_model else "",
            size.dimensions_of((own.get("--arch") or [system.architecture])[0]),
            system.words,
            system.context,
        )
        for text in (*table, _tied(data)):
            options.update(read_options(shlex.split(text)))
        options["--arch"] = [size.architecture(system.architecture)]
        options["--save-dir"] = [os.path.join(folder, "checkpoints")]
        if self.sentence_model:
            options["--sentence-checkpoint"] = [self.sentence_model]
        if os.pathsep in folder:
            raise BadInput(f"{os.pathsep} joins several names: choose one without it", folder)
        if Path(folder, "checkpoint_last.pt").exists():
            raise BadInput("has a training's checkpoints: expected the folder that it is in", folder)
        if own[""]:
            raise BadInput(f"{own[''][0]}: expected an option of fairseq-train")
        if "--disable-validation" in own:
            del options["--patience"]
        if "RANK" in os.environ:
            options.update(read_options(_of_worker("--cpu" in own)))
        for name, (choice, kinds) in OF_CHOICES.items():
            if own.get(choice) and not re.match(kinds, own[choice][0]):
                options.pop(name, None)
        options.update(own)
        del options[""]
        return options


def _first(data: str) -> Path:
    """The first of the data folders."""
    return Path(data.split(os.pathsep)[0])


def _tied(data: str) -> str:
    """Languages with one dictionary have one matrix of embeddings."""
    dictionaries = [path.read_bytes() for path in _first(data).glob("dict.*.txt")]
    if not dictionaries:
        raise BadInput("is no data folder of ctxmt preprocess: found no dict.LANG.txt", _first(data))
    return "--share-all-embeddings" if len(set(dictionaries)) == 1 else "--share-decoder-input-output-embed"


def _of_worker(cpu: bool) -> List[str]:
    """What one of torchrun's processes is told."""
    from torch import cuda

    from ctxmt_fairseq.base.processes import CPU_WORKER

    size = ["--distributed-world-size", os.environ["WORLD_SIZE"]]
    return size if cuda.is_available() and not cpu else [*size, *CPU_WORKER.format_map(os.environ).split()]


def _begin(log: Path, command: str) -> str:
    """Note the command down, and return the train.sh before; a log that is there goes on."""
    from ctxmt_fairseq.base.files import write_file, writing

    with writing(log):
        script = log.with_name("train.sh")
        former = script.read_text(encoding="utf-8") if script.exists() else ""
        write_file(script, f"#!/bin/sh\n{command}\n")
        with open(log, "a", encoding="utf-8") as file:
            file.write(f"+ {command}\n")
    print(f"+ {command}", flush=True)
    return former


def _put_back(log: Path, former: str) -> None:
    """Restore the train.sh of what is there, if a later training was refused."""
    from ctxmt_fairseq.analysis.training_log import read_training_log
    from ctxmt_fairseq.base.files import write_file

    with contextlib.suppress(BadInput):  # nothing was trained before, either
        if read_training_log(log).begun:
            write_file(log.with_name("train.sh"), former)


def _end(log: Path, data: str, checkpoint: Path, metadata: bool, user_dir: List[str]) -> str:
    """The best validation and the commands that come next, with metadata and code of the user's if the model
    was trained with it."""
    from ctxmt_fairseq.analysis.training_log import read_training_log

    lines = []
    with contextlib.suppress(BadInput):  # without a validation, as it may be asked for
        found = read_training_log(log)
        metric, best = found.best(next(iter(found.validations), "valid"))  # the checkpoint's is the first
        lines.append(f"best validation: {metric} {best.values[metric]:g} after {best.updates} updates")
    if checkpoint.exists():
        source, target = _languages(data)
        files = f"TEXT.{source} --docids TEXT.docids{' --contexts TEXT' * metadata} --output OUT.{target}"
        code = "".join(f" --user-dir {shlex.quote(folder)}" for folder in user_dir)
        lines.append(f"next: ctxmt translate {shlex.quote(str(checkpoint))} {files}{code}")
        run = log.parent if checkpoint.parent == log.with_name("checkpoints") else checkpoint.parent
        lines.append(f"  or: ctxmt evaluate {shlex.quote(str(run))} TEXT [CONTRASTIVE_SET ..]{code}")
    return "\n".join(lines)


def _languages(data: str) -> List[str]:
    path = _first(data) / "ctxmt.json"
    if not path.exists():
        return ["SRC", "TGT"]
    description = load_json(path)
    return [get(Place(path), description, f"{side}_lang", str) for side in ("source", "target")]


def _listed() -> str:
    """The systems and the sizes, a line each."""
    rows = [
        (name, row.paper, row.purpose + " (first: ctxmt embed)" * (row.task == "metadata_context"))
        for name, row in SYSTEMS.items()
    ]
    rows += [("", "", ""), *((f"--size {name}", "", row.purpose) for name, row in SIZES.items())]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return "\n".join(
        f"{name:{widths[0]}}  {paper:{widths[1]}}  {text}".rstrip() for name, paper, text in rows
    )
