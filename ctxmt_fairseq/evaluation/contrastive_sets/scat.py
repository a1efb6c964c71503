"""SCAT (Yin et al. 2021): English pronouns, French translations, and the words that people found decisive."""

import logging
import re
from pathlib import Path
from typing import Any, Iterator, Optional

from ctxmt_fairseq.evaluation.contrastive_sets.examples import Candidate, ContrastiveExample, make_example
from ctxmt_fairseq.evaluation.contrastive_sets.formats import FORMATS, ContrastiveFormat
from ctxmt_fairseq.text.scat import PRONOUN, Marked, is_scat, read_scat
from ctxmt_fairseq.text.text_lines import PathLike

logger = logging.getLogger(__name__)
_SWAPPED = {"il": "elle", "elle": "il", "ils": "elles", "elles": "ils"}


@FORMATS.register("scat")
class Scat(ContrastiveFormat):
    """One of the four files of a split, or JSON (see ``text/scat.py``).

    The wrong translation is the one that the file gives (``contrast_fr``), else the right one with its marked
    pronouns of the other gender, as in the filtered release. Where none is marked there is no example; how
    many these are is logged. The text before a sentence, about five sentences without borders, is one
    sentence of context. The phenomenon is the pronoun; the distance is 0 where all that supports it is in the
    current sentence, else unknown.

    Scoring: sum over the current sentence, as in the set that the examples are from (``OpenSubs``).
    """

    files = "PREFIX.en beside PREFIX.fr, PREFIX.context.en and PREFIX.context.fr, or JSON with 'context_en'"

    @classmethod
    def recognises(cls, path: Path, content: Any) -> bool:
        return is_scat(path, content)

    @classmethod
    def examples(cls, path: Path, documents: Optional[PathLike]) -> Iterator[ContrastiveExample]:
        without = 0
        for number, each in enumerate(read_scat(path), 1):
            before, source = map(Marked.read, each.source)
            target_before, target = map(Marked.read, each.target)
            wrong = Marked.read(
                PRONOUN.sub(_other, each.target[1]) if each.contrast is None else each.contrast
            )
            if wrong.text == target.text:
                without += 1
                continue
            pronoun = PRONOUN.search(each.target[1])
            elsewhere = before.support or target_before.support
            context = 1 if (before.text + target_before.text).strip() else 0
            texts = [Candidate((target_before.text,) * context, text) for text in (target.text, wrong.text)]
            yield make_example(
                each.place,
                id=str(number),
                source_before=[before.text] * context,
                source=source.text,
                candidates=texts,
                phenomenon=pronoun[1].lower() if pronoun else "pronoun",
                distance=None if elsewhere or not (source.support or target.support) else 0,
                meta={"supporting context": str(bool(elsewhere)).lower()},
            )
        if without:
            logger.warning("%s: %d examples are left out: no pronoun is marked", path, without)


def _other(pronoun: "re.Match[str]") -> str:
    word = pronoun[1]
    other = _SWAPPED.get(word.lower(), word)
    return other.upper() if word.isupper() else other.capitalize() if word[:1].isupper() else other
