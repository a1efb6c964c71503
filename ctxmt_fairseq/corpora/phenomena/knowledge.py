"""What the rules must know of languages: ``phenomena.yaml``."""

import re
from pathlib import Path
from typing import Any, Dict, List, Mapping, NamedTuple, Pattern

import yaml

from ctxmt_fairseq.text.languages import primary

KNOWN: Dict[str, Dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("phenomena.yaml").read_bytes())
NEVER = "(?!)"


class Form(NamedTuple):
    """A pronoun that has a gender.

    Attributes:
        genders: those of the nouns that it can stand for.
        others: what would stand for a noun of another gender.
    """

    genders: List[str]
    others: List[str]


class SourceLanguage:
    """The words of a source language whose translation must decide more than they say.

    Attributes:
        pronouns: by the number of their translation.
    """

    def __init__(self, language: str):
        known = KNOWN["sources"].get(primary(language), {})
        self.known = bool(known)
        self.pronouns: Dict[str, List[str]] = known.get("pronouns", {})
        self.others, self.you, self.auxiliaries = _patterns(known, "others", "you", "auxiliaries")


class TargetLanguage:
    """The words that show what was decided; there are none in a language that is not known.

    Attributes:
        forms: by number, of each pronoun that has a gender.
        formality: a pattern for each class.
        doubtful, subjects, verbs: of words of formality, see the file.
        determiners: the genders of the nouns behind them.
    """

    def __init__(self, language: str):
        known = KNOWN["targets"].get(primary(language), {})
        formality = known.get("formality", {})
        self.forms: Dict[str, Dict[str, Form]] = {}
        for number, rows in known.get("pronouns", {}).items():
            for row in rows:
                for form in row.values():
                    genders = [gender for gender, other in row.items() if other == form]
                    others = list(dict.fromkeys(other for other in row.values() if other != form))
                    self.forms.setdefault(number, {}).setdefault(form, Form(genders, others))
        names = "informal", "formal", "doubtful", "subjects", "verbs"
        informal, formal, self.doubtful, self.subjects, self.verbs = _patterns(formality, *names)
        self.formality = {"informal": informal, "formal": formal} if formality else {}
        self.impersonal, self.auxiliaries = _patterns(known, "impersonal", "auxiliaries")
        self.determiners: Dict[str, List[str]] = {}
        for gender, words in known.get("determiners", {}).items():
            for word in words.split():
                self.determiners.setdefault(word, []).append(gender)


def _patterns(known: Mapping[str, str], *names: str) -> List[Pattern[str]]:
    texts = [known.get(name, NEVER) for name in names]
    return [re.compile(text, 0 if text != text.lower() else re.IGNORECASE) for text in texts]
