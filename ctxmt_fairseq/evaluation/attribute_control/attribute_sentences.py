"""Attributes of translations, such as the speaker's gender, as sentences that a model reads (MTCue, section
3.2)."""

from typing import Dict, Mapping, Sequence, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.json_files import Place, get, load_json
from ctxmt_fairseq.text.text_lines import PathLike

JOIN = "+"
Sentences = Mapping[Tuple[str, ...], Mapping[Tuple[str, ...], str]]  # attributes -> their values -> sentence


def read_sentences_of_attributes(path: PathLike) -> Sentences:
    """Read a JSON object: attribute -> value -> sentence.

    For one sentence about several attributes, join their names and their values by +. A missing attribute has
    an empty value::

        {"speaker": {"feminine": "I am a woman", "masculine": "I am a man"},
         "addressee+number": {"mixed+many": "I'm talking to a group of people", "+one": ""},
         "formality": {"formal": "Formal", "informal": "Informal"}}

    An empty sentence leaves the attributes out.
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
                raise place.error(f"{key!r}: expected {form!r} with a sentence, found {value!r}")
            sentences[names][parts] = " ".join(sentence.split())
    return sentences


def check_attributes(sentences: Sentences, attributes: Sequence[str]) -> None:
    """Refuse sentences for other attributes than these."""
    for name in (name for names in sentences for name in names):
        if name not in attributes:
            raise BadInput(f"expected sentences for {', '.join(attributes)}, found some for {name!r}")


def as_sentences(attributes: Mapping[str, str], sentences: Sentences, place: Place) -> Dict[str, str]:
    """The attributes, in which sentences (under the names joined by +) replace those that have sentences;
    errors name ``place``, where the attributes are."""
    replaced = {name for names in sentences for name in names}
    texts = {name: value for name, value in attributes.items() if name not in replaced}
    for names, by_value in sentences.items():
        values = tuple(attributes.get(name, "").strip() for name in names)
        if not any(values):
            continue
        if values not in by_value:
            wanted = f"{JOIN.join(names)!r} {JOIN.join(values)!r}"
            raise place.error(f"expected a sentence for {wanted}, found none")
        if by_value[values]:
            texts[JOIN.join(names)] = by_value[values]
    return texts
