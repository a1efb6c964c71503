"""Speed and memory against stock fairseq, as ratios of runs made in turn within this call.

train     step time and peak memory: segment shift and context discount / stock transformer
decode    full-window decoding / forced target context, 16 documents side by side, K = 4
contrast  fairseq's scorer, one candidate at a time / all candidates of a set together
index     batches of windows, K = 4 / of stock sentences: time and peak memory from the document ids on
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

import argparse
import json
import sys
from typing import Any, List, Optional, Sequence

from ctxmt_fairseq.analysis.map_files import check_optional_picture
from ctxmt_fairseq.cli.parser import CommandParser
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.exit_codes import run_command
from ctxmt_fairseq.files import keeping, write_files
from ctxmt_fairseq.option_types import positive_int
from ctxmt_fairseq.tables import aligned_table
from scripts.benchmark import earlier, paired, run
from scripts.benchmark.context_memory import picture
from scripts.benchmark.earlier import Earlier
from scripts.benchmark.paired import Comparison


def options(arguments: Sequence[str]) -> Any:
    parser = CommandParser(
        prog="python -m scripts.benchmark",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("measurements", metavar="MEASUREMENT", nargs="*",
                        help=f"{', '.join(run.MEASUREMENTS)} (default: all)")  # fmt: skip
    parser.add_argument("--size", choices=("tiny", "iwslt", "base"), default="tiny", help="default: tiny")
    parser.add_argument("--repeats", type=positive_int, default=5, metavar="N",
                        help="pairs of runs, in each of which every batch has its pair; at most 3 where a "
                        "run is a process (default: %(default)s)")  # fmt: skip
    parser.add_argument("--sentences", type=positive_int, default=42_000_000, metavar="N",
                        help="size of the corpus to index (default: %(default)s)")  # fmt: skip
    parser.add_argument("--links", type=positive_int, default=200_000, metavar="N",
                        help="size of the corpus to make, a multiple of 1,000 (default: %(default)s)"
                        )  # fmt: skip
    parser.add_argument("--cpu", action="store_true", help="stay on the CPU even where a GPU is")
    parser.add_argument("--json", metavar="FILE", help="write every pair there too")
    parser.add_argument("--against", metavar="FILE",
                        help="compare the ratios with those of an earlier call's --json FILE")  # fmt: skip
    parser.add_argument("--plot", metavar="FILE.png", help="draw the growth of memory")
    return parser.parse_args(arguments)


def benchmark(arguments: Sequence[str]) -> None:
    """Measure, print the table, write the files.

    Raises:
        BadInput: a measurement that is none, or a file that cannot be read or written.
    """
    args = options(arguments)
    before = None if args.against is None else Earlier.read(args.against)
    for name in args.measurements:
        if name not in run.MEASUREMENTS:
            raise BadInput(f"{name}: expected one of {', '.join(run.MEASUREMENTS)}")
    if args.plot and "memory" not in (args.measurements or run.MEASUREMENTS):
        raise BadInput("--plot: expected the measurement memory, which it draws")
    with keeping([] if before is None else [args.against]):
        check_optional_picture(args.plot, (), [args.json])
        settings = run.Settings(args.size, args.repeats, args.sentences, args.links, args.cpu)
        comparisons = run.measure(args.measurements or list(run.MEASUREMENTS), settings)
        found = {"machine": settings.machine, "comparisons": _records(comparisons, before)}
        write_files(
            [
                (args.json, json.dumps(found, indent=2) + "\n"),
                (args.plot, lambda stream: stream.write(picture(comparisons))),
            ]
        )
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
    return run_command(benchmark, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
