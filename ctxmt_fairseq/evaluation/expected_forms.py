"""Does a translation contain the form that its context requires? Pure functions, no torch.

This scores what a model writes itself, while contrastive sets score what it is given. It follows Wicks and
Post (2023), "Identifying Context-Dependent Translations for Evaluation Set Production", and their scorer
ctxpro.
"""

import json
import string
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.journal import fingerprint
from ctxmt_fairseq.base.tables import aligned_table
from ctxmt_fairseq.corpora.linguistics.words import of_word
from ctxmt_fairseq.evaluation.contrastive_report import (
    Choice,
    Tally,
    disc_numbers,
    tally,
    tally_distances,
    tally_groups,
)
from ctxmt_fairseq.evaluation.contrastive_sets.formats import DISC_NAMES, phenomenon_name
from ctxmt_fairseq.text.json_files import Place, get, json_lines, json_list
from ctxmt_fairseq.text.languages import unspaced
from ctxmt_fairseq.text.text_lines import PathLike

RIGHT, WRONG = Choice(1, True), Choice(0, False)
SHOWN = 12  # a table shows no more forms; sets of verbs have thousands
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True)
class ExpectedForm:
    """One example: the word or words that are expected, and how many sentences back the deciding word is (0:
    in the same sentence; None: unknown)."""

    id: str
    form: str
    phenomenon: str
    distance: Optional[int]
    reference: Optional[str]


@dataclass(frozen=True)
class FormSet:
    """A set with at least one example; its name is that of its file, without the ending."""

    name: str
    examples: Sequence[ExpectedForm]


def words(text: str) -> List[str]:
    """A text's words in lower case: letters with marks, digits, characters of scripts without blanks."""
    text = unicodedata.normalize("NFC", text).lower()
    return "".join(f" {sign} " if unspaced(sign) else sign if of_word(sign) else " " for sign in text).split()


def has_words(translation: str, form: str) -> bool:
    """Whether the form's words follow each other somewhere in the translation."""
    return f" {' '.join(words(form))} " in f" {' '.join(words(translation))} "


def has_form_as_ctxpro(translation: str, form: str) -> bool:
    """The rule of ctxpro's own scorer, for numbers that compare with published ones: the form is a run of
    whole words once case and ASCII punctuation are taken out of the translation, in which an accent may be a
    sign of its own.

    This joins words with an apostrophe or a hyphen: it finds no "accepte" in "j'accepte" and no "avis" in
    "l'avis". ``has_words`` finds both, and stands in where there are no blanks between words.
    """
    if unspaced(form):
        return has_words(translation, form)
    translation, form = (unicodedata.normalize("NFC", text) for text in (translation, form))
    return f" {form.lower()} " in f" {translation.strip().lower().translate(_NO_PUNCTUATION)} "


MATCHINGS: Mapping[str, Callable[[str, str], bool]] = {"ctxpro": has_form_as_ctxpro, "words": has_words}


def read_forms(path: PathLike) -> FormSet:
    """Read a set: a JSON list of ctxpro's or ContraPro's, or our JSON lines (``NAME.jsonl``).

    ========== ==================== =============== ===============
    here       ctxpro               ContraPro       JSON lines
    ========== ==================== =============== ===============
    form       expected             ref pronoun     expected
    phenomenon rule                 ref pronoun     phenomenon
    distance   ante distance or -   ante distance   distance
    reference  ref segment          ref segment     reference or -
    id         number from 1        number from 1   id
    ========== ==================== =============== ===============
    """
    path = Path(path)
    examples = list(_lines(path) if path.suffix == ".jsonl" else _list(path))
    if not examples:
        raise BadInput("expected examples, found none", path)
    return FormSet(path.stem, examples)


def _lines(path: Path) -> Iterator[ExpectedForm]:
    seen = set()
    for place, record in json_lines(path):
        example = ExpectedForm(
            id=get(place, record, "id", str),
            form=_form(place, record, "expected"),
            phenomenon=get(place, record, "phenomenon", str),
            distance=get(place, record, "distance", int, null=True),
            reference=get(place, record, "reference", str) if "reference" in record else None,
        )
        if example.id in seen:
            raise place.error(f"the example {example.id} is there twice; take one out")
        seen.add(example.id)
        yield example


