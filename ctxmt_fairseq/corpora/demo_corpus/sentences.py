"""Every sentence of the demo corpus, as tables: English with its French variants.

A sentence with several variants is ambiguous: its English does not tell which French is right. What tells
is the table's matter: the antecedent's gender, the sense, the register, the speaker ...
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Iterable, List, Tuple

from ctxmt_fairseq.corpora.demo_corpus import lexicon as words
from ctxmt_fairseq.corpora.demo_corpus.french import (
    DETERMINERS,
    agree,
    english_phrase,
    french_phrase,
    of,
    of_the,
    that,
    the,
)
from ctxmt_fairseq.corpora.demo_corpus.lexicon import (
    FEMININE,
    MASCULINE,
    PLURAL,
    SINGULAR,
    Homograph,
    Noun,
    Term,
)
from ctxmt_fairseq.corpora.demo_corpus.settings import Setting

table = lru_cache(maxsize=None)
GENDERS = (MASCULINE, FEMININE)


@dataclass(frozen=True)
class Sentence:
    """An English sentence and its French variants, in the order that its table's docstring gives."""

    en: str
    fr: Tuple[str, ...]


@dataclass(frozen=True)
class Frame:
    """A sentence about a thing, with ``{}`` where the noun phrase goes."""

    en: str
    fr: str
    determiner: str


def _sentence(en: str, *fr: str) -> Sentence:
    """Tidy spaces (an empty time leaves one before the full stop) and start with a capital."""

    def tidy(text: str) -> str:
        text = " ".join(text.split()).replace(" .", ".").replace(" ,", ",")
        return text[0].upper() + text[1:]

    return Sentence(tidy(en), tuple(map(tidy, fr)))


@table
def fillers() -> List[Sentence]:
    """One variant: nothing in them is ambiguous or decides anything."""
    return [
        _sentence(f"{en} {verb.en[1]} {when}.", f"{fr} {verb.present[1]} {quand}.")
        for (en, fr), verb, (when, quand) in product(words.PEOPLE, words.VERBS, words.ADVERBS)
    ]


@table
def setting_lines(setting: Setting) -> List[Sentence]:
    """One variant: what happens in a setting."""
    return [
        _sentence(f"{en} {did} {when}.", f"{fr} {fit} {quand}.")
        for (en, fr), (did, fit), (when, quand) in product(setting.people, setting.acts, words.TIMES)
    ]


@table
def register_lines() -> List[Sentence]:
    """Two variants: tu, vous. The person spoken to has no gender in them."""
    lines = []
    for verb, (when, quand) in product(words.VERBS, words.ADVERBS):
        tu, il, vous = verb.present
        lines.append(_sentence(f"You {verb.en[0]} {when}.", f"Tu {tu} {quand}.", f"Vous {vous} {quand}."))
        lines.append(
            _sentence(
                f"Do you {verb.en[0]} {when}?",
                f"Est-ce que tu {tu} {quand} ?",
                f"Est-ce que vous {vous} {quand} ?",
            )
        )
        lines += [
            _sentence(f"{en} {verb.en[1]} {when}.", *(f"{who} {il} {quand}." for who in fr))
            for en, fr in words.YOUR_PEOPLE
        ]
    return lines


def _about_a_person(en: str, was: str, subjects: Iterable[Tuple[str, str, str, int]]) -> List[Sentence]:
    """Sentences whose adjective or participle agrees; a subject is (pronoun, is, was, gender)."""
    subjects = list(subjects)
    be = {"I": "am", "You": "are"}[en]
    lines = []
    for adjective in words.PERSON_ADJECTIVES:
        forms = [(who, is_, had, agree(adjective, gender, SINGULAR)) for who, is_, had, gender in subjects]
        lines += [
            _sentence(f"{en} {be} {adjective.en}.", *(f"{who} {v} {a}." for who, v, _, a in forms)),
            _sentence(
                f"{en} {be} always {adjective.en}.", *(f"{who} {v} toujours {a}." for who, v, _, a in forms)
            ),
            _sentence(f"{en} {be} very {adjective.en}.", *(f"{who} {v} très {a}." for who, v, _, a in forms)),
        ]
        lines += [
            _sentence(
                f"{en} {was} {adjective.en} {when}.", *(f"{who} {v} {a} {quand}." for who, _, v, a in forms)
            )
            for when, quand in words.TIMES
        ]
    for (moved, participle), (when, quand) in product(words.MOTIONS, words.TIMES):
        endings = [(who, is_, "e" * (gender == FEMININE)) for who, is_, _, gender in subjects]
        lines.append(
            _sentence(
                f"{en} {moved} {when}.", *(f"{who} {v} {participle}{e} {quand}." for who, v, e in endings)
            )
        )
    return lines


