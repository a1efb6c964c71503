"""The discourse test sets of Bawden et al. (2018) and their Czech extension: JSON blocks."""

from pathlib import Path
from typing import Any, Iterator, Tuple

from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.contrastive_sets.examples import (
    Candidate,
    ContrastiveExample,
    ContrastiveSet,
    Convention,
    Place,
    make_example,
)
from ctxmt_fairseq.evaluation.contrastive_sets.json_files import get, get_sentences, load_json


def read_bawden(path: Path) -> ContrastiveSet:
    """Read an object of numbered blocks, of one of two kinds.

    - anaphora: one source, several target variants (``trg``), each a ``correct`` or ``semi-correct``
      translation against an ``incorrect`` one, with the pronoun's gender and number as ``type``;
    - lexical choice: ``examples``, each with its own source and a ``correct`` and ``incorrect`` target.

    Each variant or example is one contrastive example. The phenomenon is ``anaphora m.sg`` and the like,
    or the block's type (``disambig``, ``repet``). What decides the choice always stands in the
    previous sentence (Bawden et al., section 3), so the distance is 1.

    Scoring: sum over the current sentence. The suite's ``evaluate.py`` compares raw model scores of the
    current sentence's candidates.

    Raises:
        BadInput: invalid JSON, or a block that lacks what its kind needs.
    """
    blocks = load_json(path)
    if not isinstance(blocks, dict) or not blocks:
        raise BadInput("expected an object of numbered blocks", path)
    examples = tuple(example for name in blocks for example in _block(path, name, blocks[name]))
    return ContrastiveSet(path.stem, "bawden", examples, Convention("sum", "current"))


def _block(path: Path, name: str, block: Any) -> Iterator[ContrastiveExample]:
    place = Place(path, part=f"block {name!r}")
    if isinstance(block, dict) and "examples" in block:
        kind = get(place, block, "type", str) if "type" in block else "lexical choice"
        for number, record in enumerate(get(place, block, "examples", list), 1):
            inner = Place(path, part=f"block {name!r}, example {number}")
            yield _example(inner, f"{name}.{number}", record, get(inner, record, "trg", dict), kind)
        return
    for number, target in enumerate(get(place, block, "trg", list), 1):
        inner = Place(path, part=f"block {name!r}, target {number}")
        phenomenon = f"anaphora {get(inner, target, 'type', str)}"
        yield _example(inner, f"{name}.{number}", block, target, phenomenon)


def _example(place: Place, id: str, record: Any, target: Any, phenomenon: str) -> ContrastiveExample:
    source = get_sentences(place, record, "src")
    quality = "semi-correct" if "semi-correct" in target else "correct"
    candidates: Tuple[Candidate, ...] = ()
    for key in (quality, "incorrect"):
        text = get_sentences(place, target, key)
        if len(text) != len(source):
            raise place.error(f"expected {len(source)} sentences at {key!r}, as in 'src', found {len(text)}")
        candidates += (Candidate(tuple(text[:-1]), text[-1]),)
    return make_example(
        place,
        id=id,
        source_before=source[:-1],
        source=source[-1],
        candidates=candidates,
        correct=0,
        phenomenon=phenomenon,
        distance=1,
        meta={"quality": quality},
    )
