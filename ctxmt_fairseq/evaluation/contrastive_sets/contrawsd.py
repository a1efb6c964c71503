"""ContraWSD (Rios et al. 2017): ambiguous German words, in English and French, without context."""

import itertools
from pathlib import Path
from typing import Any, Iterator, Optional, Tuple

from ctxmt_fairseq.evaluation.contrastive_sets.examples import Candidate, ContrastiveExample, make_example
from ctxmt_fairseq.evaluation.contrastive_sets.formats import FORMATS, ContrastiveFormat, first_object
from ctxmt_fairseq.text.json_files import Place, get, json_list
from ctxmt_fairseq.text.text_lines import PathLike, check_not_same, lines_together


@FORMATS.register("contrawsd")
class ContraWSD(ContrastiveFormat):
    """``de-en.json``: the reference is correct, and ``errors`` have translations in another sense; or, with
    --format contrawsd, ``PREFIX.en`` (or .fr) beside ``PREFIX.de``, the text that the suite makes of it: a
    line for each candidate, the reference first.

    The phenomenon is the ambiguous word, where the file names it. The suite has no context.

    Scoring: sum over the current sentence; the suite's ``evaluate.py`` reads one score for each candidate,
    and counts an example as right if the reference is better than all others.
    """

    files = "a JSON list of objects with 'ambig word'"

    @classmethod
    def recognises(cls, path: Path, content: Any) -> bool:
        return "ambig word" in first_object(content)

    @classmethod
    def examples(cls, path: Path, documents: Optional[PathLike]) -> Iterator[ContrastiveExample]:
        records = _records(path) if path.suffix in (".de", ".en", ".fr") else json_list(path)
        for number, (place, record) in enumerate(records, 1):
            texts = [get(place, record, "reference", str)]
            texts += (get(place, error, "contrastive", str) for error in get(place, record, "errors", list))
            word, sense = (get(place, record, key, str) for key in ("ambig word", "sense"))
            yield make_example(
                place,
                id=str(number),
                source=get(place, record, "source", str).strip(),
                candidates=[Candidate((), text.strip()) for text in texts],
                phenomenon=word,
                meta={"sense": sense},
            )


def _records(path: Path) -> Iterator[Tuple[Place, Any]]:
    """The candidates of each source; the first of them again begins another example with the same source."""
    source_file = path.with_suffix(".de")
    check_not_same(source_file, path)
    numbered = enumerate(lines_together(source_file, path), 1)
    for source, group in itertools.groupby(numbered, key=lambda line: line[1][0]):
        lines = [(number, target) for number, (_, target) in group]
        starts = [at for at, (_, target) in enumerate(lines) if target == lines[0][1]]
        for start, end in itertools.pairwise([*starts, len(lines)]):
            (number, reference), *wrong = lines[start:end]
            record: Any = {"source": source, "reference": reference, "ambig word": "sense", "sense": "?"}
            yield Place(path, number), {**record, "errors": [{"contrastive": text} for _, text in wrong]}
