"""A run's training: its command, and its learning curve."""

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.files import write_file
from ctxmt_fairseq.checkpoints.reading import load_checkpoint_to_cpu
from ctxmt_fairseq.cli.systems import read_options
from ctxmt_fairseq.tasks.cpu_autocast import has_fast_products
from ctxmt_fairseq.text.json_files import load_json
from evidence import commands, systems
from evidence.workplace import PACKAGE, Workplace

SMOKE_UPDATES = 3


def checkpoint(place: Workplace, row: str, seed: int) -> Path:
    """What a finished training ends with."""
    return place.run(row, seed) / "checkpoints" / "checkpoint_last.pt"


def flags(place: Workplace, row: str, seed: int) -> List[str]:
    """Of fairseq-train. Started again, the same command goes on from the last checkpoint."""
    system = systems.ALL[row]
    stage = systems.STAGES[system.stage]
    command = [str(place.home(system.text) / stage.data), "--user-dir", str(PACKAGE)]
    command += ["--save-dir", str(checkpoint(place, row, seed).parent)]
    command += ["--max-update", str(stage.updates), "--seed", str(seed)]
    command += shlex.split(f"{system.size} {systems.TRAINING} {stage.flags} {system.flags}")
    if stage.second:
        command += precision(place, row, seed)
        command += ["--sentence-checkpoint", str(checkpoint(place, *systems.start_of(row)))]
    if place.smoke:
        few = f"--max-update {SMOKE_UPDATES} --save-interval-updates 2 --log-interval 1 --max-tokens 2500"
        command += few.split()
    return command


def meaning(flags: Sequence[str]) -> Dict[str, List[str]]:
    """What fairseq-train is told, in whatever order and with whatever blanks, as in (0.9, 0.98)."""
    return {name: ["".join(each.split()) for each in values] for name, values in read_options(flags).items()}


def precision(place: Workplace, row: str, seed: int) -> List[str]:
    """Flags, as they were when the run was begun: its checkpoint fits no other precision. A series whose
    control (of this text, or else of the subtitles) was trained in float32 goes on so on any machine."""
    if not systems.ALL[row].amp:
        return []
    path = _begun(place, row, seed)
    if path.exists():
        fast = "--amp" in load_json(path)["train"]
    else:
        controls = (place.result(control, 1) for control in (systems.control_of(row), "control"))
        known = next((load_json(control)["train"] for control in controls if control.exists()), ["--amp"])
        fast = has_fast_products() and "--amp" in known
    return ["--amp"] if fast else []


def trained(place: Workplace, row: str, seed: int) -> bool:
    """Whether the training is finished and its checkpoint at hand."""
    return (place.run(row, seed) / "trained").exists() and checkpoint(place, row, seed).exists()


def begun(place: Workplace, row: str, seed: int) -> Dict[str, Any]:
    """What a run was begun with: its flags (``train``), and the ``commits`` of its code, of every start that
    had another."""
    return load_json(_begun(place, row, seed))


def begin(place: Workplace, row: str, seed: int) -> None:
    """Note down what a run is begun with; where it has been begun, that goes on.

    Raises:
        BadInput: it was begun with other flags.
    """
    path = _begun(place, row, seed)
    now = [place.masked(flag) for flag in flags(place, row, seed)]
    before = begun(place, row, seed) if path.exists() else {"train": now, "commits": []}
    if meaning(before["train"]) != meaning(now):
        raise BadInput(f"begun with other flags; remove {path.parent} to train anew", path)
    if before["commits"][-1:] != [commands.commit()] and not trained(place, row, seed):
        before["commits"].append(commands.commit())
        write_file(path, json.dumps(before, indent=1) + "\n")


def train(place: Workplace, row: str, seed: int) -> None:
    """Train to the end, from where an earlier training was interrupted; only its last checkpoint is kept.

    Raises:
        BadInput: see ``begin``.
    """
    run, last = place.run(row, seed), checkpoint(place, row, seed)
    if not last.exists():  # nothing to go on from, so nothing else may be taken for this training's
        shutil.rmtree(run, ignore_errors=True)
    run.mkdir(parents=True, exist_ok=True)
    begin(place, row, seed)
    if trained(place, row, seed):
        return
    command = flags(place, row, seed)
    updates = [
        int(value) for name, value in zip(command, command[1:], strict=False) if name == "--max-update"
    ]
    if not last.exists() or _updates(last) < updates[-1]:
        commands.train(command, run / "train.log")
    for other in last.parent.glob("*.pt"):
        if other != last:
            other.unlink()
    (run / "trained").touch()


def _begun(place: Workplace, row: str, seed: int) -> Path:
    return place.run(row, seed) / "begun.json"


def _updates(path: Path) -> int:
    """Of a checkpoint. fairseq does one more before it sees that there are enough."""
    return load_checkpoint_to_cpu(str(path))["optimizer_history"][-1]["num_updates"]


def learning_curve(log: Path) -> List[Dict[str, float]]:
    """Updates and validation losses (bits a subword) from fairseq-train's log: ``loss``, label-smoothed, of
    the current sentence, and ``nll``, plain, of the whole target."""
    found: Dict[int, Dict[str, float]] = {}
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        record = _record(line, "valid")
        if record:
            loss = record.get("valid_current_loss", record.get("valid_loss"))
            updates = int(float(record["valid_num_updates"]))
            found[updates] = {"loss": float(loss), "nll": float(record["valid_nll_loss"])}
    return [{"updates": updates, **found[updates]} for updates in sorted(found)]


def cpu_seconds(log: Path) -> Optional[int]:
    """Of all attempts, validation included; None where one was killed before it could say. See
    ``commands.train``."""
    lines = log.with_name("cpu").read_text(encoding="utf-8").split()
    seconds = [int(line) for line in lines if line != "begun"]
    return sum(seconds) if lines.count("begun") <= len(seconds) else None


def _record(line: str, kind: str) -> Optional[Dict[str, str]]:
    match = re.search(rf"\| INFO \| {kind} \| (\{{.*\}})$", line)
    return json.loads(match.group(1)) if match else None