@table
def speaker_lines() -> List[Sentence]:
    """Two variants: the speaker is a man, a woman."""
    lines = _about_a_person("I", "was", [("Je", "suis", "étais", gender) for gender in GENDERS])
    return [Sentence(line.en, tuple(fr.replace("Je étais", "J'étais") for fr in line.fr)) for line in lines]


@table
def addressee_lines() -> List[Sentence]:
    """Four variants, at 2 * register + gender: tu to a man, tu to a woman, vous to a man, vous to a woman."""
    forms = (("Tu", "es", "étais"), ("Vous", "êtes", "étiez"))
    return _about_a_person("You", "were", [(*form, gender) for form in forms for gender in GENDERS])


@table
def antecedent_frames() -> List[Frame]:
    """What introduces a thing."""
    return [
        Frame(f"{en} {did} {{}} {when}.", f"{fr} {fit} {{}} {quand}.", determiner)
        for (en, fr), (did, fit), determiner, (when, quand) in product(
            words.PEOPLE, words.GETTING, DETERMINERS, words.TIMES
        )
    ]


@table
def explanation_frames() -> List[Frame]:
    """What names a thing after the pronoun."""
    stems = [("I mean {}.", "Je veux dire {}.")]
    for en, fr in words.PEOPLE:
        stems.append((f"{en} was waiting for {{}}.", f"{fr} attendait {{}}."))
        stems.append((f"{en} needed {{}} so much.", f"{fr} voulait tant {{}}."))
    return [Frame(en, fr, determiner) for (en, fr), determiner in product(stems, DETERMINERS[1:])]


def fill(frame: Frame, noun: Noun, number: int) -> Sentence:
    """The frame's sentence about a noun; one variant."""
    return _sentence(
        frame.en.format(english_phrase(noun, number, frame.determiner)),
        frame.fr.format(french_phrase(noun, number, frame.determiner)),
    )


@table
def nouns(gender: int) -> List[Noun]:
    """The things of one gender."""
    return [noun for noun in words.NOUNS if noun.gender == gender]


def _adjective_lines(number: int) -> List[Tuple[str, Tuple[str, ...]]]:
    """English and French (masculine, feminine) of what is said about one or several things."""
    it, is_, was = ("they", "are", "were") if number == PLURAL else ("it", "is", "was")
    il = ("ils", "elles") if number == PLURAL else ("il", "elle")
    est, nest, etait = ("sont", "ne sont", "étaient") if number == PLURAL else ("est", "n'est", "était")
    lines = []
    for adjective in words.THING_ADJECTIVES:
        pairs = [(il[gender], agree(adjective, gender, number)) for gender in GENDERS]
        lines += [
            (f"{it} {is_} {adjective.en}.", tuple(f"{who} {est} {a}." for who, a in pairs)),
            (f"{it} {is_} very {adjective.en}.", tuple(f"{who} {est} très {a}." for who, a in pairs)),
            (f"{it} {is_} not {adjective.en}.", tuple(f"{who} {nest} pas {a}." for who, a in pairs)),
            (f"{it} {was} {adjective.en}.", tuple(f"{who} {etait} {a}." for who, a in pairs)),
        ]
    return lines


