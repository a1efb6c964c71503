"""Makes every sentence of the demo corpus, in tables: English with its French variants.

A sentence with several variants is ambiguous: its English does not tell which French is right. What tells it
is the antecedent's gender, the sense, the register, the speaker, .., as the table's docstring says.
"""

from functools import lru_cache
from itertools import product
from typing import Any, Iterable, List, NamedTuple, Sequence, Tuple

from ctxmt_fairseq.corpora.demo_corpus import lexicon as words

table = lru_cache(maxsize=None)
Template = Sequence[str]  # English, and the French variants


class Sentence(NamedTuple):
    """An English sentence and its French variants, in the order that its table's docstring gives."""

    en: str
    fr: Tuple[str, ...]


class Frame(NamedTuple):
    """A sentence about a thing, with ``{}`` where the noun phrase goes."""

    en: str
    fr: str
    determiner: str


def _sentence(en: str, *fr: str) -> Sentence:
    """Tidy spaces (an empty time leaves one before the full stop) and begin with a capital."""

    def tidy(text: str) -> str:
        text = " ".join(text.split()).replace(" .", ".").replace(" ,", ",")
        return text[0].upper() + text[1:]

    return Sentence(tidy(en), tuple(map(tidy, fr)))


def _all(*templates: Template, **words: Iterable[Any]) -> List[Sentence]:
    """Fill templates such as ``{who.en} slept`` with every choice of an entry from each list."""
    choices = (dict(zip(words, choice, strict=True)) for choice in product(*words.values()))
    return [_sentence(*(text.format(**choice) for text in each)) for choice in choices for each in templates]


@table
def fillers() -> List[Sentence]:
    """One variant: nothing in them is ambiguous or decides anything."""
    line = "{who.en} {verb.does} {when.en}.", "{who.fr} {verb.il} {when.fr}."
    return _all(line, who=words.PEOPLE, verb=words.VERBS, when=words.ADVERBS)


@table
def setting_lines(setting: words.Setting) -> List[Sentence]:
    """One variant: what happens in a setting."""
    line = "{who.en} {did.en} {when.en}.", "{who.fr} {did.fr} {when.fr}."
    return _all(line, who=setting.people, did=setting.acts, when=words.TIMES)


@table
def register_lines() -> List[Sentence]:
    """Two variants: tu, vous. The person spoken to has no gender in them."""
    you = "You {verb.en} {when.en}.", "Tu {verb.tu} {when.fr}.", "Vous {verb.vous} {when.fr}."
    ask = "Est-ce que tu {verb.tu} {when.fr} ?", "Est-ce que vous {verb.vous} {when.fr} ?"
    about = [
        (f"{en} {{verb.does}} {{when.en}}.", *(f"{who} {{verb.il}} {{when.fr}}." for who in fr))
        for en, fr in words.YOUR_PEOPLE
    ]
    lines = (you, ("Do you {verb.en} {when.en}?", *ask), *about)
    return _all(*lines, verb=words.VERBS, when=words.ADVERBS)


def _about_a_person(en: str, subjects: Sequence[Tuple[str, str, str, int]]) -> List[Sentence]:
    """Make sentences whose adjective or participle agrees; a subject is (pronoun, is, was, gender)."""
    am, was = {"I": ("am", "was"), "You": ("are", "were")}[en]
    lines = []
    for adjective in words.PERSON_ADJECTIVES:
        forms = [
            (who, is_, had, words.agree(adjective, gender, words.SINGULAR))
            for who, is_, had, gender in subjects
        ]
        for much, beaucoup in (("", ""), ("always", "toujours"), ("very", "très")):
            french = [f"{who} {is_} {beaucoup} {form}." for who, is_, _, form in forms]
            lines.append(_sentence(f"{en} {am} {much} {adjective.en}.", *french))
        french = [f"{who} {had} {form} {{when.fr}}." for who, _, had, form in forms]
        lines += _all((f"{en} {was} {adjective.en} {{when.en}}.", *french), when=words.TIMES)
    french = [f"{who} {is_} {{did.fr}}{'e' * gender} {{when.fr}}." for who, is_, _, gender in subjects]
    return lines + _all((f"{en} {{did.en}} {{when.en}}.", *french), did=words.MOTIONS, when=words.TIMES)


@table
def speaker_lines() -> List[Sentence]:
    """Two variants: the speaker is a man, a woman."""
    lines = _about_a_person("I", [("Je", "suis", "étais", gender) for gender in words.GENDERS])
    return [Sentence(line.en, tuple(fr.replace("Je étais", "J'étais") for fr in line.fr)) for line in lines]


@table
def addressee_lines() -> List[Sentence]:
    """Four variants, at 2 * register + gender: tu to a man, tu to a woman, vous to a man, vous to a woman."""
    forms = ("Tu", "es", "étais"), ("Vous", "êtes", "étiez")
    return _about_a_person("You", [(*form, gender) for form in forms for gender in words.GENDERS])


@table
def antecedent_frames() -> List[Frame]:
    """What introduces a thing."""
    return [
        Frame(f"{who.en} {did.en} {{}} {when.en}.", f"{who.fr} {did.fr} {{}} {when.fr}.", determiner)
        for who, did, determiner, when in product(words.PEOPLE, words.GETTING, words.DETERMINERS, words.TIMES)
    ]


