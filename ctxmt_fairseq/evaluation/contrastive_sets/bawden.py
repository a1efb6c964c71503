"""The discourse test sets of Bawden et al. (2018) and their Czech extension: JSON blocks."""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.contrastive_sets.examples import Candidate, ContrastiveExample, example_of_texts
from ctxmt_fairseq.evaluation.contrastive_sets.formats import FORMATS, ContrastiveFormat
from ctxmt_fairseq.text.json_files import Place, get, get_sentences, load_json
from ctxmt_fairseq.text.text_lines import PathLike


@FORMATS.register("bawden")
class Bawden(ContrastiveFormat):
    """A JSON object of numbered blocks. There are two kinds of blocks:

    - anaphora: one source and several target variants (``trg``). Each variant has a ``correct`` or
      ``semi-correct`` translation and an ``incorrect`` one, and the pronoun's gender and number as ``type``;
    - lexical choice: ``examples``, each with its own source, a ``correct`` and an ``incorrect`` target.

    Each variant or example becomes one contrastive example, and its last sentence is the current one. The
    phenomenon is, for example, ``anaphora m.sg``, or the block's type (``disambig``, ``repet``). The files
    give no distance, so ``deciding_distances`` finds it where it can.

    Scoring: sum over the current sentence, because the suite's ``evaluate.py`` compares raw model scores of
    the candidates for the current sentence.
    """

    files = "a JSON object of numbered blocks"

    @classmethod
    def recognises(cls, path: Path, content: Any) -> bool:
        return isinstance(content, dict)

    @classmethod
    def examples(cls, path: Path, documents: Optional[PathLike]) -> Iterator[ContrastiveExample]:
        blocks = load_json(path)
        if not isinstance(blocks, dict) or not blocks:
            raise BadInput("expected an object of numbered blocks", path)
        for name in blocks:
            block = list(_block(path, name, blocks[name]))
            distances = deciding_distances(block)
            for one, distance in zip(block, distances, strict=True):
                yield replace(one, distance=distance)


def deciding_distances(block: List[ContrastiveExample]) -> List[Optional[int]]:
    """How many sentences back the sentence is that decides each example; None if its block does not tell.

    An example's twins have the same current sentence and as many before it, but another translation is right.
    The deciding sentence is the one that differs from that of every twin, on the source or the target side,
    if there is exactly one such sentence.
    """
    right: Dict[Tuple[Any, ...], Set[str]] = defaultdict(set)
    for example in block:
        for known in _known(example):
            right[known].add(_right(example).current)
    found: List[Optional[int]] = []
    for example in block:
        alone, *sentences = (len(right[known]) for known in _known(example))
        decisive = [at for at, several in enumerate(sentences) if alone > 1 and several == 1]
        found.append(len(sentences) - decisive[0] if len(decisive) == 1 else None)
    return found


def _right(example: ContrastiveExample) -> Candidate:
    return example.candidates[example.correct]


def _known(example: ContrastiveExample) -> Iterator[Tuple[Any, ...]]:
    """What may tell the right translation: the current sentence, and this with one of those before it, from
    the farthest. Twins share the first, and differ in what is right."""
    current = example.source, len(example.source_before)
    yield current
    for place in enumerate(zip(example.source_before, _right(example).before, strict=True)):
        yield (*current, place)


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
    quality = "semi-correct" if "semi-correct" in target else "correct"
    texts = [get_sentences(place, target, key) for key in (quality, "incorrect")]
    if texts[0][-1] == texts[1][-1]:
        same = f"both candidates end with {texts[0][-1]!r}"
        raise place.error(f"{same}: the last sentence is scored, and must differ")
    source, meta = get_sentences(place, record, "src"), {"quality": quality}
    return example_of_texts(place, source, texts, id=id, phenomenon=phenomenon, meta=meta)
