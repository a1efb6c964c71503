"""Turns pymorphy3's readings of Russian words (OpenCorpora's) into labels of Universal Dependencies."""

import unicodedata
from typing import Any, Dict, Optional

_PARTS = {
    "NOUN": "NOUN", "NPRO": "PRON", "ADJF": "ADJ", "ADJS": "ADJ", "COMP": "ADJ", "VERB": "VERB",
    "INFN": "VERB", "PRTF": "VERB", "PRTS": "VERB", "GRND": "VERB", "NUMR": "NUM", "NUMB": "NUM",
    "ROMN": "NUM", "ADVB": "ADV", "PRED": "ADV", "PREP": "ADP", "PRCL": "PART", "INTJ": "INTJ", "LATN": "X",
}  # fmt: skip
_NAMES = {"Name", "Surn", "Patr", "Geox", "Orgn", "Trad"}
_COORDINATING = {"и", "а", "но", "да", "или", "либо", "ни", "то", "зато", "однако"}
_GENDERS = {"masc": "Masc", "femn": "Fem", "neut": "Neut"}
_NUMBERS = {"sing": "Sing", "plur": "Plur"}


def russian_labels(reading: Any) -> Dict[str, str]:
    """The labels of a word's reading (``pymorphy3.analyzer.Parse``); unknown ones are left out.

    A word that never changes (её) gets no gender and number, even if the dictionary has them.
    """
    grammemes = set(reading.tag.grammemes)
    labels = {"pos": _part_of_speech(reading, grammemes), "lemma": reading.normal_form}
    if "Fixd" not in grammemes:
        labels["gender"] = _only(grammemes, _GENDERS)
        labels["number"] = "Plur" if "Pltm" in grammemes else _only(grammemes, _NUMBERS)
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
