"""Where models run, and in which precision."""

from contextlib import ExitStack
from typing import Optional

from ctxmt_fairseq.base.command import OptionGroup, option
from ctxmt_fairseq.base.errors import BadInput


class Device(OptionGroup):
    heading = "hardware"

    cpu: bool = option("do not use a GPU")
    device: Optional[str] = option("cpu, cuda, or one GPU such as cuda:1 (default: a GPU if there is one)")
    threads: Optional[int] = option("of the CPU, for computing (default: OMP_NUM_THREADS, or all cores)")
    bf16: bool = option("compute matrix products in bfloat16: faster where the hardware has it")

    @property
    def chosen(self) -> Optional[str]:
        """The device; None: a GPU if there is one."""
        return "cpu" if self.cpu else self.device

    def begin(self, end: ExitStack) -> None:
        if self.cpu and self.device:
            raise BadInput("give --cpu or --device, one of them")
        if self.threads:
            import torch

            end.callback(torch.set_num_threads, torch.get_num_threads())
            torch.set_num_threads(self.threads)
        if self.bf16:
            from ctxmt_fairseq.generation.loading import chosen_device
            from ctxmt_fairseq.tasks.cpu_autocast import bfloat16_products

            end.enter_context(bfloat16_products(chosen_device(self.chosen).type))
