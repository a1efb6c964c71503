"""Every architecture on this machine's GPU, in one JSON file that can be sent back.

losses    one step in fp16, in bf16 and with --amp against float32: the loss and the gradients' norm
speed     training steps: target tokens a second, the share of the rate of large matrix products, peak memory,
          and where the host waits for the GPU
runs      fairseq-train on the demo corpus: --fp16, --bf16 and --amp against float32, and two processes (by
          NCCL, where there are two GPUs) against --update-freq 2

Sentences are random, models untrained. Without a GPU, everything is measured on the CPU, as far as that goes.

Example: python -m scripts.benchmark.gpu --json gpu.json
"""

import copy
import json
import re
import sys
import tempfile
import warnings
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any, Callable, Dict, List, Literal, Optional, Sequence

import torch
from fairseq import utils
from torch.utils.flop_counter import FlopCounterMode

from ctxmt_fairseq.base.command import Command, option
from ctxmt_fairseq.base.files import write_files
from ctxmt_fairseq.base.paths import Output
from ctxmt_fairseq.base.tables import aligned_table
from ctxmt_fairseq.cli.main import script
from scripts.benchmark.paired import seconds
from scripts.benchmark.run import Settings
from scripts.benchmark.training import BATCHES, batches_of, sentences, step_of
from scripts.benchmark.trainings import differences, loss_curves
from tests.helpers.allocated import peak_allocated
from tests.helpers.steps import STOCK, SYSTEMS, batch, build, criterion, dataset

MODELS: Dict[str, Any] = {
    "transformer": STOCK,
    "gru": ("windows", "context_gru", {}),
    **{name: SYSTEMS[name] for name in ("concat shift", "gated", "context encoder", "dual serial")},
    **{name: SYSTEMS[name] for name in ("caching none", "mtcue", "cue", "tagging")},
}
HALF = {"fp16": torch.float16, "bf16": torch.bfloat16}  # the type of all parameters
PRECISIONS = ("float32", *HALF, "amp")
TIMED = ("float32", "amp")
# What a place in the code is shown without.
ROOTS = re.compile(r".*/(?=(ctxmt_fairseq|fairseq|torch|scripts)/)")
DOCUMENT = 50  # sentences


def losses(name: str, size: str, device: torch.device) -> Dict[str, List[float]]:
    """(loss of a token, norm of the gradients) of one step in each precision, with the same parameters."""
    task, model = build(MODELS[name], size, layers=0, dropout=0.0)
    found, sample = {}, batch(task)
    if device.type == "cuda":
        sample = utils.move_to_cuda(sample)
    for precision in PRECISIONS:
        kind = HALF.get(precision, torch.float32)
        own, given = copy.deepcopy(model).to(device, kind), utils.apply_to_sample(_typed(kind), sample)
        with autocast(precision, device):
            total, tokens, _ = criterion(task)(own, given)
        total.backward()
        norms = [each.grad.float().norm() for each in own.parameters() if each.grad is not None]
        found[precision] = [float(total) / tokens, float(torch.stack(norms).norm()) / tokens]
    return found


def _typed(kind: torch.dtype) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda value: value.to(kind) if value.dtype is torch.float32 else value


def product_type(precision: str, device: torch.device) -> torch.dtype:
    """In which type ``--amp`` multiplies matrices: fairseq's on a GPU, the plugin's on a CPU."""
    if precision != "amp":
        return torch.float32
    return torch.float16 if device.type == "cuda" else torch.bfloat16


def autocast(precision: str, device: torch.device) -> Any:
    """The block in which ``--amp`` computes; without it, nothing changes there."""
    return torch.autocast(device.type, product_type("amp", device), enabled=precision == "amp")


def matrix_rate(precision: str, device: torch.device) -> float:
    """Operations a second of products of large square matrices."""
    kind = product_type(precision, device)
    size = 8192 if device.type == "cuda" else 1024
    left, right = (torch.randn(size, size, device=device).to(kind) for _ in range(2))
    times = [seconds(lambda: left @ right, device) for _ in range(10)]
    return 2 * size**3 / min(times)


