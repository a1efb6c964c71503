"""A run's training: its command, and its learning curve."""

import json
import re
from pathlib import Path
from typing import Dict, List, Optional

from ctxmt_fairseq.tasks.cpu_autocast import has_fast_products
from evidence import commands, systems
from evidence.workplace import Workplace

SMOKE_UPDATES = 3


def checkpoint(place: Workplace, row: str, seed: int) -> Path:
    """What a finished training ends with."""
    return place.run(row, seed) / "checkpoints" / "checkpoint_last.pt"


def flags(place: Workplace, row: str, seed: int) -> List[str]:
    """Of fairseq-train. Started again, the same command goes on from the last checkpoint."""
    system = systems.ALL[row]
    stage = systems.STAGES[system.stage]
    command = [str(place.home(system.text) / stage.data), "--user-dir", str(commands.PACKAGE)]
    command += ["--save-dir", str(checkpoint(place, row, seed).parent)]
    command += ["--max-update", str(stage.updates), "--seed", str(seed)]
    command += f"{system.size} {systems.TRAINING} {stage.flags} {system.flags}".split()
    if stage.second:
        command += precision(place, row, seed)
        command += ["--sentence-checkpoint", str(checkpoint(place, *systems.start_of(row)))]
    if place.smoke:
        few = f"--max-update {SMOKE_UPDATES} --save-interval-updates 2 --log-interval 1 --max-tokens 2500"
        command += few.split()
    return command


def precision(place: Workplace, row: str, seed: int) -> List[str]:
    """Flags, as they were when the run was first started: a checkpoint fits no other precision."""
    path = place.run(row, seed) / "precision"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("--amp" if has_fast_products() else "float32", encoding="utf-8")
    return [word for word in path.read_text(encoding="utf-8").split() if word == "--amp"]


def trained(place: Workplace, row: str, seed: int) -> bool:
    """Whether the training is finished and its checkpoint at hand."""
    return (place.run(row, seed) / "trained").exists()


def train(place: Workplace, row: str, seed: int) -> None:
    """Train to the end, from where an earlier training was interrupted; only its last checkpoint is kept."""
    run = place.run(row, seed)
    if trained(place, row, seed):
        return
    run.mkdir(parents=True, exist_ok=True)
    for translation in run.glob("test.*"):  # of a model that was there before
        translation.unlink()
    commands.train(flags(place, row, seed), run / "train.log")
    last = checkpoint(place, row, seed)
    for other in last.parent.glob("*.pt"):
        if other != last:
            other.unlink()
    (run / "trained").touch()


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


def cpu_seconds(log: Path) -> int:
    """Of all attempts, validation included; see ``commands.train``."""
    return sum(map(int, log.with_name("cpu").read_text(encoding="utf-8").split()))


def _record(line: str, kind: str) -> Optional[Dict[str, str]]:
    match = re.search(rf"\| INFO \| {kind} \| (\{{.*\}})$", line)
    return json.loads(match.group(1)) if match else None
