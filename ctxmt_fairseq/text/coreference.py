"""Pronouns of a text and what they refer to, found by a tool or by people: JSON lines, one for each pronoun::

    {"line": 7, "pronoun": [0, 2], "source": "corenlp",
     "antecedent": {"line": 6, "span": [12, 20], "nominal": true}}

``line`` counts from 1; places are characters of the line (without blanks at its ends), from the first to
behind the last. ``nominal`` says whether the antecedent is more than a pronoun; ``antecedent`` is null if
there is none. ``source`` says who found it.
"""

from dataclasses import dataclass
from typing import Any, List, Optional, Sequence, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.json_files import Place, get, json_lines
from ctxmt_fairseq.text.text_lines import PathLike

Span = Tuple[int, int]


def overlap(one: Span, other: Span) -> bool:
    """Whether two stretches have a character in common."""
    return one[0] < other[1] and other[0] < one[1]


@dataclass(frozen=True)
class Antecedent:
    """A stretch of a line, counted from 0."""

    line: int
    span: Span
    nominal: bool

    def overlaps(self, line: int, span: Span) -> bool:
        """Whether it has a character in common with a span of a line."""
        return self.line == line and overlap(self.span, span)


@dataclass(frozen=True)
class Reference:
    """A pronoun (``text``, in lower case but for I) in a line, counted from 0, what it refers to (None:
    nothing), and who found it (``source``)."""

    line: int
    span: Span
    text: str
    antecedent: Optional[Antecedent]
    source: str


def read_coreference(path: PathLike, sentences: Sequence[str]) -> List[Reference]:
    """Read the pronouns of a text, given its lines."""
    found: List[Reference] = []
    seen = set()
    for place, record in json_lines(path):
        line, span, text = _stretch(place, record, "pronoun", sentences)
        source = get(place, record, "source", str)
        if (line, span, source) in seen:
            raise place.error(f"the pronoun at {list(span)} of line {line + 1} is there twice from {source}")
        seen.add((line, span, source))
        antecedent = None
        given = get(place, record, "antecedent", dict, null=True)
        if given is not None:
            its_line, its_span, _ = _stretch(place, given, "span", sentences)
            antecedent = Antecedent(its_line, its_span, get(place, given, "nominal", bool))
            if its_line > line:
                found_there = f"found {its_line + 1}"
                raise place.error(f"expected an antecedent up to line {line + 1}, {found_there}")
        found.append(Reference(line, span, text if text == "I" else text.lower(), antecedent, source))
    if not found:
        raise BadInput("expected pronouns with their antecedents, found an empty file", path)
    return found


def only_source(references: Sequence[Reference], chosen: Optional[str], option: str, path: PathLike) -> str:
    """The source that an option names; or, if it names none, the only one that there is."""
    sources = list(dict.fromkeys(reference.source for reference in references))
    if chosen not in sources and (chosen or len(sources) > 1):
        raise BadInput(f"{option}: expected one of the sources {', '.join(sources)}", path)
    return chosen or sources[0]


def _stretch(place: Place, record: Any, key: str, sentences: Sequence[str]) -> Tuple[int, Span, str]:
    """Read the line, from 0, the places at ``key``, and the text there."""
    line, value = get(place, record, "line", int), get(place, record, key, list)
    if not 1 <= line <= len(sentences):
        raise place.error(f"expected a line from 1 to {len(sentences)}, found {line}")
    if len(value) != 2 or not all(type(each) is int for each in value):
        raise place.error(f"expected [start, end], found {value}"[:200])
    (start, end), sentence = value, sentences[line - 1]
    if not 0 <= start < end <= len(sentence):
        within = f"the {len(sentence)} characters of the line"
        raise place.error(f"expected places within {within}, found {value}")
    return line - 1, (start, end), sentence[start:end]
