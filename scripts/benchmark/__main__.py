"""Speed and memory against stock fairseq, as ratios of runs made in turn within this call.

train     step time and peak memory: segment shift and context discount / stock transformer
decode    full-window decoding / forced target context, 16 documents side by side, K = 4
contrast  fairseq's scorer, one candidate at a time / all candidates of a set together
index     batches of windows, K = 4 / of stock sentences: time and peak memory from the document ids on
load      batches from a worker of the loader: single sentences, and windows, K = 4 / stock sentences
runs      training with 3 context sentences, every one encoded anew / each once per batch (--batch-runs)
cache     document translation with 3 context sentences, every one encoded anew / encoder states kept
memory    peak memory of translation with 1 to 20 context sentences, with torch's plain attention / fused,
          and how fast it grows from 10 to 20 sentences / from 1 to 10
metadata  step time: MTCue with up to 12 context vectors a sentence / stock transformer, and / CUE
store     a vector for each context of each sentence / context store: bytes; and time of a batch and a step,
          contexts embedded anew (MiniLM) / from the store (needs the extra embed)
corpus    subtitles of OPUS to a corpus: one worker / two; peak memory with 8 times as many links / with
          these; opustools, where it is installed / one worker
significance  paired bootstrap and approximate randomization, 10,000 samples / sacrebleu's paired bootstrap
start     CPU time of commands without a model, and of the slowest --help / of import torch

The data are random sentences, the models untrained. A ratio's median, least and greatest value are shown,
and the medians of what was measured.

Example: python -m scripts.benchmark train decode --size iwslt --repeats 5 --json benchmark.json
"""

import json
import sys
from typing import Any, List, Literal, Optional, Sequence

from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.files import write_files
from ctxmt_fairseq.base.paths import Input, Output, Picture
from ctxmt_fairseq.base.tables import aligned_table
from ctxmt_fairseq.cli.main import script
from scripts.benchmark import earlier, paired, run
from scripts.benchmark.context_memory import draw_memory
from scripts.benchmark.earlier import Earlier
from scripts.benchmark.paired import Comparison


class Benchmark(Command):
    measurements: List[str] = argument("MEASUREMENT", f"{', '.join(run.MEASUREMENTS)} (default: all)", [])
    size: Literal["tiny", "iwslt", "base"] = option("", "tiny")
    repeats: int = option(
        "pairs of runs, in each of which every batch has its pair; at most 3 where a run is a process", 5
    )
    sentences: int = option("size of the corpus to index", 42_000_000)
    links: int = option("size of the corpus to make, a multiple of 1,000", 200_000)
    cpu: bool = option("stay on the CPU even where a GPU is")
    json: Optional[Output] = option("write every pair there too")
    against: Optional[Input] = option("compare the ratios with those of an earlier call's --json FILE")
    plot: Optional[Picture] = option("draw the growth of memory")

    def run(self) -> None:
        before = None if self.against is None else Earlier.read(self.against)
        for name in self.measurements:
            if name not in run.MEASUREMENTS:
                raise BadInput(f"{name}: expected one of {', '.join(run.MEASUREMENTS)}")
        if self.plot and "memory" not in (self.measurements or run.MEASUREMENTS):
            raise BadInput("--plot: expected the measurement memory, which it draws")
        settings = run.Settings(self.size, self.repeats, self.sentences, self.links, self.cpu)
        comparisons = run.measure(self.measurements or list(run.MEASUREMENTS), settings)
        found = {"machine": settings.machine, "comparisons": _records(comparisons, before)}
        drawn = draw_memory(comparisons) if self.plot else None
        write_files([(self.json, json.dumps(found, indent=2) + "\n"), (self.plot, drawn)])
        print(settings.machine, _table(comparisons, before), sep="\n\n")


def _records(comparisons: Sequence[Comparison], before: Optional[Earlier]) -> List[Any]:
    if before is None:
        return [each.as_dict() for each in comparisons]
    return [{**each.as_dict(), "earlier": before.change(each)} for each in comparisons]


def _table(comparisons: Sequence[Comparison], before: Optional[Earlier]) -> str:
    if before is None:
        return aligned_table([paired.HEAD, *(each.row() for each in comparisons)])
    rows = [each.row() + before.row(each) for each in comparisons]
    notes = [earlier.APART, f"earlier: {before.machine}"]
    left_out = len(before.left_out(comparisons))
    if left_out:
        notes.append(f"{left_out} measurements of the earlier call were not made")
    return "\n".join([aligned_table([paired.HEAD + earlier.HEAD, *rows]), "", *notes])


def main(arguments: Sequence[str]) -> int:
    return script("python -m scripts.benchmark", Benchmark, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
