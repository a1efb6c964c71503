"""What in a translation a sentence alone does not decide, by rules after those of MuDA (Fernandes et al.
2023, "When Does Translation Require Context?") and ctxpro (Wicks and Post 2023, "Identifying
Context-Dependent Translations for Evaluation Set Production").

Both ask a coreference model for the antecedent of a pronoun. Here it is a noun that agrees in gender and
number with the translation of the pronoun: one that stands before it in the sentence; or, if none does, the
nearest one in the lines before.
"""

import re
from functools import partial
from pathlib import Path
from typing import Any, Callable, Collection, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import yaml

from ctxmt_fairseq.corpora.phenomena.lines import Hit, Line, clause
from ctxmt_fairseq.text.annotation import AnnotatedWord, is_noun
from ctxmt_fairseq.text.languages import primary

KNOWN: Dict[str, Dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("phenomena.yaml").read_bytes())
VERBS = ("VERB", "AUX")
_OPEN = (*VERBS, "NOUN", "ADJ", "PROPN")  # parts of speech that a verb is taken for
# What may stand before a noun without deciding its case.
_UNGOVERNING = ("ADJ", "ADV", "DET", "PRON", "PART", "CCONJ", "SCONJ", "INTJ", "PUNCT", "SYM", None)
_SEEN = 3  # lines before that translate a word alike (MuDA: more than 2 times)
_CONTENT = ("NOUN", "PROPN", "VERB", "ADJ")
_LONG = 4  # letters of a word that means something, where no part of speech is known


