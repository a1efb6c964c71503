"""Trainings of fairseq-train on the demo corpus: in half precision, and by two processes."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Dict, List, Sequence, Tuple

import torch

from ctxmt_fairseq.base.errors import BadInput

UPDATES = 50
PRECISIONS = {"fp16": ("--fp16",), "bf16": ("--bf16",), "amp": ("--amp",)}
TWO = ("--nproc_per_node", "2")
PAIR = ("update-freq 2", "two processes")
OPTIONS = (
    *f"--size tiny --max-update {UPDATES} --max-tokens 500 --dropout 0 --lr 1e-3 --warmup-updates 20".split(),
    *"--source-context 1 --target-context 1 --segment-positions shift --no-epoch-checkpoints".split(),
    *"--disable-validation --best-checkpoint-metric loss --log-format json --log-interval 1".split(),
)


def loss_curves(folder: Path, cpu: bool) -> Dict[str, List[float]]:
    """The losses of ``UPDATES`` updates, as fairseq logs them, by what a training has of ``PRECISIONS`` and
    ``PAIR``; the first is "float32". A CPU has but ``--amp``."""
    data, here = folder / "data", ("--cpu",) if cpu else ()
    _run("demo-corpus", folder, *"--documents 200 --evaluation-documents 20 --examples 4".split())
    texts = ("--train", folder / "train", "--valid", folder / "valid", "--vocab-size", 300)
    _run("preprocess", *"--source-lang en --target-lang fr".split(), *texts, "--out", data)

    def losses(name: str, *options: object, launch: Sequence[object] = ("-m",)) -> List[float]:
        _run("train", "windows", data, folder / name, *OPTIONS, *options, *here, launch=launch)
        records = re.findall(r"\| train_inner \| (\{.*\})", (folder / name / "train.log").read_text("utf-8"))
        return [float(json.loads(record)["loss"]) for record in records]

    kinds = {name: options for name, options in PRECISIONS.items() if name == "amp" or not cpu}
    curves = {name: losses(name, *options) for name, options in {"float32": (), **kinds}.items()}
    here = () if torch.cuda.device_count() > 1 and not cpu else ("--cpu",)  # NCCL wants a GPU for each
    curves[PAIR[0]] = losses("one", "--update-freq", 2)
    curves[PAIR[1]] = losses("two", launch=("-m", "torch.distributed.run", "--standalone", *TWO, "--module"))
    return curves


def differences(curves: Dict[str, List[float]]) -> Dict[str, Tuple[str, float]]:
    """The greatest difference of a loss from what it should be, relative to it: by its training, of what."""
    expected = {name: "float32" for name in PRECISIONS if name in curves} | {PAIR[1]: PAIR[0]}
    return {
        name: (
            other,
            max(abs(a - b) / b for a, b in zip(curves[name], curves[other], strict=True)),
        )
        for name, other in expected.items()
    }


def _run(*words: object, launch: Sequence[object] = ("-m",)) -> None:
    line = [sys.executable, *map(str, (*launch, "ctxmt_fairseq", *words))]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode:
        raise BadInput(f"ctxmt {' '.join(map(str, words[:2]))}: {done.stderr[-500:]}")
