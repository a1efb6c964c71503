"""The words of the demo corpus and the settings of its films, from words.yaml and settings.yaml, and the
forms of words in phrases: French articles, elision and agreement, and English a/an."""

from itertools import product
from pathlib import Path
from typing import Any, Dict, Iterable, List, NamedTuple, Tuple

import yaml

MASCULINE, FEMININE = GENDERS = 0, 1
SINGULAR, PLURAL = 0, 1
_DETERMINERS = {  # in English: singular, plural; in French: masculine, feminine, plural
    "indefinite": ("a", "some", "un", "une", "des"),
    "definite": ("the", "the", "le", "la", "les"),
    "demonstrative": ("this", "these", "ce", "cette", "ces"),
}
DETERMINERS = tuple(_DETERMINERS)


class Pair(NamedTuple):
    en: str
    fr: str


class Noun(NamedTuple):
    """A noun with a regular plural in both languages and no aspirated h."""

    en: str
    fr: str
    gender: int


class Adjective(NamedTuple):
    """An adjective with its French masculine and feminine; the masculine plural only where irregular."""

    en: str
    masculine: str
    feminine: str
    masculine_plural: str = ""


class Verb(NamedTuple):
    """An intransitive verb: English base form, third person; French tu, il, vous, participle with avoir."""

    en: str
    does: str
    tu: str
    il: str
    vous: str
    done: str


class Homograph(NamedTuple):
    """An English word whose two senses have different French nouns, which the predicates ``cues`` tell."""

    en: str
    senses: Tuple[Noun, ...]
    cues: Tuple[Tuple[Pair, ...], ...]


class Term(NamedTuple):
    """A person's name, or a masculine noun for one, with two equally good French forms."""

    en: str
    fr: Tuple[str, str]
    is_name: bool


class Setting(NamedTuple):
    """Where a film plays; see settings.yaml."""

    genres: Tuple[str, ...]
    plots: Tuple[str, ...]
    people: Tuple[Pair, ...]
    acts: Tuple[Pair, ...]


def _read(name: str) -> Dict[str, Any]:
    return yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def _pairs(words: Dict[str, str]) -> Tuple[Pair, ...]:
    return tuple(map(Pair._make, words.items()))


def _homograph(en: str, senses: Iterable[List[Any]]) -> Homograph:
    nouns = tuple(Noun(en, fr, "mf".index(gender)) for fr, gender, _ in senses)
    return Homograph(en, nouns, tuple(_pairs(cues) for _, _, cues in senses))


def _setting(genres: List[str], heroes: List[str], stories: List[str], people: Any, acts: Any) -> Setting:
    return Setting(
        tuple(genres), tuple(map(" ".join, product(heroes, stories))), _pairs(people), _pairs(acts)
    )


_WORDS = _read("words.yaml")
PEOPLE, TIMES, ADVERBS, MOTIONS, GETTING, HOLDING, MEETING = (
    _pairs(_WORDS[kind])
    for kind in ("people", "times", "adverbs", "motions", "getting", "holding", "meeting")
)
YOUR_PEOPLE = tuple(_WORDS["your_people"].items())
VERBS = [Verb(*en.split(", "), *forms) for en, forms in _WORDS["verbs"].items()]
NOUNS_BY_GENDER = [
    [Noun(en, fr, gender) for en, fr in _WORDS[kind].items()]
    for gender, kind in enumerate(("masculine_nouns", "feminine_nouns"))
]
NOUNS = [noun for nouns in NOUNS_BY_GENDER for noun in nouns]
THING_ADJECTIVES, PERSON_ADJECTIVES = (
    [Adjective(en, *forms) for en, forms in _WORDS[f"{kind}_adjectives"].items()]
    for kind in ("thing", "person")
)
HOMOGRAPHS = [_homograph(*entry) for entry in _WORDS["homographs"].items()]
TERMS = [
    Term(en, tuple(forms), kind == "names")
    for kind in ("names", "titles")
    for en, forms in _WORDS[kind].items()
]
REGISTER_TEXTS, UNSEEN_REGISTER_TEXTS, ZERO_SHOT_REGISTER_TEXTS = (
    _WORDS[f"{kind}register_texts"] for kind in ("", "unseen_", "zero_shot_")
)
SPEAKER_TEXTS, ADDRESSEE_TEXTS = _WORDS["speaker_texts"], _WORDS["addressee_texts"]
_BY_REGISTER = _read("settings.yaml").values()
SETTINGS = [[_setting(**each) for each in settings] for settings in _BY_REGISTER]


def elides(word: str) -> bool:
    """Whether le, de and que lose their vowel before this word (the lexicon has no aspirated h)."""
    return word[0].lower() in "aàâeéèêiîoôuûh"


def before(word: str, small: str) -> str:
    """A word, or what begins with it, behind le, la, de or que."""
    return f"{small[:-1]}'{word}" if elides(word) else f"{small} {word}"


def the(word: str, gender: int) -> str:
    return before(word, "la" if gender == FEMININE else "le")


def of_the(word: str, gender: int) -> str:
    """``de`` with the definite article and a singular noun."""
    return f"du {word}" if gender != FEMININE and not elides(word) else f"de {the(word, gender)}"


def french_phrase(noun: Noun, number: int, determiner: str) -> str:
    _, _, masculine, feminine, plural = _DETERMINERS[determiner]
    if number == PLURAL:
        return f"{plural} {noun.fr}s"
    if determiner == "definite":
        return the(noun.fr, noun.gender)
    if noun.gender == FEMININE:
        return f"{feminine} {noun.fr}"
    return f"{'cet' if masculine == 'ce' and elides(noun.fr) else masculine} {noun.fr}"


def english_phrase(noun: Noun, number: int, determiner: str) -> str:
    """The English of ``french_phrase``."""
    singular, plural, *_ = _DETERMINERS[determiner]
    if number == PLURAL:
        return f"{plural} {noun.en}s"
    return f"{'an' if singular == 'a' and noun.en[0] in 'aeiou' else singular} {noun.en}"


def agree(adjective: Adjective, gender: int, number: int) -> str:
    if gender == FEMININE:
        return adjective.feminine + ("s" if number == PLURAL else "")
    if number != PLURAL:
        return adjective.masculine
    if adjective.masculine_plural:
        return adjective.masculine_plural
    return adjective.masculine + ("" if adjective.masculine[-1] in "sx" else "s")