def _list(path: Path) -> Iterator[ExpectedForm]:
    for number, (place, record) in enumerate(json_list(path), 1):
        contrapro = isinstance(record, dict) and "ref pronoun" in record and "expected" not in record
        form = _form(place, record, "ref pronoun" if contrapro else "expected")
        phenomenon = form.lower() if contrapro else get(place, record, "rule", str)
        known = "ante distance" in record
        distance = get(place, record, "ante distance", int, null=True) if known else None
        yield ExpectedForm(str(number), form, phenomenon, distance, get(place, record, "ref segment", str))


def _form(place: Place, record: Any, key: str) -> str:
    form: str = get(place, record, key, str).strip()
    if not words(form):
        raise place.error(f"expected a word at the key {key!r}, found {form!r}")
    return form


def decide(form_set: FormSet, translations: Sequence[str], matching: str) -> List[bool]:
    """Whether each translation has its example's form. Translations are those of the current sentences alone;
    ctxpro's scorer takes the last sentence of a translation, which may contain its context."""
    matches = MATCHINGS[matching]
    return [matches(text, each.form) for text, each in zip(translations, form_set.examples, strict=True)]


def form_report(form_set: FormSet, found: Sequence[bool], matching: str) -> Dict[str, Any]:
    """How often translations have the expected form, by what ``decide`` found; for JSON, with the keys of a
    contrastive set's report, so that the same commands read both. Of the groups of known distance it has the
    ``disc_numbers``, and at the key ``references``, where all are known, the same report on the references:
    their share is the most to be hoped for."""
    references = [example.reference for example in form_set.examples if example.reference is not None]
    report = _report(form_set, found, matching)
    if len(references) < len(form_set.examples):
        return report
    return {**report, "references": _report(form_set, decide(form_set, references, matching), matching)}


def _report(form_set: FormSet, found: Sequence[bool], matching: str) -> Dict[str, Any]:
    choices = [RIGHT if one else WRONG for one in found]
    distances = tally_distances((each.distance for each in form_set.examples), choices)
    return {
        "name": form_set.name,
        "convention": matching,
        "content": fingerprint(sorted(map(_content, form_set.examples))),
        **tally(choices),
        "phenomena": tally_groups((each.phenomenon for each in form_set.examples), choices),
        "forms": tally_groups((each.form.lower() for each in form_set.examples), choices),
        "distances": distances,
        **disc_numbers({name: group for name, group in distances.items() if name != "unknown"}),
    }


def form_table(report: Dict[str, Any]) -> str:
    """An aligned table: how many translations have the form, and how many references if there are any."""
    references = report.get("references", {})
    head = [f"{report['name']} ({report['convention']})", "examples", "found", "%"]
    rows = [[*head, "references %"] if references else head]

    def add(label: str, one: Tally, most: Optional[Tally]) -> None:
        row = [label, str(one["examples"]), str(one["correct"]), f"{one['accuracy']:.2f}"]
        rows.append([*row, f"{most['accuracy']:.2f}"] if most else row)

    add("all", report, references)
    labels = {"phenomena": "", "forms": "form ", "distances": "distance "}
    if report["forms"].keys() == report["phenomena"].keys() or len(report["forms"]) > SHOWN:
        del labels["forms"]
    for kind, label in labels.items():
        for name, one in report[kind].items():
            shown = phenomenon_name(name) if kind == "phenomena" else label + name
            add(shown, one, references and references[kind][name])
    for key, name in DISC_NAMES.items():
        if report[key] is not None:
            rows.append([name, "", "", f"{report[key]:.2f}", *([""] if references else [])])
    return aligned_table(rows)


def _content(example: ExpectedForm) -> str:
    """A fingerprint of an example."""
    return fingerprint([example.form, example.reference])


def decision_lines(form_set: FormSet, found: Sequence[bool], matching: str) -> Iterator[str]:
    """JSON lines for ``ctxmt compare contrast``: ``chosen`` is 1 if the form is there, ``correct`` is 1."""
    for example, decision in zip(form_set.examples, found, strict=True):
        record = {"set": form_set.name, "id": example.id, "phenomenon": example.phenomenon,
                  "distance": example.distance, "expected": example.form, "correct": RIGHT.chosen,
                  "content": _content(example),
                  "chosen": (RIGHT if decision else WRONG).chosen, "convention": matching}  # fmt: skip
        yield json.dumps(record, ensure_ascii=False)
