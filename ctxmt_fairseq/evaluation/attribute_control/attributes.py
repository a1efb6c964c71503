"""Attributes of translations, such as the speaker's gender: as sentences that a model reads, in test sets,
and whether translations agree with them (Vincent et al. 2022, and MTCue, section 3.2)."""

import json
from dataclasses import dataclass
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.tables import aligned_table, records_table
from ctxmt_fairseq.corpora.text_steps import TextSteps
from ctxmt_fairseq.evaluation.attribute_control.judging import (
    COUNTS,
    Occurs,
    OutcomeCount,
    joint_outcome,
    mean,
    outcome,
    percent,
    whole_words,
)
from ctxmt_fairseq.evaluation.metrics import Translation, score_translation
from ctxmt_fairseq.text.json_files import Place, get, json_lines, load_json
from ctxmt_fairseq.text.symbols import SEPARATOR
from ctxmt_fairseq.text.text_lines import PathLike, read_bytes

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


def as_sentences(attributes: Mapping[str, str], sentences: Sentences) -> Dict[str, str]:
    """The attributes, in which sentences (under the names joined by +) replace those that have sentences."""
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


KEYS = ("source", "attributes", "expected", "wrong", "context", "reference")


@dataclass(frozen=True)
class AttributeExample:
    """A sentence whose translation depends on attributes.

    Attributes:
        attributes: values by name; the translation of this sentence need not show all of them.
        expected, wrong: for each attribute that shows, the phrases of translations that agree with it, and of
            those that do not.
        context: metadata: texts by field; None: the attributes themselves.
        reference: a right translation; None: there is none.
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
    source = one_line(place, get(place, record, "source", str), "source")
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
    reference = None
    if "reference" in record:
        reference = one_line(place, get(place, record, "reference", str), "reference")
    return AttributeExample(source, attributes, expected, wrong, _context(place, record), reference)


def one_line(place: Place, text: str, key: str) -> str:
    """The text without outer blanks; anything but one line of text is refused."""
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
    """What a model reads with each example: its context, or otherwise its attributes, as sentences if there
    are any.

    Args:
        path: the file of the examples, one on each line.
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


# Field of context_csv -> its marks -> value.
MARKS: Dict[str, Dict[str, str]] = {
    "speaker": {f"<sp:{value}>": value for value in ("feminine", "masculine")},
    "addressee": {f"<il:{value}>": value for value in ("feminine", "masculine", "mixed")},
    "number": {f"<{value}>": value for value in ("singular", "plural")},
    "formality": {f"<{value}>": value for value in ("formal", "informal")},
}
EAMT22_KEYS = ("english", "polish", "context_csv")


def read_any_set(path: PathLike) -> List[AttributeExample]:
    """A set of this kind if the file is a JSON array, else one of JSON lines (``read_attribute_set``)."""
    is_array = read_bytes(path).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")
    return read_eamt22(path) if is_array else read_attribute_set(path)


def read_eamt22(path: PathLike) -> List[AttributeExample]:
    """The public sets of the EAMT 2022 task on attributes of dialogue participants (Vincent et al. 2022).

    A JSON array of objects; ``context_csv`` has four fields, each a mark or empty, ``polish`` the reference::

        {"english": "I hear you.", "polish": "Zrozumiałem.", "context_csv": "<sp:masculine>,,,", ...}

    Returns:
        the examples with their attributes and references; without phrases, because the set has none.
    """
    records = load_json(path)
    place = Place(path)
    if not isinstance(records, list) or not records:
        raise place.error("expected a JSON array of examples")
    return [
        _eamt22_example(Place(path, part=f"example {number}"), each) for number, each in enumerate(records, 1)
    ]


def _eamt22_example(place: Place, record: Any) -> AttributeExample:
    english, polish, marks = (get(place, record, key, str) for key in EAMT22_KEYS)
    fields = [field.strip() for field in marks.split(",")]
    if len(fields) != len(MARKS):
        raise place.error(f"expected {len(MARKS)} fields at the key 'context_csv', found {marks!r}")
    attributes = {}
    for (name, values), mark in zip(MARKS.items(), fields, strict=True):
        if mark and mark not in values:
            raise place.error(f"expected {', '.join(values)} or nothing for the {name}, found {mark!r}")
        if mark:
            attributes[name] = values[mark]
    return AttributeExample(
        one_line(place, english, "english"), attributes, {}, {}, None, one_line(place, polish, "polish")
    )


Outcomes = Mapping[str, str]  # attribute -> outcome, of one translation