@table
def explanation_frames() -> List[Frame]:
    """What names a thing after the pronoun."""
    stems = [("I mean {}.", "Je veux dire {}.")]
    for en, fr in words.PEOPLE:
        stems.append((f"{en} was waiting for {{}}.", f"{fr} attendait {{}}."))
        stems.append((f"{en} needed {{}} so much.", f"{fr} voulait tant {{}}."))
    return [Frame(en, fr, determiner) for (en, fr), determiner in product(stems, words.DETERMINERS[1:])]


def fill(frame: Frame, noun: words.Noun, number: int) -> Sentence:
    """Make the frame's sentence about a noun; it has one variant."""
    return _sentence(
        frame.en.format(words.english_phrase(noun, number, frame.determiner)),
        frame.fr.format(words.french_phrase(noun, number, frame.determiner)),
    )


def _adjective_lines(number: int) -> List[Template]:
    """What is said about one or several things; French masculine, feminine."""
    it, is_, was = ("they", "are", "were") if number == words.PLURAL else ("it", "is", "was")
    il = ("ils", "elles") if number == words.PLURAL else ("il", "elle")
    est, nest, etait = ("sont", "ne sont", "étaient") if number == words.PLURAL else ("est", "n'est", "était")
    saying = ((is_, est), (f"{is_} very", f"{est} très"), (f"{is_} not", f"{nest} pas"), (was, etait))
    return [
        (
            f"{it} {en} {adjective.en}.",
            *(f"{il[gender]} {fr} {words.agree(adjective, gender, number)}." for gender in words.GENDERS),
        )
        for adjective, (en, fr) in product(words.THING_ADJECTIVES, saying)
    ]


@table
def pronoun_lines(number: int) -> List[Sentence]:
    """Two variants: the antecedent is masculine, feminine."""
    lines = [_sentence(*line) for line in _adjective_lines(number)]
    if number == words.SINGULAR:
        held = "{who.en} {holds.en} it.", "{who.fr} le {holds.fr}.", "{who.fr} la {holds.fr}."
        lines += _all(held, who=words.PEOPLE, holds=words.HOLDING)
    return lines


@table
def cataphora_lines(number: int) -> List[Sentence]:
    """Two variants: the thing named in the FOLLOWING sentence is masculine, feminine."""
    return [
        _sentence(f"well, {en}", *(f"eh bien, {variant}" for variant in fr))
        for en, *fr in _adjective_lines(number)
    ]


@table
def sense_cues(homograph: words.Homograph, sense: int) -> List[Sentence]:
    """One variant: what makes one sense of a homograph likely."""
    line = "{who.en} {did.en} {when.en}.", "{who.fr} {did.fr} {when.fr}."
    return _all(line, who=words.PEOPLE, did=homograph.cues[sense], when=words.TIMES)


@table
def homograph_lines(homograph: words.Homograph) -> List[Sentence]:
    """Two variants: the senses of the homograph."""
    it, phrases = f"the {homograph.en}", [words.the(sense.fr, sense.gender) for sense in homograph.senses]
    talk = [f"Nous avons parlé {words.of_the(sense.fr, sense.gender)}." for sense in homograph.senses]
    did = f"{{who.en}} {{did.en}} {it}.", *(f"{{who.fr}} {{did.fr}} {phrase}." for phrase in phrases)
    return [
        _sentence(f"We talked about {it}.", *talk),
        _sentence(f"Where was {it}?", *(f"Où était {phrase} ?" for phrase in phrases)),
        *_all(did, who=words.PEOPLE, did=words.MEETING),
    ]


@table
def term_lines(term: words.Term) -> List[Sentence]:
    """Two variants: the French forms of the term."""
    forms = [form if term.is_name else words.the(form, words.MASCULINE) for form in term.fr]
    about = [
        words.before(form, "de") if term.is_name else words.of_the(form, words.MASCULINE) for form in term.fr
    ]
    met = (
        f"{{who.en}} {{did.en}} {term.en} {{when.en}}.",
        *(f"{{who.fr}} {{did.fr}} {x} {{when.fr}}." for x in forms),
    )
    does = f"{term.en} {{verb.does}} {{when.en}}.", *(f"{form} {{verb.il}} {{when.fr}}." for form in forms)
    return [
        _sentence(f"We talked about {term.en}.", *(f"Nous avons parlé {form}." for form in about)),
        *_all(met, who=words.PEOPLE, did=words.MEETING, when=words.TIMES),
        *_all(does, verb=words.VERBS, when=words.ADVERBS),
    ]


@table
def denials(verb: words.Verb) -> List[Sentence]:
    """One variant: someone did not do it."""
    line = f"{{who.en}} did not {verb.en} {{when.en}}.", f"{{who.fr}} n'a pas {verb.done} {{when.fr}}."
    return _all(line, who=words.PEOPLE, when=words.TIMES)


@table
def ellipsis_lines() -> List[Sentence]:
    """One variant per verb, in the order of ``lexicon.VERBS``: the verb that the English leaves out."""
    lines = [("But I did.", "Mais moi, j'ai"), ("But we did.", "Mais nous avons"), ("I did.", "Moi, j'ai")]
    for en, fr in (("everybody else", "tous les autres"), ("the others", "les autres")):
        lines += [(f"{en} did.", f"{fr} ont"), (f"did {en}?", f"est-ce {words.before(fr, 'que')} ont")]
        lines.append((f"but {en} did.", f"mais {fr} ont"))
    ends = {"?": " ?", ".": "."}
    return [_sentence(en, *(f"{fr} {verb.done}{ends[en[-1]]}" for verb in words.VERBS)) for en, fr in lines]
