"""Test sets of attributes, such as the speaker's gender: ours, and those of the EAMT 2022 task (Vincent et
al. 2022)."""

from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.attribute_control.attribute_sentences import Sentences, as_sentences
from ctxmt_fairseq.text.json_files import Place, get, json_lines, json_list
from ctxmt_fairseq.text.metadata_text import prompts
from ctxmt_fairseq.text.text_lines import PathLike, read_text

KEYS = ("source", "attributes", "expected", "wrong", "context", "reference")


@dataclass(frozen=True)
class AttributeExample:
    """A sentence whose translation depends on attributes, not all of which it need show; for each that shows,
    the phrases of translations that agree with it (``expected``), and of those that do not. Its context are
    texts by field (None: the attributes themselves)."""

    source: str
    attributes: Mapping[str, str]
    expected: Mapping[str, Tuple[str, ...]]
    wrong: Mapping[str, Tuple[str, ...]]
    context: Optional[Mapping[str, str]] = None
    reference: Optional[str] = None

    @property
    def combination(self) -> str:
        """The values of the attributes that show in the translation: ``number = one, speaker = feminine``."""
        return ", ".join(f"{name} = {self.attributes[name]}" for name in sorted(self.expected))


def read_attribute_set(path: PathLike) -> List[AttributeExample]:
    """Read a file with one object on each line, with the keys:

    - ``source``: the sentence;
    - ``attributes``: an object of values by attribute: ``{"speaker": "feminine", "formality": "formal"}``;
    - ``expected``, ``wrong``: objects with the same attributes, namely those (at least one) that show in the
      translation, each with a list of phrases: ``{"speaker": ["fatiguée"]}`` and ``{"speaker":
      ["fatigué"]}``. A phrase is searched as whole words, and upper and lower case differ;
    - ``context`` (optional): what a model reads: an object of texts by field, or a list of texts: ``["I am a
      woman", "Formal"]``. Default: the attributes;
    - ``reference`` (optional, on all lines or none): a right translation, for BLEU and chrF.
    """
    examples = [_example(place, record) for place, record in json_lines(path)]
    if not examples:
        raise BadInput("expected one JSON object per line, found an empty file", path)
    without = [number for number, example in enumerate(examples, 1) if example.reference is None]
    if 0 < len(without) < len(examples):
        raise BadInput("add the key 'reference', which other lines have", path, without[0])
    return examples


def _example(place: Place, record: Any) -> AttributeExample:
    source = _one_line(place, record, "source")
    unknown = sorted(record.keys() - set(KEYS))
    if unknown:
        raise place.error(f"expected the keys {', '.join(KEYS)}, found {unknown[0]!r}")
    attributes = _texts(place, record, "attributes")
    expected, wrong = (_phrases(place, record, key) for key in ("expected", "wrong"))
    if not expected or expected.keys() != wrong.keys() or not expected.keys() <= attributes.keys():
        raise place.error("give 'expected' and 'wrong' for the same attributes, at least one of 'attributes'")
    for name in expected:
        shared = set(expected[name]) & set(wrong[name])
        if shared:
            raise place.error(f"{shared.pop()!r} is both expected and wrong for {name!r}")
    reference = _one_line(place, record, "reference") if "reference" in record else None
    return AttributeExample(source, attributes, expected, wrong, _context(place, record), reference)


def _one_line(place: Place, record: Any, key: str) -> str:
    """The text without outer blanks; anything but one line of text is refused."""
    text: str = get(place, record, key, str).strip()
    if not text or len(text.splitlines()) > 1 or "\0" in text:
        raise place.error(f"expected one line of text at the key {key!r}")
    return text


def _all_texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) and value.strip() for value in values)


def _texts(place: Place, record: Any, key: str) -> Dict[str, str]:
    texts = get(place, record, key, dict)
    if not _all_texts(texts.values()):
        raise place.error(f"expected {key!r} to be an object of texts")
    return {name: text.strip() for name, text in texts.items()}


def _phrases(place: Place, record: Any, key: str) -> Dict[str, Tuple[str, ...]]:
    lists = get(place, record, key, dict)
    for phrases in lists.values():
        if not (isinstance(phrases, list) and phrases and _all_texts(phrases)):
            raise place.error(f"expected {key!r} to be an object of lists of phrases")
    return {name: tuple(phrase.strip() for phrase in phrases) for name, phrases in lists.items()}


def _context(place: Place, record: Any) -> Optional[Dict[str, str]]:
    texts = record.get("context")
    if not isinstance(texts, list):
        return _texts(place, record, "context") if "context" in record else None
    if not _all_texts(texts):
        raise place.error("expected 'context' to be a list of texts")
    return prompts(map(str.strip, texts))


def metadata_of(
    path: PathLike, examples: Sequence[AttributeExample], sentences: Optional[Sentences] = None
) -> List[Mapping[str, str]]:
    """What a model reads with each example of a file: its context, or its attributes as ``sentences``."""
    metadata: List[Mapping[str, str]] = []
    for number, example in enumerate(examples, 1):
        if example.context is not None:
            metadata.append(example.context)
        elif sentences is not None:
            metadata.append(as_sentences(example.attributes, sentences, Place(path, number)))
        else:
            metadata.append(example.attributes)
    return metadata


# Field of context_csv -> its marks -> value.
MARKS: Dict[str, Dict[str, str]] = {
    "speaker": {f"<sp:{value}>": value for value in ("feminine", "masculine")},
    "addressee": {f"<il:{value}>": value for value in ("feminine", "masculine", "mixed")},
    "number": {f"<{value}>": value for value in ("singular", "plural")},
    "formality": {f"<{value}>": value for value in ("formal", "informal")},
}


def read_any_set(path: PathLike) -> List[AttributeExample]:
    """A set of this kind if the file is a JSON array, else one of JSON lines (``read_attribute_set``)."""
    is_array = read_text(path).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")
    return read_eamt22(path) if is_array else read_attribute_set(path)


def read_eamt22(path: PathLike) -> List[AttributeExample]:
    """The public sets of the EAMT 2022 task on attributes of dialogue participants (Vincent et al. 2022).

    A JSON array of objects; ``context_csv`` has four fields, each a mark or empty, ``polish`` the reference;
    there are no phrases::

        {"english": "I hear you.", "polish": "Zrozumiałem.", "context_csv": "<sp:masculine>,,,", ...}
    """
    return [_eamt22_example(place, record) for place, record in json_list(path)]


def _eamt22_example(place: Place, record: Any) -> AttributeExample:
    source, reference = (_one_line(place, record, key) for key in ("english", "polish"))
    marks: str = get(place, record, "context_csv", str)
    fields = [field.strip() for field in marks.split(",")]
    if len(fields) != len(MARKS):
        raise place.error(f"expected {len(MARKS)} fields at the key 'context_csv', found {marks!r}")
    attributes = {}
    for (name, values), mark in zip(MARKS.items(), fields, strict=True):
        if mark and mark not in values:
            raise place.error(f"expected {', '.join(values)} or nothing for the {name}, found {mark!r}")
        if mark:
            attributes[name] = values[mark]
    return AttributeExample(source, attributes, {}, {}, None, reference)
