"""Documents that vecalign or bertalign aligned: which sentences of two texts translate each other.

--source and --target are documents, in the same order, with a sentence on each line. --alignment is what the
aligner printed: a file for each document, or one for all of them; a line such as [0, 1]:[0]:0.123 says that
the first two source sentences are the first target sentence (bertalign has no costs). A document's id is the
name of its source file. It ends at sentences without counterpart; with --unaligned keep they stay as lines
that are only context.

Example: ctxmt corpus aligned --source news/*.en --target news/*.de --alignment news/*.aligned \\
             --source-lang en --target-lang de --out text/news
"""

import itertools
import re
from pathlib import Path
from typing import Iterator, List, Literal, Sequence, Tuple

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input
from ctxmt_fairseq.corpora.corpus_command import NewCorpus
from ctxmt_fairseq.corpora.pairs import Account, DocumentBuilder, Part, distinct
from ctxmt_fairseq.text.json_files import Place
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines, read_sentences

_NUMBERS = r"\[((?:\d{1,9}(?:, *\d{1,9})*)?)\]"
_LINK = re.compile(rf"\s*{_NUMBERS}:{_NUMBERS}(?::\S+)?\s*")
Link = Tuple[Place, Sequence[List[int]]]


class Aligned(NewCorpus):
    unit = "links"

    source: List[Input] = option("documents of the source side")
    target: List[Input] = option("documents of the target side")
    alignment: List[Input] = option("which of their sentences translate each other")
    unaligned: Literal["end", "keep"] = option(
        "sentences without counterpart end a document, or are context", "end"
    )

    def parts(self) -> Iterator[Part]:
        if len(self.source) != len(self.target):
            raise BadInput(f"--target: expected {len(self.source)} files, found {len(self.target)}")
        stems = [[Path(path).stem for path in side] for side in (self.source, self.target)]
        if stems[0] != stems[1] and sorted(stems[0]) == sorted(stems[1]):
            raise BadInput(f"--target: expected the order of --source: {', '.join(stems[0][:9])}")
        links = itertools.chain.from_iterable(map(read_links, self.alignment))
        yield from distinct(
            self._document(*sides, links) for sides in zip(self.source, self.target, strict=True)
        )
        for place, _ in links:
            raise place.error("goes on behind the last sentences of both sides")

    def _document(self, source: str, target: str, links: Iterator[Link]) -> Part:
        """Pair two documents, whose sentences the links name one after the other, each once."""
        builder = DocumentBuilder(Path(source).stem, Account())
        sides = [read_sentences(path) for path in (source, target)]
        done, place = [0, 0], Place(self.alignment[-1])
        while done != [len(side) for side in sides]:
            place, link = next(links, (place, None))
            if link is None:
                left = " and ".join(str(len(side) - place) for side, place in zip(sides, done, strict=True))
                raise place.error(f"ends before the last {left} sentences of {source} and {target}")
            texts = []
            for side, numbers in enumerate(link):
                first, count = done[side], len(sides[side])
                done[side] += len(numbers)
                if numbers != [*range(first, min(done[side], count))]:
                    found = f"{numbers[:9]} of {(source, target)[side]}"
                    raise place.error(f"expected sentence {first} of {count} next, found {found}")
                texts.append(" ".join(sides[side][first : done[side]]))
            if all(link) or self.unaligned == "keep":
                builder.add(texts[0], texts[1], current=all(link))
            else:
                builder.leave_out("unaligned")
        return builder.part()


def read_links(path: PathLike) -> Iterator[Link]:
    """Yield the sentences of both sides that a line names, counted from 0, with its place."""
    for number, line in enumerate(iterate_lines(path), 1):
        place, found = Place(path, number), _LINK.fullmatch(line)
        if not found or not any(found.groups()):
            raise place.error(f"expected sentences such as [0, 1]:[0]:0.123, found {line[:60]!r}")
        yield place, [[int(each) for each in re.findall(r"\d+", side)] for side in found.groups()]
