"""Attributes written as sentences: ``speaker: feminine`` as "I am a woman" (MTCue, section 3.2)."""

from typing import Dict, Mapping, Sequence, Tuple

from ctxmt_fairseq.data.documents import PathLike
from ctxmt_fairseq.data.json_files import Place, get, load_json
from ctxmt_fairseq.errors import BadInput

JOIN = "+"
Sentences = Mapping[Tuple[str, ...], Mapping[Tuple[str, ...], str]]  # attributes -> their values -> sentence


def read_sentences_of_attributes(path: PathLike) -> Sentences:
    """Read a JSON object: attribute -> value -> sentence.

    One sentence for several attributes has their names joined by +, and so are their values, where an
    attribute that is missing has no value::

        {"speaker": {"feminine": "I am a woman", "masculine": "I am a man"},
         "addressee+number": {"mixed+many": "I'm talking to a group of people", "+one": ""},
         "formality": {"formal": "Formal", "informal": "Informal"}}

    An empty sentence says nothing: the attributes are left out.

    Raises:
        BadInput: not such an object, an attribute in two places, or not one value per attribute.
    """
    place = Place(path)
    table = load_json(path)
    sentences: Dict[Tuple[str, ...], Dict[Tuple[str, ...], str]] = {}
    for key in table if isinstance(table, dict) else [""]:
        values = get(place, table, key, dict)
        names = tuple(key.split(JOIN))
        known = {name for others in sentences for name in others}
        if not all(names) or len(known.union(names)) < len(known) + len(names):
            raise place.error(f"expected each attribute once, found {key!r}")
        sentences[names] = {}
        for value, sentence in values.items():
            parts = tuple(value.split(JOIN)) if len(names) > 1 else (value,)
            if len(parts) != len(names) or not any(parts) or not isinstance(sentence, str):
                form = JOIN.join(["value"] * len(names))
                raise place.error(f"{key!r}: expected {form!r}: a sentence, found {value!r}")
            sentences[names][parts] = " ".join(sentence.split())
    return sentences


def check_attributes(sentences: Sentences, attributes: Sequence[str]) -> None:
    """Raises BadInput: there are sentences for what is not one of the attributes."""
    for name in (name for names in sentences for name in names):
        if name not in attributes:
            raise BadInput(f"expected sentences for {', '.join(attributes)}, found some for {name!r}")


def as_sentences(attributes: Mapping[str, str], sentences: Sentences) -> Dict[str, str]:
    """The attributes with sentences in place of those that have some, under the names joined by +.

    Raises:
        BadInput: no sentence for a value.
    """
    replaced = {name for names in sentences for name in names}
    texts = {name: value for name, value in attributes.items() if name not in replaced}
    for names, by_value in sentences.items():
        values = tuple(attributes.get(name, "") for name in names)
        if not any(values):
            continue
        if values not in by_value:
            raise BadInput(f"expected a sentence for {JOIN.join(names)!r} {JOIN.join(values)!r}, found none")
        if by_value[values]:
            texts[JOIN.join(names)] = by_value[values]
    return texts
