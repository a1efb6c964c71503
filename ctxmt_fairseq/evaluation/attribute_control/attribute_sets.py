"""Sets that measure the control of attributes: JSON lines, a source sentence with its attributes on each."""

from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from ctxmt_fairseq.data.documents import PathLike
from ctxmt_fairseq.data.json_files import Place, get, json_lines
from ctxmt_fairseq.data.symbols import SEPARATOR
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.attribute_control.attribute_sentences import Sentences, as_sentences

KEYS = ("source", "attributes", "expected", "wrong", "context", "reference")


@dataclass(frozen=True)
class AttributeExample:
    """A sentence whose translation depends on attributes.

    Attributes:
        attributes: value by name; some may not show in this sentence's translation.
        expected, wrong: for each attribute that does, the phrases of which a translation has one if it agrees
            with the attribute, and those that it has if it does not.
        context: metadata, text by field; None: the attributes themselves.
        reference: a translation; None: there is none.
    """

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
    """Read one object per line, with the keys:

    - ``source``: the sentence;
    - ``attributes``: an object, value by attribute: ``{"speaker": "feminine", "formality": "formal"}``;
    - ``expected``, ``wrong``: objects with the same attributes, those (one at least) that show in the
      translation; of each a list of phrases: ``{"speaker": ["fatiguée"]}`` and ``{"speaker": ["fatigué"]}``.
      A phrase is found as it is written (upper and lower case differ), as whole words;
    - ``context`` (optional): what a model reads, an object of texts by field or a list of texts:
      ``["I am a woman", "Formal"]``. Default: the attributes;
    - ``reference`` (optional, of all or none): a translation, for BLEU and chrF.

    Raises:
        BadInput: with the line, for anything missing, unknown or of the wrong kind, and for an empty file.
    """
    examples = [_example(place, record) for place, record in json_lines(path)]
    if not examples:
        raise BadInput("expected one JSON object per line, found an empty file", path)
    without = [number for number, example in enumerate(examples, 1) if example.reference is None]
    if 0 < len(without) < len(examples):
        raise BadInput("expected the key 'reference', as other lines have it", path, without[0])
    return examples


def _example(place: Place, record: Any) -> AttributeExample:
    source = one_line(place, get(place, record, "source", str), "source")
    unknown = sorted(record.keys() - set(KEYS))
    if unknown:
        raise place.error(f"expected the keys {', '.join(KEYS)}, found {unknown[0]!r}")
    attributes = _texts(place, record, "attributes")
    expected, wrong = (_phrases(place, record, key) for key in ("expected", "wrong"))
    if not expected or expected.keys() != wrong.keys() or not expected.keys() <= attributes.keys():
        raise place.error(
            "expected 'expected' and 'wrong' for the same attributes, one at least, of 'attributes'"
        )
    for name in expected:
        shared = set(expected[name]) & set(wrong[name])
        if shared:
            raise place.error(f"{shared.pop()!r} is both expected and wrong for {name!r}")
    reference = None
    if "reference" in record:
        reference = one_line(place, get(place, record, "reference", str), "reference")
    return AttributeExample(source, attributes, expected, wrong, _context(place, record), reference)


def one_line(place: Place, text: str, key: str) -> str:
    """The text without outer blanks; raises BadInput where it is not one line of text."""
    text = text.strip()
    if not text or SEPARATOR in text.split() or len(text.splitlines()) > 1 or "\0" in text:
        raise place.error(f"expected one line of text, without {SEPARATOR}, at the key {key!r}")
    return text


def _texts(place: Place, record: Any, key: str) -> Dict[str, str]:
    texts = get(place, record, key, dict)
    if not all(isinstance(text, str) and text.strip() for text in texts.values()):
        raise place.error(f"expected {key!r} to be an object of texts")
    return {name: text.strip() for name, text in texts.items()}


def _phrases(place: Place, record: Any, key: str) -> Dict[str, Tuple[str, ...]]:
    lists = get(place, record, key, dict)
    for phrases in lists.values():
        if not (
            isinstance(phrases, list) and phrases and all(isinstance(p, str) and p.strip() for p in phrases)
        ):
            raise place.error(f"expected {key!r} to be an object of lists of phrases")
    return {name: tuple(phrase.strip() for phrase in phrases) for name, phrases in lists.items()}


def _context(place: Place, record: Any) -> Optional[Dict[str, str]]:
    if not isinstance(record.get("context"), list):
        return _texts(place, record, "context") if "context" in record else None
    texts = record["context"]
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise place.error("expected 'context' to be a list of texts")
    return {f"prompt {number}": text.strip() for number, text in enumerate(texts, 1)}


def metadata_of(
    path: PathLike, examples: Sequence[AttributeExample], sentences: Optional[Sentences] = None
) -> List[Mapping[str, str]]:
    """What a model reads of each example: its context, else its attributes, as sentences if there are some.

    Args:
        path: of the examples, one per line.

    Raises:
        BadInput: with the line, see ``as_sentences``.
    """
    metadata = []
    for number, example in enumerate(examples, 1):
        if example.context is not None or sentences is None:
            metadata.append(example.attributes if example.context is None else example.context)
            continue
        try:
            metadata.append(as_sentences(example.attributes, sentences))
        except BadInput as error:
            raise BadInput(str(error), path, number) from None
    return metadata