@dataclass(frozen=True)
class AttributeReport:
    """Outcomes of a set's translations, counted.

    Attributes:
        attributes: by attribute, over the sentences whose translation shows it.
        values: the same by attribute and value, ``speaker = feminine``.
        combinations: by ``AttributeExample.combination``, each sentence's attributes taken together.
        together: the same over all sentences.
    """

    attributes: Mapping[str, OutcomeCount]
    values: Mapping[str, OutcomeCount]
    combinations: Mapping[str, OutcomeCount]
    together: OutcomeCount

    @property
    def accuracy(self) -> Optional[float]:
        """The mean over the attributes, in percent: the one number of the EAMT 2022 task."""
        return mean([count.accuracy for count in self.attributes.values()])

    def as_dict(self) -> Dict[str, Any]:
        def counts(groups: Mapping[str, OutcomeCount]) -> Dict[str, Any]:
            return {name: count.as_dict() for name, count in groups.items()}

        return {
            "accuracy": self.accuracy,
            "attributes": counts(self.attributes),
            "values": counts(self.values),
            "combinations": counts(self.combinations),
            "together": self.together.as_dict(),
        }

    def table(self, plain: Optional["AttributeReport"] = None) -> str:
        """All counts as an aligned table.

        Args:
            plain: the same set translated without context, whose accuracies are shown beside.
        """
        beside = dict(plain._rows()) if plain else {}
        columns = {
            "": "{name}",
            "accuracy %": "{shown}",
            **({"no context %": "{plain}"} if plain else {}),
            **COUNTS,
        }
        records = [
            {"name": name, "plain": percent(beside[name].accuracy if plain else None), **count.cells()}
            for name, count in self._rows()
        ]
        means = {"shown": percent(self.accuracy), "plain": percent(plain.accuracy if plain else None)}
        records.append({"name": "mean over the attributes", **means, **dict.fromkeys(COUNTS, "")})
        return records_table(records, columns)

    def _rows(self) -> Iterator[Tuple[str, OutcomeCount]]:
        yield from self.attributes.items()
        yield from self.values.items()
        if self.combinations != self.values:  # some translations show several attributes
            yield from ((f"together: {name}", count) for name, count in self.combinations.items())
        yield "together: all", self.together


def judge_attributes(
    examples: Sequence[AttributeExample], translations: Sequence[str], occurs: Occurs = whole_words
) -> List[Outcomes]:
    """For each example the outcome of each attribute that its translation shows."""
    return [
        {
            name: outcome(translation, example.expected[name], example.wrong[name], occurs)
            for name in example.expected
        }
        for example, translation in zip(examples, translations, strict=True)
    ]


def attribute_report(examples: Sequence[AttributeExample], outcomes: Sequence[Outcomes]) -> AttributeReport:
    """Count the outcomes in each group; groups are sorted by name."""
    shown = [
        (example, name, found)
        for example, by_name in zip(examples, outcomes, strict=True)
        for name, found in by_name.items()
    ]
    joint = [joint_outcome(list(by_name.values())) for by_name in outcomes]
    return AttributeReport(
        attributes=_count((name, found) for _, name, found in shown),
        values=_count((f"{name} = {example.attributes[name]}", found) for example, name, found in shown),
        combinations=_count(zip([example.combination for example in examples], joint, strict=True)),
        together=OutcomeCount.of(joint),
    )


def _count(named: Iterable[Tuple[str, str]]) -> Dict[str, OutcomeCount]:
    groups: Dict[str, List[str]] = {}
    for name, found in named:
        groups.setdefault(name, []).append(found)
    return {name: OutcomeCount.of(groups[name]) for name in sorted(groups)}


def example_lines(
    examples: Sequence[AttributeExample], translations: Sequence[str], outcomes: Sequence[Outcomes]
) -> Iterator[str]:
    """One JSON object for each example: the attributes that were wanted, and the outcomes."""
    for number, (example, translation, by_name) in enumerate(
        zip(examples, translations, outcomes, strict=True), 1
    ):
        record = {
            "line": number,
            "source": example.source,
            "attributes": dict(example.attributes),
            "translation": translation,
            "outcomes": dict(by_name),
        }
        yield json.dumps(record, ensure_ascii=False)


Scores = Dict[str, Dict[str, float]]  # translation -> metric -> score


def reference_scores(
    examples: Sequence[AttributeExample],
    translations: Mapping[str, Optional[Sequence[str]]],
    steps: TextSteps,
) -> Scores:
    """The corpus scores of every translation; empty if not all examples have references.

    Args:
        translations: by name, with a line for each example; None: not translated.
        steps: those of the system's target text; translations and references get their surface form.
    """
    references = [example.reference for example in examples if example.reference is not None]
    if len(references) < len(examples):
        return {}
    compared = [steps.surface(reference) for reference in references]
    return {
        name: {
            score.name: score.score
            for score in score_translation(
                Translation([steps.surface(line.strip()) for line in lines], [compared]),
                lowercase=steps.lowercase,
            )
        }
        for name, lines in translations.items()
        if lines is not None
    }


def scores_table(scores: Scores) -> str:
    """A row for each metric."""
    metrics = next(iter(scores.values()))
    rows = [["", *scores], *([name, *(f"{each[name]:.2f}" for each in scores.values())] for name in metrics)]
    return aligned_table(rows)