def speed(
    name: str, size: str, device: torch.device, max_tokens: int, precision: str, rate: float
) -> Dict[str, Any]:
    """Training steps of one architecture in float32 or with ``--amp``, whose ``matrix_rate`` is ``rate``."""
    task, model = build(MODELS[name], size, layers=0)
    documents = dataset(task, 1 + sentences(max_tokens) // DOCUMENT, DOCUMENT)
    batches = batches_of(documents, device, max_tokens)
    train = step_of(model, criterion(task), device)

    def step(number: int) -> None:
        with autocast(precision, device):
            train(batches[number])

    step(0)
    with FlopCounterMode(display=False) as counter:  # the second warm-up, too
        for number in range(BATCHES):
            step(number)
    times = [seconds(partial(step, number), device) for number in range(BATCHES)]
    return {
        "model": name,
        "precision": precision,
        "parameters": sum(each.numel() for each in model.parameters()),
        "tokens a second": sum(each["ntokens"] for each in batches) / sum(times),
        "share of the matrix rate": counter.get_total_flops() / sum(times) / rate,
        "MiB of a step": max(peak_allocated(partial(step, number), device) for number in range(BATCHES)),
        "waits of a step": waits(partial(step, 0), device),
    }


def waits(step: Callable[[], None], device: torch.device) -> Optional[Dict[str, int]]:
    """Where the host waits for the GPU, and how often; None: there is none.
    ``tests/unit/models/test_no_waits.py`` tells without one."""
    if device.type != "cuda":
        return None
    torch.cuda.set_sync_debug_mode("warn")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            step()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    found = (each for each in caught if "synchroniz" in str(each.message))
    return dict(Counter(f"{ROOTS.sub('', each.filename)}:{each.lineno}" for each in found))


class Gpu(Command):
    size: Literal["tiny", "iwslt", "base"] = option("", "base")
    json: Output = option("what to write", Path("gpu.json"))
    cpu: bool = option("stay on the CPU even where a GPU is")

    def run(self) -> None:
        settings = Settings(self.size, 1, 0, 0, self.cpu)
        device = settings.device
        rates = {name: matrix_rate(name, device) for name in TIMED}
        with tempfile.TemporaryDirectory() as folder:
            curves = loss_curves(Path(folder), device.type == "cpu")
        found = {
            "machine": settings.machine,
            "GPUs": torch.cuda.device_count(),
            "size": self.size,
            "max tokens": settings.max_tokens,
            "matrix rates": rates,
            "losses": {name: losses(name, self.size, device) for name in MODELS},
            "speed": [
                speed(name, self.size, device, settings.max_tokens, precision, rates[precision])
                for name in MODELS
                for precision in TIMED
            ],
            "runs": {"losses": curves, "differences": differences(curves)},
        }
        write_files([(self.json, json.dumps(found, indent=2) + "\n")])
        print(table(found))


HEAD = ["model", "precision", "tokens a second", "matrix rate, %", "MiB", "waits", "loss", "float32's"]


def table(found: Dict[str, Any]) -> str:
    """What ``Gpu`` has found, for people."""
    rows = []
    for each in found["speed"]:
        own = found["losses"][each["model"]]
        count = each["waits of a step"]
        rows.append(
            [
                *(each["model"], each["precision"], f"{each['tokens a second']:.0f}"),
                *(f"{100 * each['share of the matrix rate']:.1f}", f"{each['MiB of a step']:.0f}"),
                "" if count is None else str(sum(count.values())),
                *(f"{own[name][0]:.4f}" for name in (each["precision"], "float32")),
            ]
        )
    runs = [
        f"{name}: losses differ from {other}'s by {100 * most:.3f} % at most"
        for name, (other, most) in found["runs"]["differences"].items()
    ]
    return "\n".join([f"{found['machine']}, size {found['size']}", aligned_table([HEAD, *rows]), *runs])


def main(arguments: Sequence[str]) -> int:
    return script("python -m scripts.benchmark.gpu", Gpu, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
