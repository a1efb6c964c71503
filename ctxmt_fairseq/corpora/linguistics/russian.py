"""Turns pymorphy3's readings of Russian words (OpenCorpora's) into labels of Universal Dependencies."""

import unicodedata
from typing import Any, Dict, Optional, Sequence

_PARTS = {
    "NOUN": "NOUN", "NPRO": "PRON", "ADJF": "ADJ", "ADJS": "ADJ", "COMP": "ADJ", "VERB": "VERB",
    "INFN": "VERB", "PRTF": "VERB", "PRTS": "VERB", "GRND": "VERB", "NUMR": "NUM", "NUMB": "NUM",
    "ROMN": "NUM", "ADVB": "ADV", "PRED": "ADV", "PREP": "ADP", "PRCL": "PART", "INTJ": "INTJ", "LATN": "X",
}  # fmt: skip
_NAMES = {"Name", "Surn", "Patr", "Geox", "Orgn", "Trad"}
_COORDINATING = {"и", "а", "но", "да", "или", "либо", "ни", "то", "зато", "однако"}
_GENDERS = {"masc": "Masc", "femn": "Fem", "neut": "Neut"}
_NUMBERS = {"sing": "Sing", "plur": "Plur"}
_CASES = {
    "nomn": "Nom", "gent": "Gen", "gen2": "Gen", "datv": "Dat", "accs": "Acc", "ablt": "Ins", "loct": "Loc",
    "loc2": "Loc", "voct": "Voc",
}  # fmt: skip
_PERSONS = {"1per": "1", "2per": "2", "3per": "3", "excl": "2"}  # excl: an imperative
_VERB_FORMS = {"INFN": "Inf", "PRTF": "Part", "PRTS": "Part", "GRND": "Conv", "VERB": "Fin"}


def russian_labels(readings: Sequence[Any]) -> Dict[str, str]:
    """The labels of the likeliest of a word's readings (``pymorphy3.analyzer.Parse``); unknown ones are left
    out.

    A word that never changes (её) gets no gender, number and case, even if the dictionary has them; and one
    that may be a nominative or another case of the same word (кровь) gets no case.
    """
    reading = readings[0]
    grammemes = set(reading.tag.grammemes)
    labels = {"pos": _part_of_speech(reading, grammemes), "lemma": reading.normal_form}
    if "Fixd" not in grammemes:
        labels["gender"] = _only(grammemes, _GENDERS)
        labels["number"] = "Plur" if "Pltm" in grammemes else _only(grammemes, _NUMBERS)
        cases = {each.tag.case for each in readings if each.normal_form == reading.normal_form}
        labels["case"] = _only(grammemes, _CASES) if cases == {"nomn"} or "nomn" not in cases else None
    labels["person"] = _only(grammemes, _PERSONS)
    labels["verb_form"] = _only(grammemes, _VERB_FORMS)
    return {name: label for name, label in labels.items() if label}


def _part_of_speech(reading: Any, grammemes: Any) -> Optional[str]:
    if "CONJ" in grammemes:
        return "CCONJ" if reading.normal_form in _COORDINATING else "SCONJ"
    if "NOUN" in grammemes and grammemes & _NAMES:
        return "PROPN"
    if "ADJF" in grammemes and "Apro" in grammemes:  # мой, этот
        return "DET"
    found = _only(grammemes, _PARTS)
    if found is None and reading.word:
        kind = unicodedata.category(reading.word[0])[0]
        return {"P": "PUNCT", "S": "SYM"}.get(kind)
    return found


def _only(grammemes: Any, labels: Dict[str, str]) -> Optional[str]:
    found = [label for grammeme, label in labels.items() if grammeme in grammemes]
    return found[0] if len(found) == 1 else None
