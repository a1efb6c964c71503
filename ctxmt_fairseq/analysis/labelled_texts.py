"""Texts with up to two attributes, which a picture shows by colours and markers."""

from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.attribute_control.formal_references import FORMAL
from ctxmt_fairseq.text.json_files import Place, get, load_json
from ctxmt_fairseq.text.metadata_text import single_spaces
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines

SCORE = "formal translations (%)"
KIND = "kind"
METADATA_KIND, SENTENCE_KIND = "metadata", "previous sentence"

FIELD = "field"
NAMES = ("value", "second value")  # the names of attributes from a file


class Attribute(NamedTuple):
    """A property of every text: (n,) strings, or float64 if all are finite numbers."""

    name: str
    values: np.ndarray

    @classmethod
    def of(cls, name: str, values: Sequence[Any]) -> "Attribute":
        """Make an attribute from its values as written."""
        try:
            numbers = np.array([float(value) for value in values])
        except ValueError:
            numbers = np.array([np.nan])
        return cls(name, numbers if np.isfinite(numbers).all() else np.array(values, dtype=np.str_))

    @property
    def numeric(self) -> bool:
        return self.values.dtype.kind == "f"


@dataclass(frozen=True)
class LabelledTexts:
    """n distinct texts with no attribute, one (colours) or two (colours and markers)."""

    texts: List[str]
    attributes: Tuple[Attribute, ...] = ()

    def scored(self, name: str, scores: Mapping[str, float]) -> "LabelledTexts":
        """The texts that have a score, which becomes the first attribute."""
        if len(self.attributes) > 1:
            raise BadInput("expected at most one attribute besides the scores, found two")
        chosen = [number for number, text in enumerate(self.texts) if text in scores]
        if not chosen:
            raise BadInput("none of the texts has a score")
        texts = [self.texts[number] for number in chosen]
        score = Attribute.of(name, [scores[text] for text in texts])
        others = (Attribute(other.name, other.values[chosen]) for other in self.attributes)
        return LabelledTexts(texts, (score, *others))


def metadata_and_sentences(metadata: LabelledTexts, sentences: LabelledTexts) -> LabelledTexts:
    """Join both, the metadata first, with a further attribute that tells them apart; if metadata have their
    field as attribute and sentences have none, the sentences become another field instead."""
    texts = [*metadata.texts, *sentences.texts]
    fields, values = metadata.attributes, sentences.attributes
    if len(fields) == 1 and fields[0].name == FIELD and not values:
        names = [*fields[0].values.tolist(), *[SENTENCE_KIND] * len(sentences.texts)]
        return LabelledTexts(texts, (Attribute.of(FIELD, names),))
    if len(fields) != len(values) or len(fields) > 1:
        raise BadInput(
            "--previous: give its texts as many attributes as the others have, at most one; "
            f"found {len(values)} and {len(fields)}"
        )
    shared = [
        Attribute.of(one.name, [*one.values.tolist(), *other.values.tolist()])
        for one, other in zip(fields, values, strict=True)
    ]
    kinds = [METADATA_KIND] * len(metadata.texts) + [SENTENCE_KIND] * len(sentences.texts)
    return LabelledTexts(texts, (*shared, Attribute.of(KIND, kinds)))


def read_labelled_texts(path: PathLike) -> LabelledTexts:
    """Read lines of a text and up to two attributes, separated by tabs, without blank and repeated ones."""
    rows: Dict[str, Tuple[str, ...]] = {}
    width = None
    for number, line in enumerate(iterate_lines(path), 1):
        if not line.strip():
            continue
        text, *values = (single_spaces(part) for part in line.split("\t"))
        if len(values) > len(NAMES):
            found = f"found {len(values)} attributes"
            raise BadInput(f"expected a text and at most two attributes, {found}", path, number)
        width = len(values) if width is None else width
        if len(values) != width:
            raise BadInput(f"expected {width} tabs, as on the first line, found {len(values)}", path, number)
        if not all((text, *values)):
            raise BadInput("expected text on both sides of each tab", path, number)
        if rows.setdefault(text, tuple(values)) != tuple(values):
            raise BadInput("the text is there twice, with different attributes; take one out", path, number)
    if not rows:
        raise BadInput("expected a text per line, found none", path)
    columns = zip(NAMES, zip(*rows.values(), strict=True), strict=False)
    return LabelledTexts(list(rows), tuple(Attribute.of(name, values) for name, values in columns))


def metadata_texts(contexts: Any) -> LabelledTexts:
    """The distinct metadata of sentences (``SentenceContexts``), each with the first field that has it."""
    fields: Dict[str, str] = {}
    for column, field in enumerate(contexts.fields):
        rows = np.unique(np.asarray(contexts.metadata[:, column]))
        for text in contexts.texts(rows[rows >= 0].tolist()):
            fields.setdefault(text, field)
    if not fields:
        raise BadInput("expected metadata in the context store, found none")
    return LabelledTexts(list(fields), (Attribute(FIELD, np.array(list(fields.values()))),))


def read_formality_scores(path: PathLike) -> Dict[str, float]:
    """Prompt -> formal translations among those that are either formal or informal, in percent, from what
    ``ctxmt control formality --json`` wrote. Prompts without such translations are left out."""
    place = Place(path)
    scores: Dict[str, float] = {}
    for run in get(place, load_json(path), "runs", list):
        counts = [get(place, run, key, int) for key in ("right", "wrong")]
        wanted = get(place, run, "wanted", str)
        if run.get("prompt") is not None and sum(counts):
            formal = counts[0] if wanted == FORMAL else counts[1]
            scores[single_spaces(get(place, run, "prompt", str))] = 100 * formal / sum(counts)
    if not scores:
        raise place.error("expected prompts whose translations are formal or informal, found none")
    return scores