class Rules:
    """The rules of a pair of languages. Each yields the hits of a line, given the lines before it, the
    nearest one first."""

    def __init__(self, source: str, target: str):
        self.source: Dict[str, Any] = KNOWN["sources"].get(primary(source), {})
        self.target: Dict[str, Any] = KNOWN["targets"].get(primary(target), {})

    def hits(self, line: Line, before: Sequence[Line]) -> Iterator[Hit]:
        for rule in (self.pronouns, self.formality, self.ellipsis, self.inflection):
            yield from rule(line, before)

    def pronouns(self, line: Line, before: Sequence[Line]) -> Iterator[Hit]:
        """Pronouns with a gender, whose antecedent stands in the lines before and none in their own."""
        impersonal = [match.start() for match in _pattern(self.target, "impersonal").finditer(line.text)]
        addresses = self._addresses(line)
        for at, word in enumerate(line.target):
            text, said = _plain(word.text), {each.text.lower() for each in line.sources(at)}
            article = word.pos == "DET" and "it" not in said  # le, его: pronouns get the label, too
            if at in addresses or word.start in impersonal or article:
                continue
            for number, rows in self.target.get("pronouns", {}).items():
                found = [row for row in rows if text in map(_plain, _forms(row).values())]
                if not found or said.isdisjoint(self.source.get("pronouns", {}).get(number, ())):
                    continue
                genders = [gender for gender, form in _forms(found[0]).items() if _plain(form) == text]
                agrees = partial(_agrees, genders, number)
                distance = _nearest(before, agrees)
                if distance and not any(map(agrees, line.target[:at])):
                    yield Hit("pronoun", at, distance, self._others(line, at, found))

    def _others(self, line: Line, at: int, rows: Sequence[Mapping[str, str]]) -> Sequence[str]:
        """The forms of a pronoun in other genders, by the rows that have it; none where its case, which may
        tell them, is not known, or another word shows the gender."""
        text, case = _plain(line.target[at].text), self._case(line, at)
        fitting = [row for row in rows if len(rows) == 1 or not case or row["Case"] == case]
        forms = [_forms(row).values() for row in fitting]
        others = {tuple(dict.fromkeys(form for form in row if _plain(form) != text)) for row in forms}
        shown = self._shows_gender(line, at, {_plain(form) for row in forms for form in row})
        return () if shown or len(others) != 1 else others.pop()

    def _case(self, line: Line, at: int) -> Optional[str]:
        """The case of a pronoun, by its tag or, in French, by its neighbours; None: not known."""
        if "behind_subjects" not in self.target:
            return line.target[at].case
        governed = at > 0 and line.target[at - 1].pos == "ADP"
        verbal = any(
            word.pos in (*VERBS, "PRON") or _is(self.target, "behind_subjects", word.text)
            for word in line.target[at + 1 : at + 2]
        )
        return "Acc" if governed else "Nom" if verbal else None

    def _shows_gender(self, line: Line, at: int, forms: Collection[str]) -> bool:
        """Whether another word of the line may agree with a pronoun, and tell its gender without context: one
        of its forms again, an adjective, a participle, what stands behind an auxiliary."""
        kinds, behind = self.target.get("agreeing", ()), False  # an auxiliary, adverbs between
        for place, word in enumerate(line.target):
            labelled = word.pos == "ADJ" or bool(word.gender) or word.verb_form == "Part"
            agrees = word.pos in kinds and labelled or bool(kinds) and behind and is_noun(word)
            if place != at and (agrees or _plain(word.text) in forms):
                return True
            behind = word.pos == "AUX" or behind and word.pos == "ADV"
        return False

    def formality(self, line: Line, before: Sequence[Line]) -> Iterator[Hit]:
        """Words that address somebody formally or informally, which the source does not."""
        for at, name in sorted(self._addresses(line).items()):
            alike = (back for back, each in enumerate(before, 1) if name in self._addresses(each).values())
            yield Hit("formality", at, next(alike, None))

    def _addresses(self, line: Line) -> Dict[int, str]:
        found: Dict[int, str] = {}
        for at, word in enumerate(line.target) if "formal" in self.target else ():
            for name in ("informal", "formal"):
                if _is(self.target, name, word.text) and not self._doubtful(line, at):
                    found[at] = name
                    if _is(self.target, "subjects", word.text):
                        found.update(dict.fromkeys(self._verb(line, at), name))
            # In capitals: abbreviations and names of functions, whose labels are guesses.
            if word.pos in VERBS and word.person == "2" and not word.text.isupper():
                if not _is(self.target, "abbreviations", word.text.rstrip(".")):
                    found[at] = "formal" if word.number == "Plur" else "informal"
        return found

    def _doubtful(self, line: Line, at: int) -> bool:
        """Whether a word may mean something else, and translates no word such as "you"."""
        text, first = line.target[at].text, not at or line.target[at - 1].text[-1] in ".!?:…"
        if text[0].isupper() and not first or not _is(self.target, "doubtful", text):
            return False
        said = line.sources(at) or line.source[: len(line.source) * first]
        return not any(_is(self.source, "you", each.text) for each in said)

    def _verb(self, line: Line, at: int) -> List[int]:
        """The verb of a subject, by its form: a neighbour, or else the nearest finite one of its clause."""
        places = sorted(clause(line.target, at), key=lambda place: (abs(place - at), -place))[1:]
        places = [p for p in places if _is(self.target, "verbs", line.target[p].text)]
        finite = [p for p in places if line.target[p].verb_form == "Fin"]
        beside = [p for p in places[:2] if abs(p - at) == 1 and line.target[p].pos in _OPEN]
        return (finite or beside)[:1]

    def ellipsis(self, line: Line, before: Sequence[Line]) -> Iterator[Hit]:
        """Verbs that the source leaves out behind an auxiliary ("I did."), and that the lines before have."""
        verbs = [at for at, word in enumerate(line.source) if word.pos in VERBS]
        auxiliaries = [at for at in verbs if _is(self.source, "auxiliaries", line.source[at].text)]
        if all(any(at < verb in clause(line.source, at) for verb in verbs) for at in auxiliaries):
            return  # there is a verb behind each
        for at, word in enumerate(line.target):
            named = ("VERB",) if word.pos in VERBS else _CONTENT  # in the source: the word is no guess
            beside = any(line.target[each].pos == "VERB" for each in clause(line.target, at))
            known = _is(self.target, "auxiliaries", word.lemma or "")
            if known or word.pos not in (_CONTENT if beside else _OPEN):
                continue
            again = any(_same_verb(word, each) for each in line.target[:at])
            distance = _nearest(before, partial(_same_verb, word))
            if distance and not again and all(each.pos not in named for each in line.sources(at)):
                yield Hit("ellipsis", at, distance)

    def inflection(self, line: Line, before: Sequence[Line]) -> Iterator[Hit]:
        """Nouns of a sentence without a verb, whose case the lines before decide: by a verb or a noun."""
        if any(w.verb_form == "Fin" for w in line.source) or any(w.pos in VERBS for w in line.target):
            return
        unsure = {"Nom", "Voc", None}
        for at, word in enumerate(line.target):
            if word.pos == "ADV":  # how many, less
                unsure.add("Gen")
            distance = _nearest(before, partial(_decides, word))
            if distance and is_noun(word) and word.case not in unsure and not word.text.isupper():
                yield Hit("inflection", at, distance)
            after = line.target[at + 1 : at + 2]
            listed = is_noun(word) and all(each.pos in ("PUNCT", "CCONJ") for each in after)
            if word.pos not in _UNGOVERNING and not listed:
                return


