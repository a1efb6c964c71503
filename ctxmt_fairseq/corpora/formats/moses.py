"""OPUS' Moses format: two files of aligned lines, and the .ids file that says where they come from.

Sentences without a counterpart are not in this format, so a document ends where the numbers of the sentences
do not go on, on either side; "ctxmt corpus opus", which reads the XML, can keep them as context. --clean as
of "ctxmt corpus opensubtitles".

Example: ctxmt corpus moses --source TED2020.de-en.en --target TED2020.de-en.de --ids TED2020.de-en.ids \\
             --source-lang en --target-lang de --out text/train
"""

import itertools
import re
from typing import Any, Iterator, List, NamedTuple, Optional, Sequence

from ctxmt_fairseq.corpora.cleaning import clean
from ctxmt_fairseq.corpora.formats import options
from ctxmt_fairseq.corpora.formats.opus import document_id
from ctxmt_fairseq.corpora.formats.opus_xml import exchanged
from ctxmt_fairseq.corpora.pairs import Account, DocumentBuilder, Part, distinct
from ctxmt_fairseq.data.text_lines import PathLike, lines_together
from ctxmt_fairseq.errors import BadInput

_NUMBER = re.compile(r"(.*?)(\d{1,18})")


def add_arguments(parser: Any) -> None:
    options.add_side_options(parser)
    parser.add_argument("--ids", required=True, metavar="FILE", help="documents and sentences of each line")
    options.add_clean_option(parser)
    options.add_corpus_options(parser)


class Line(NamedTuple):
    """A line of both sides; ``sentences`` are the ids of those that each side is made of."""

    texts: Sequence[str]
    documents: Sequence[str]
    sentences: Sequence[List[str]]


def read_lines(source: PathLike, target: PathLike, ids: PathLike, languages: Sequence[str]) -> Iterator[Line]:
    """The lines of the three files.

    OPUS orders the languages by alphabet: where the target language comes first, the sides are exchanged.

    Raises:
        BadInput: as ``lines_together``; a line of ids that is not DOCUMENT, DOCUMENT, numbers, numbers with
            tabs between them; or documents of other languages.
    """
    for number, (*texts, line) in enumerate(lines_together(source, target, ids), 1):
        columns = line.split("\t")
        if len(columns) != 4 or not all(map(str.strip, columns)):
            raise BadInput("expected two documents and the numbers of their sentences", ids, number)
        documents, sentences = tuple(columns[:2]), tuple(side.split() for side in columns[2:])
        swap = exchanged(documents, languages)
        if swap is None:
            message = f"expected documents of {' and '.join(languages)}, found {' and '.join(documents)}"
            raise BadInput(message, ids, number)
        order = -1 if swap else 1
        yield Line(texts, documents[::order], sentences[::order])


def follows(before: str, after: str) -> bool:
    """Whether a sentence comes right after another by their ids: 5 and 6, s1.5 and s1.6.

    What cannot be known, such as 1.7 and 2.1, does not follow.
    """
    first, second = _NUMBER.fullmatch(before), _NUMBER.fullmatch(after)
    if first is None or second is None:
        return False
    return first[1] == second[1] and int(first[2]) + 1 == int(second[2])


def parts(args: Any) -> Iterator[Part]:
    """A part for each document of the source side; ids are as in ``formats.opus``."""
    languages = args.source_lang, args.target_lang
    lines = read_lines(args.source, args.target, args.ids, languages)
    return distinct(
        _document(documents[0], group, languages, args.clean)
        for documents, group in itertools.groupby(lines, key=lambda line: line.documents)
    )


def _document(name: str, lines: Iterator[Line], languages: Sequence[str], cleaning: Sequence[str]) -> Part:
    builder = DocumentBuilder(document_id(name), Account())
    last: Optional[Line] = None
    for line in lines:
        if last and not all(
            follows(a[-1], b[0]) for a, b in zip(last.sentences, line.sentences, strict=True)
        ):
            builder.hole()
        last = line
        remarks = builder.account.remarks
        texts = zip(line.texts, languages, strict=True)
        here, there = (clean(text, language, cleaning, remarks) for text, language in texts)
        builder.add(here, there)
    return builder.part()


run = options.writes("moses", "lines", parts)
