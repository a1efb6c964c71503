"""Which words of two texts translate each other, for --alignment of ctxmt compare pronouns and ctxmt analyse
consistency: fast_align in both directions, made one (grow-diag-final-and), by Thot in the extra "align".

FILE gets, for each line, pairs i-j of the i-th word of SRC and the j-th of TGT, white-space words counted
from 0, as fast_align, eflomal and awesome-align write them too. Words are compared in lower case and without
the punctuation at them; the parts of a word with a mark inside (l'homme) are aligned by themselves. What is
learnt is learnt from SRC, TGT and the texts of --train, because a test set alone is too small.

Example: ctxmt corpus align test.en test.fr --train train.en train.fr --output test.align
"""

from collections import Counter
from typing import BinaryIO, List

from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.paths import Input, Output
from ctxmt_fairseq.cli.options.split_prefixes import FURTHER


class Align(Command):
    source: Input = argument("SRC", "one sentence per line")
    target: Input = argument("TGT", "line by line as SRC")
    train: List[List[Input]] = FURTHER
    output: Output = option("the alignment")

    def run(self) -> None:
        from tqdm.auto import tqdm

        from ctxmt_fairseq.base.files import write_file
        from ctxmt_fairseq.corpora.linguistics.align import LONGEST, aligned_text, check_installed
        from ctxmt_fairseq.text.alignment import alignment_line

        check_installed()
        counts: Counter = Counter()
        sides = self.source, self.target
        train = [(source, target) for source, target in self.train]

        def write(stream: BinaryIO) -> None:
            for line in tqdm(aligned_text(sides, train), unit=" lines", disable=None):
                stream.write(f"{alignment_line(line.pairs)}\n".encode())
                counts.update(lines=1, pairs=len(line.pairs), too_long=line.too_long)
                for side, number in enumerate(line.sizes):
                    counts[side, "words"] += number
                    counts[side, "aligned"] += len({pair[side] for pair in line.pairs})

        write_file(self.output, write)
        shares = [
            f"{100 * counts[side, 'aligned'] / max(1, counts[side, 'words']):.1f} % of {path}'s words"
            for side, path in enumerate(sides)
        ]
        print(f"{self.output}: {counts['lines']:,} lines, {counts['pairs']:,} pairs, {' and '.join(shares)}")
        if counts["too_long"]:
            left = f"lines of more than {LONGEST:,} parts of words are left without pairs"
            print(f"{counts['too_long']:,} {left}")