class Cohesion:
    """Finds words that a document translates as it has done before, in any language (MuDA)."""

    def __init__(self) -> None:
        self._number = 0
        self._seen: Dict[Tuple[str, str], List[int]] = {}  # the last lines of a word and its translation

    def hits(self, line: Line) -> Iterator[Hit]:
        """Words of the next line that translate what they did in at least ``_SEEN`` lines before."""
        now = set()
        for at, word in enumerate(line.target):
            pairs = {(_name(each), _name(word)) for each in line.sources(at) if _means(each) and _means(word)}
            lasts = [seen[-1] for pair in pairs if len(seen := self._seen.get(pair, [])) == _SEEN]
            if lasts:
                yield Hit("cohesion", at, self._number - max(lasts))
            now |= pairs
        for pair in now:
            self._seen[pair] = [*self._seen.get(pair, ()), self._number][-_SEEN:]
        self._number += 1


def _plain(form: str) -> str:
    return form.lower().replace("ё", "е")


def _forms(row: Mapping[str, str]) -> Dict[str, str]:
    return {gender: form for gender, form in row.items() if gender != "Case"}


def _name(word: AnnotatedWord) -> str:
    return (word.lemma or word.text).lower()


def _means(word: AnnotatedWord) -> bool:
    return word.pos in _CONTENT if word.pos else word.text.isalpha() and len(word.text) >= _LONG


def _decides(noun: AnnotatedWord, word: AnnotatedWord) -> bool:
    return word.pos in VERBS or is_noun(word) and word.case == noun.case


def _same_verb(word: AnnotatedWord, verb: AnnotatedWord) -> bool:
    """By lemmas or beginnings: in short sentences verbs are often taken for nouns, and get no lemma."""
    first, second = (each.text.lower()[:_LONG] for each in (word, verb))
    alike = first == second and len(first) == _LONG
    return verb.pos in VERBS and (alike or bool(word.lemma) and word.lemma == verb.lemma)


def _pattern(known: Mapping[str, Any], name: str) -> "re.Pattern[str]":
    text = known.get(name, "(?!)")
    return re.compile(text, 0 if text != text.lower() else re.IGNORECASE)  # which remembers what it compiled


def _is(known: Mapping[str, Any], name: str, text: str) -> bool:
    return bool(_pattern(known, name).fullmatch(text))


def _nearest(before: Sequence[Line], decides: Callable[[AnnotatedWord], bool]) -> Optional[int]:
    return next((back for back, line in enumerate(before, 1) if any(map(decides, line.target))), None)


def _agrees(genders: Sequence[str], number: str, word: AnnotatedWord) -> bool:
    return is_noun(word) and word.gender in genders and word.number in (number, None)
