"""Makes French articles, elision and agreement, and English a/an."""

from ctxmt_fairseq.corpora.demo_corpus.lexicon import FEMININE, PLURAL, Adjective, Noun

DETERMINERS = ("indefinite", "definite", "demonstrative")


def elides(word: str) -> bool:
    """Whether le, de and que lose their vowel before this word (the lexicon has no aspirated h)."""
    return word[0].lower() in "aàâeéèêiîoôuûh"


def of(name: str) -> str:
    """``de`` before a name."""
    return f"d'{name}" if elides(name) else f"de {name}"


def that(clause: str) -> str:
    """``que`` before a clause."""
    return f"qu'{clause}" if elides(clause) else f"que {clause}"


def the(word: str, gender: int) -> str:
    """The definite article and a singular noun."""
    return f"l'{word}" if elides(word) else f"{'la' if gender == FEMININE else 'le'} {word}"


def of_the(word: str, gender: int) -> str:
    """``de`` with the definite article and a singular noun."""
    return f"du {word}" if gender != FEMININE and not elides(word) else f"de {the(word, gender)}"


def french_phrase(noun: Noun, number: int, determiner: str) -> str:
    """A determiner and a noun."""
    feminine = noun.gender == FEMININE
    if number == PLURAL:
        plural = {"indefinite": "des", "definite": "les", "demonstrative": "ces"}
        return f"{plural[determiner]} {noun.fr}s"
    if determiner == "definite":
        return the(noun.fr, noun.gender)
    if determiner == "indefinite":
        return f"{'une' if feminine else 'un'} {noun.fr}"
    return f"{'cette' if feminine else 'cet' if elides(noun.fr) else 'ce'} {noun.fr}"


def english_phrase(noun: Noun, number: int, determiner: str) -> str:
    """The English of ``french_phrase``."""
    if number == PLURAL:
        plural = {"indefinite": "some", "definite": "the", "demonstrative": "these"}
        return f"{plural[determiner]} {noun.en}s"
    singular = {
        "indefinite": "an" if noun.en[0] in "aeiou" else "a",
        "definite": "the",
        "demonstrative": "this",
    }
    return f"{singular[determiner]} {noun.en}"


def agree(adjective: Adjective, gender: int, number: int) -> str:
    """The adjective's form for a gender and a number."""
    if gender == FEMININE:
        return adjective.feminine + ("s" if number == PLURAL else "")
    if number != PLURAL:
        return adjective.masculine
    if adjective.masculine_plural:
        return adjective.masculine_plural
    return adjective.masculine + ("" if adjective.masculine[-1] in "sx" else "s")
