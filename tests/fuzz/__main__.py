"""Spoil the input of every command and see what becomes of it: fine, one line and exit code 2, or red.

Red is anything else: a traceback, another exit code, more or less than one line, a file left behind, a hang.
A case depends on the seed and its number alone: --only repeats it, and several processes share the cases.

Examples:
  python -m tests.fuzz --cases 100000 --seed 1
  python -m tests.fuzz --cases 50000 --first 50000 --seed 1
  python -m tests.fuzz --only 4711 --seed 1 --keep /tmp/case
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "examples")]

from tests.fuzz.cases import OK, RED, REFUSED, Fuzzer  # noqa: E402
from tests.fuzz.samples import make_samples  # noqa: E402


def fuzzer_in(folder, seed):
    """A fuzzer whose samples and cases are in a folder."""
    (Path(folder) / "samples").mkdir(parents=True, exist_ok=True)
    return Fuzzer(make_samples(Path(folder) / "samples"), Path(folder) / "cases", seed)


def fuzz(fuzzer, cases, report=None):
    """Outcomes of the cases; ``report`` is called with each."""
    outcomes = []
    for number in cases:
        outcomes.append(fuzzer.run(number))
        if report:
            report(outcomes[-1])
    return outcomes


def table(outcomes):
    """Cases by command and result."""
    counts = Counter(
        (command, result)
        for outcome in outcomes
        for command in (outcome.command, "all")
        for result in (outcome.result, "cases")
    )
    lines = [f"{'command':<28}" + "".join(f"{name:>9}" for name in ("all", OK, REFUSED, RED))]
    for command in [*sorted({outcome.command for outcome in outcomes})]:
        lines.append(
            f"{command:<28}" + "".join(f"{counts[command, name]:>9}" for name in ("all", OK, REFUSED, RED))
        )
    total = Counter(outcome.result for outcome in outcomes)
    lines.append(
        f"{'all':<28}{len(outcomes):>9}" + "".join(f"{total[name]:>9}" for name in (OK, REFUSED, RED))
    )
    return "\n".join(lines)


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=2000, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first case")
    parser.add_argument("--only", type=int, metavar="N", help="this case alone, with all that it says")
    parser.add_argument("--keep", metavar="DIR", help="with --only: run it there and leave everything")
    return parser.parse_args()


def main():
    args = options()
    started = time.monotonic()
    screen = os.fdopen(os.dup(2), "w")  # what is printed while a command's stderr is taken away

    def report(outcome):
        done = outcome.number - args.first + 1
        if outcome.result == RED:
            arguments = " ".join(map(ascii, outcome.arguments))
            print(f"\nRED case {outcome.number}: {arguments}\n{outcome.why[-1500:]}", file=screen, flush=True)
        if done % 500 == 0:
            print(f"{done} cases, {time.monotonic() - started:.0f} s", file=screen, flush=True)

    with tempfile.TemporaryDirectory(prefix="ctxmt-fuzz-") as folder:
        fuzzer = fuzzer_in(args.keep or folder, args.seed)
        if args.only is not None:
            outcomes = [fuzzer.run(args.only, keep=True)]
            print(*outcomes[0].arguments, sep="\n  ")
            print(f"{outcomes[0].result}: {outcomes[0].why}")
        else:
            outcomes = fuzz(fuzzer, range(args.first, args.first + args.cases), report)
            print(table(outcomes))
    sys.exit(any(outcome.result == RED for outcome in outcomes))


if __name__ == "__main__":
    main()
