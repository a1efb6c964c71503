"""How many processes train, and what each of them takes of a batch of a fixed size."""

import os
from typing import Dict

from recipe_running import BadRecipe

from ctxmt_fairseq.base.processes import CPU_WORKER


def plan_workers(values: Dict[str, str]) -> str:
    """The flags of fairseq-train for so many processes, which are started by fairseq itself (one machine, or
    srun with one task per machine), by torchrun, or by srun with one task per GPU. ``values`` has ``gpus``
    (auto: all, or per machine; 0: the CPU), ``nodes``, ``port`` and ``precision`` (auto, fp32, fp16, amp,
    bf16), and gets ``workers``."""
    if values["gpus"] == "auto":
        import torch

        values["gpus"] = str(torch.cuda.device_count())
    gpus, nodes = int(values["gpus"]), int(values["nodes"])
    if nodes < 1:
        raise BadRecipe(f"--nodes {nodes}: expected at least one machine")
    workers = gpus * nodes or 1
    flags = "" if gpus else "--cpu"
    if "WORLD_SIZE" in os.environ and "RANK" in os.environ:  # torchrun
        started = int(os.environ["WORLD_SIZE"])
        if gpus and started != workers:
            raise BadRecipe(
                f"torchrun starts {started} processes, expected {nodes} x {gpus} (--nodes, --gpus)"
            )
        workers = started  # fairseq would count the GPUs of this machine instead
        if not gpus:
            flags += f" {CPU_WORKER.format_map(os.environ)}"
    elif nodes > 1:
        if not gpus:
            raise BadRecipe("several machines without GPUs: expected torchrun")
        if "SLURM_NODEID" not in os.environ:
            raise BadRecipe(f"--nodes {nodes}: expected to be started by torchrun or srun on every machine")
        flags += " --distributed-port {port}"
    precision = values["precision"]
    if precision == "auto":
        precision = "fp16" if gpus else "fp32"
    if precision not in ("fp32", "fp16", "amp", "bf16"):
        raise BadRecipe(f"--precision {precision}: expected auto, fp32, fp16, amp or bf16")
    values["workers"] = str(workers)
    return f"--distributed-world-size {workers} {flags}" + (f" --{precision}" if precision != "fp32" else "")


def plan_batch(values: Dict[str, str]) -> str:
    """``--max-tokens`` and ``--update-freq``, whose product with the workers is the batch, less a remainder
    of under a token per worker and step: the same training on one GPU and on many. ``values`` has
    ``batch-tokens``, ``workers``, and ``max-tokens`` (auto: the most up to ``step-tokens``)."""
    batch, workers = int(values["batch-tokens"]), int(values["workers"])
    limit = values["max-tokens"]
    most = int(values["step-tokens"] if limit == "auto" else limit)
    if most < 1 or batch < workers:
        raise BadRecipe(
            f"--max-tokens {most}, --batch-tokens {batch}: expected at least one token per worker"
        )
    steps = batch // (workers * most)
    if not steps or batch // (workers * steps) != most:
        steps = -(-batch // (workers * most))
    tokens = batch // (workers * steps)
    if limit not in ("auto", str(tokens)):
        raise BadRecipe(
            f"--max-tokens {limit}: {workers} workers do not divide {batch} tokens into such steps; expected "
            f"--max-tokens {tokens} (or auto)"
        )
    values["steps"], values["max-tokens"] = str(steps), str(tokens)
    return f"--max-tokens {tokens} --update-freq {steps}"