@table
def pronoun_lines(number: int) -> List[Sentence]:
    """Two variants: the antecedent is masculine, feminine."""
    lines = [_sentence(en, *fr) for en, fr in _adjective_lines(number)]
    if number == SINGULAR:
        lines += [
            _sentence(f"{en} {holds} it.", *(f"{fr} {it} {tient}." for it in ("le", "la")))
            for (en, fr), (holds, tient) in product(words.PEOPLE, words.HOLDING)
        ]
    return lines


@table
def cataphora_lines(number: int) -> List[Sentence]:
    """Two variants: the thing named in the FOLLOWING sentence is masculine, feminine."""
    return [
        _sentence(f"well, {en}", *(f"eh bien, {variant}" for variant in fr))
        for en, fr in _adjective_lines(number)
    ]


@table
def sense_cues(homograph: Homograph, sense: int) -> List[Sentence]:
    """One variant: what makes one sense of a homograph likely."""
    return [
        _sentence(f"{en} {did} {when}.", f"{fr} {fit} {quand}.")
        for (en, fr), (did, fit), (when, quand) in product(words.PEOPLE, homograph.cues[sense], words.TIMES)
    ]


@table
def homograph_lines(homograph: Homograph) -> List[Sentence]:
    """Two variants: the senses of the homograph."""
    phrases = [the(sense.fr, sense.gender) for sense in homograph.senses]
    talk = [f"Nous avons parlé {of_the(sense.fr, sense.gender)}." for sense in homograph.senses]
    lines = [
        _sentence(f"We talked about the {homograph.en}.", *talk),
        _sentence(f"Where was the {homograph.en}?", *(f"Où était {phrase} ?" for phrase in phrases)),
    ]
    return lines + [
        _sentence(f"{en} {did} the {homograph.en}.", *(f"{fr} {fit} {phrase}." for phrase in phrases))
        for (en, fr), (did, fit) in product(words.PEOPLE, words.MEETING)
    ]


@table
def term_lines(term: Term) -> List[Sentence]:
    """Two variants: the French forms of the term."""
    forms = [form if term.is_name else the(form, MASCULINE) for form in term.fr]
    about = [of(form) if term.is_name else of_the(form, MASCULINE) for form in term.fr]
    lines = [_sentence(f"We talked about {term.en}.", *(f"Nous avons parlé {form}." for form in about))]
    lines += [
        _sentence(f"{en} {did} {term.en} {when}.", *(f"{fr} {fit} {form} {quand}." for form in forms))
        for (en, fr), (did, fit), (when, quand) in product(words.PEOPLE, words.MEETING, words.TIMES)
    ]
    return lines + [
        _sentence(
            f"{term.en} {verb.en[1]} {when}.", *(f"{form} {verb.present[1]} {quand}." for form in forms)
        )
        for verb, (when, quand) in product(words.VERBS, words.ADVERBS)
    ]


@table
def denials(verb: words.Verb) -> List[Sentence]:
    """One variant: someone did not do it."""
    return [
        _sentence(f"{en} did not {verb.en[0]} {when}.", f"{fr} n'a pas {verb.participle} {quand}.")
        for (en, fr), (when, quand) in product(words.PEOPLE, words.TIMES)
    ]


@table
def ellipsis_lines() -> List[Sentence]:
    """One variant per verb, in the order of ``lexicon.VERBS``: the verb that the English leaves out."""
    done = [verb.participle for verb in words.VERBS]
    lines = [
        _sentence("But I did.", *(f"Mais moi, j'ai {what}." for what in done)),
        _sentence("But we did.", *(f"Mais nous avons {what}." for what in done)),
        _sentence("I did.", *(f"Moi, j'ai {what}." for what in done)),
    ]
    for en, fr in (("everybody else", "tous les autres"), ("the others", "les autres")):
        lines.append(_sentence(f"{en} did.", *(f"{fr} ont {what}." for what in done)))
        lines.append(_sentence(f"did {en}?", *(f"est-ce {that(fr)} ont {what} ?" for what in done)))
        lines.append(_sentence(f"but {en} did.", *(f"mais {fr} ont {what}." for what in done)))
    return lines
