"""What in a translation a sentence alone does not decide, by rules after those of MuDA (Fernandes et al.
2023, "When Does Translation Require Context?") and ctxpro (Wicks and Post 2023, "Identifying
Context-Dependent Translations for Evaluation Set Production").

Both ask a coreference model for the antecedent of a pronoun. Here it is a noun that agrees in gender and
number with the translation of the pronoun: one that stands before it in the sentence; or, if none does, the
nearest one in the lines before.
"""

from typing import Callable, Dict, Iterator, List, Optional, Sequence

from ctxmt_fairseq.corpora.phenomena.knowledge import SourceLanguage, TargetLanguage
from ctxmt_fairseq.corpora.phenomena.lines import Hit, Line, clause
from ctxmt_fairseq.text.annotation import AnnotatedWord, is_noun

VERBS = ("VERB", "AUX")
_OPEN = (*VERBS, "NOUN", "ADJ", "PROPN")  # parts of speech that a verb is taken for
_ENDS = ".!?:…"
# What may stand before a noun without deciding its case.
_UNGOVERNING = ("ADJ", "DET", "PART", "CCONJ", "INTJ", "PUNCT", "SYM", None)


class Rules:
    """The rules of a pair of languages. Each yields the hits of a line, given the lines before it, the
    nearest one first."""

    def __init__(self, source: str, target: str):
        self.source, self.target = SourceLanguage(source), TargetLanguage(target)

    def hits(self, line: Line, before: Sequence[Line]) -> Iterator[Hit]:
        for rule in (self.pronouns, self.formality, self.ellipsis, self.inflection):
            yield from rule(line, before)

    def pronouns(self, line: Line, before: Sequence[Line]) -> Iterator[Hit]:
        """Pronouns with a gender, whose antecedent stands in the lines before and none in their own."""
        impersonal = [match.start() for match in self.target.impersonal.finditer(line.text)]
        addresses = self._addresses(line)
        for at, word in enumerate(line.target):
            for number, forms in self.target.forms.items():
                form = forms.get(word.text.lower())
                asked = self.source.pronouns.get(number, ())
                if (
                    form is None
                    or at in addresses
                    or not any(each.text.lower() in asked for each in line.sources(at))
                ):
                    continue
                agrees = _agreeing(form.genders, number)
                distance = _nearest(before, agrees)
                if distance and word.start not in impersonal and not any(map(agrees, line.target[:at])):
                    yield Hit("pronoun", at, distance, form.others)

    def formality(self, line: Line, before: Sequence[Line]) -> Iterator[Hit]:
        """Words that address somebody formally or informally, which the source does not."""
        for at, name in sorted(self._addresses(line).items()):
            alike = (back for back, each in enumerate(before, 1) if name in self._addresses(each).values())
            yield Hit("formality", at, next(alike, None))

    def _addresses(self, line: Line) -> Dict[int, str]:
        found: Dict[int, str] = {}
        for at, word in enumerate(line.target):
            for name, pattern in self.target.formality.items():
                if pattern.fullmatch(word.text) and not self._doubtful(line, at):
                    found[at] = name
                    if self.target.subjects.fullmatch(word.text):
                        found.update(dict.fromkeys(self._verb(line, at), name))
            if self.target.formality and word.pos in VERBS and word.person == "2" and _written(word):
                found[at] = "formal" if word.number == "Plur" else "informal"
        return found

    def _doubtful(self, line: Line, at: int) -> bool:
        """Whether a word is capital for another reason, and translates no word such as "you"."""
        first = not at or line.target[at - 1].text[-1] in _ENDS
        if not first or not self.target.doubtful.fullmatch(line.target[at].text):
            return False
        return not any(self.source.you.fullmatch(each.text) for each in line.sources(at) or line.source)

    def _verb(self, line: Line, at: int) -> List[int]:
        """The verb of a subject, by its form: a neighbour, or else the nearest finite one of its clause."""
        places = sorted(clause(line.target, at), key=lambda place: (abs(place - at), -place))[1:]
        places = [place for place in places if self.target.verbs.fullmatch(line.target[place].text)]
        finite = [place for place in places if line.target[place].verb_form == "Fin"]
        beside = [place for place in places[:2] if abs(place - at) == 1 and line.target[place].pos in _OPEN]
        return (finite or beside)[:1]

    def ellipsis(self, line: Line, before: Sequence[Line]) -> Iterator[Hit]:
        """Verbs that the source leaves out behind an auxiliary ("I did."), and that the lines before have."""
        if not any(self._stranded(line.source, at) for at in range(len(line.source))):
            return
        for at, word in enumerate(line.target):
            if word.pos != "VERB" or not word.lemma or self.target.auxiliaries.fullmatch(word.lemma):
                continue
            same = _verb_of(word.lemma)
            distance = _nearest(before, same)
            said = any(each.pos == "VERB" for each in line.sources(at)) or any(map(same, line.target[:at]))
            if distance and not said:
                yield Hit("ellipsis", at, distance)

    def _stranded(self, words: Sequence[AnnotatedWord], at: int) -> bool:
        """Whether an auxiliary has no verb behind it in its clause."""
        if words[at].pos not in VERBS or not self.source.auxiliaries.fullmatch(words[at].text):
            return False
        return not any(words[place].pos in VERBS for place in clause(words, at) if place > at)

    def inflection(self, line: Line, before: Sequence[Line]) -> Iterator[Hit]:
        """Nouns of a sentence without a verb, whose case a verb of the lines before decides."""
        if any(word.verb_form == "Fin" for word in line.source) or any(
            word.pos in VERBS for word in line.target
        ):
            return
        distance = _nearest(before, lambda word: word.pos in VERBS)
        for at, word in enumerate(line.target):
            if is_noun(word) and word.case not in ("Nom", "Voc", None) and distance and _written(word):
                yield Hit("inflection", at, distance)
            if word.pos not in _UNGOVERNING:
                return


def _nearest(before: Sequence[Line], decides: Callable[[AnnotatedWord], bool]) -> Optional[int]:
    return next((back for back, line in enumerate(before, 1) if any(map(decides, line.target))), None)


def _written(word: AnnotatedWord) -> bool:
    """Whether a word is no abbreviation or name of a function, whose labels are guesses."""
    return not word.text.isupper()


def _agreeing(genders: Sequence[str], number: str) -> Callable[[AnnotatedWord], bool]:
    return lambda word: is_noun(word) and word.gender in genders and word.number in (number, None)


def _verb_of(lemma: str) -> Callable[[AnnotatedWord], bool]:
    return lambda word: word.pos == "VERB" and word.lemma == lemma
