"""Which words of two texts translate each other, for --alignment of ctxmt compare pronouns and ctxmt analyse
consistency: fast_align in both directions, made one (grow-diag-final-and), by Thot in the extra "align".

FILE gets, for each line, pairs i-j of the i-th word of SRC and the j-th of TGT, white-space words counted
from 0, as fast_align, eflomal and awesome-align write them too. Words are compared in lower case and without
the punctuation at them; parts that marks divide (l'homme) are aligned each. Learnt from SRC and TGT and the
texts of --train: a test set alone is too small to learn from.

Example: ctxmt corpus align test.en test.fr --train train.en train.fr --output test.align
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.corpora.linguistics.align import SYMMETRIZATIONS
    from ctxmt_fairseq.option_types import name, whole_number

    parser.add_argument("source", type=name, metavar="SRC", help="one sentence per line")
    parser.add_argument("target", type=name, metavar="TGT", help="line by line as SRC")
    parser.add_argument("--train", type=name, nargs=2, action="append", default=[], metavar=("SRC", "TGT"),
                        help="further text to learn from; may be repeated")  # fmt: skip
    parser.add_argument("--iterations", type=whole_number(1, 1000), default=5, metavar="N",
                        help="(default: %(default)s)")  # fmt: skip
    parser.add_argument("--symmetrization", choices=SYMMETRIZATIONS, default=SYMMETRIZATIONS[0],
                        help="(default: %(default)s)")  # fmt: skip
    parser.add_argument("--output", type=name, required=True, metavar="FILE", help="the alignment")


def run(args) -> None:
    from collections import Counter

    from tqdm.auto import tqdm

    from ctxmt_fairseq.corpora.linguistics.align import LONGEST, aligned_text, check_installed
    from ctxmt_fairseq.data.alignment import alignment_line
    from ctxmt_fairseq.files import check_outputs, write_file

    check_outputs(args.output)
    check_installed()
    counts: Counter = Counter()

    def write(stream) -> None:
        lines = aligned_text(
            (args.source, args.target), args.train, args.iterations, args.symmetrization
        )  # fmt: skip
        for line in tqdm(lines, unit=" lines", disable=None):
            stream.write(f"{alignment_line(line.pairs)}\n".encode())
            counts.update(lines=1, pairs=len(line.pairs), too_long=line.too_long)
            for side, number in enumerate(line.sizes):
                counts[side, "words"] += number
                counts[side, "aligned"] += len({pair[side] for pair in line.pairs})

    write_file(args.output, write)
    shares = [
        f"{100 * counts[side, 'aligned'] / max(1, counts[side, 'words']):.1f} % of {path}'s words"
        for side, path in enumerate((args.source, args.target))
    ]
    print(f"{args.output}: {counts['lines']:,} lines, {counts['pairs']:,} pairs, {' and '.join(shares)}")
    if counts["too_long"]:
        print(f"{counts['too_long']:,} lines of more than {LONGEST:,} parts of words are left without pairs")
