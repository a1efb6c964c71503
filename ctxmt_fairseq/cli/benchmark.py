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

Example: ctxmt benchmark train decode --size iwslt --repeats 5 --json benchmark.json
"""

import json

MEASUREMENTS = (
    "train",
    "decode",
    "contrast",
    "index",
    "runs",
    "cache",
    "memory",
    "metadata",
    "store",
    "corpus",
    "significance",
    "start",
)


def add_arguments(parser) -> None:
    from ctxmt_fairseq.option_types import positive_int

    parser.add_argument(
        "measurements",
        metavar="MEASUREMENT",
        nargs="*",
        help=f"{', '.join(MEASUREMENTS)} (default: all)",
    )
    parser.add_argument("--size", choices=("tiny", "iwslt", "base"), default="tiny", help="default: tiny")
    parser.add_argument(
        "--repeats",
        type=positive_int,
        default=5,
        metavar="N",
        help="pairs of runs, in each of which every batch has its pair; at most 3 where a run is a process "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--sentences",
        type=positive_int,
        default=42_000_000,
        metavar="N",
        help="size of the corpus to index (default: %(default)s)",
    )
    parser.add_argument(
        "--links",
        type=positive_int,
        default=200_000,
        metavar="N",
        help="size of the corpus to make, a multiple of 1,000 (default: %(default)s)",
    )
    parser.add_argument("--cpu", action="store_true", help="stay on the CPU even where a GPU is")
    parser.add_argument("--json", metavar="FILE", help="write every pair there too")
    parser.add_argument(
        "--against", metavar="FILE", help="compare the ratios with those of an earlier call's --json FILE"
    )
    parser.add_argument("--plot", metavar="FILE.png", help="draw the growth of memory")


def run(args) -> None:
    from ctxmt_fairseq.analysis.map_files import check_optional_picture
    from ctxmt_fairseq.benchmark.earlier import Earlier
    from ctxmt_fairseq.benchmark.run import machine, measure
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.files import write_files

    earlier = None if args.against is None else Earlier.read(args.against)
    for name in args.measurements:
        if name not in MEASUREMENTS:
            raise BadInput(f"{name}: expected one of {', '.join(MEASUREMENTS)}")
    check_optional_picture(args.plot, (), [args.json])
    names = args.measurements or MEASUREMENTS
    comparisons = measure(names, args.size, args.repeats, args.sentences, args.links, args.cpu)
    entries = [each.as_dict() for each in comparisons]
    if earlier is not None:
        entries = [
            {**entry, "earlier": earlier.change(each)}
            for entry, each in zip(entries, comparisons, strict=True)
        ]
    write_files(
        [
            (args.json, json.dumps({"machine": machine(args.cpu), "comparisons": entries}, indent=2) + "\n"),
            (args.plot, lambda stream: stream.write(_growth(comparisons))),
        ]
    )
    print(machine(args.cpu) + "\n")
    print(_table(comparisons, earlier))


def _table(comparisons, earlier) -> str:
    from ctxmt_fairseq.benchmark.earlier import APART
    from ctxmt_fairseq.benchmark.earlier import HEAD as EARLIER_HEAD
    from ctxmt_fairseq.benchmark.paired import HEAD
    from ctxmt_fairseq.tables import aligned_table

    if earlier is None:
        return aligned_table([HEAD, *(each.row() for each in comparisons)])
    rows = [each.row() + earlier.row(each) for each in comparisons]
    notes = [APART, f"earlier: {earlier.machine}"]
    left_out = len(earlier.left_out(comparisons))
    if left_out:
        notes.append(f"{left_out} measurements of the earlier call were not made")
    return "\n".join([aligned_table([HEAD + EARLIER_HEAD, *rows]), "", *notes])


def _growth(comparisons) -> bytes:
    from ctxmt_fairseq.benchmark.context_memory import picture

    return picture([comparison for comparison in comparisons if comparison.unit == "MiB"])
