"""The English-Russian consistency sets of Voita et al. (2019): JSON lists of joined sentences."""

from pathlib import Path
from typing import Any, List, Optional, Sequence

from ctxmt_fairseq.data.documents import PathLike
from ctxmt_fairseq.data.json_files import Place, get, get_sentences, load_json
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.contrastive_sets.examples import (
    Candidate,
    ContrastiveExample,
    ContrastiveSet,
    Convention,
    make_example,
)
from ctxmt_fairseq.evaluation.contrastive_sets.formats import FORMATS, ContrastiveFormat, first_object

NAME = "voita"
END = "_eos"
PHENOMENA = ("deixis", "lex_cohesion", "ellipsis_infl", "ellipsis_vp")
NAMES = ", ".join(f"{name}*.json" for name in PHENOMENA)


def read_voita(path: Path) -> ContrastiveSet:
    """Read a list of ``{src, dst, true_ind, ctx_dist}``, or a folder with one such file per phenomenon.

    ``src`` and each of ``dst`` hold sentences joined by ``_eos``, the last one current. The phenomenon
    comes from the file's name. In a folder, ``NAME_test.json`` goes before ``NAME_dev.json``; all four
    phenomena together give the Disc. of focused concatenation's table 1 (files: see ``join_phenomena``).

    Scoring: sum over the current sentence. The suite's scoring notebooks take the summed loss of the last
    sentence; as an example's candidates share their context, the window's sum ranks them alike.

    Raises:
        BadInput: invalid JSON, missing keys, ``true_ind`` out of range, or sentences that do not match.
    """
    files = _files(path) if path.is_dir() else [path]
    if not files:
        raise BadInput(f"expected files named {NAMES}", path)
    examples: List[ContrastiveExample] = []
    for file in files:
        records = load_json(file)
        if not isinstance(records, list) or not records:
            raise BadInput("expected a list of objects", file)
        phenomenon = next((name for name in PHENOMENA if file.stem.startswith(name)), file.stem)
        examples += (_example(file, phenomenon, number, record) for number, record in enumerate(records, 1))
    return ContrastiveSet(path.stem, NAME, tuple(examples), Convention("sum", "current"))


def join_phenomena(sets: Sequence[ContrastiveSet]) -> List[ContrastiveSet]:
    """The same sets, but files of different ``PHENOMENA`` become one, as those of a folder are.

    The one stands where the first of them stood; its name is theirs, joined by "+". Two files of one
    phenomenon (its dev and its test set) are no parts of one suite: then all stay as they are.
    """
    parts = [one for one in sets if one.format == NAME and _phenomena(one) <= set(PHENOMENA)]
    found = [name for part in parts for name in _phenomena(part)]
    if len(parts) < 2 or len(found) > len(set(found)):
        return list(sets)
    examples = tuple(example for part in parts for example in part.examples)
    whole = ContrastiveSet("+".join(part.name for part in parts), NAME, examples, parts[0].convention)
    return [whole if one is parts[0] else one for one in sets if one not in parts[1:]]


def _phenomena(contrastive_set: ContrastiveSet) -> set:
    return {example.phenomenon for example in contrastive_set.examples}


def _files(folder: Path) -> List[Path]:
    found = []
    for name in PHENOMENA:
        names = (f"{name}_test.json", f"{name}_dev.json", f"{name}.json")
        found += [folder / file for file in names if (folder / file).is_file()][:1]
    return found


def _example(path: Path, phenomenon: str, number: int, record: Any) -> ContrastiveExample:
    place = Place(path, part=f"example {number}")
    source = _split(get(place, record, "src", str))
    if len(source) < 2:
        raise place.error(f"expected sentences joined by ' {END} ' in 'src'")
    candidates = []
    for text in get_sentences(place, record, "dst"):
        target = _split(text)
        if len(target) != len(source):
            raise place.error(f"expected {len(source)} sentences in each of 'dst', found {len(target)}")
        candidates.append(Candidate(tuple(target[:-1]), target[-1]))
    return make_example(
        place,
        id=f"{phenomenon}-{number}",
        source_before=source[:-1],
        source=source[-1],
        candidates=candidates,
        correct=get(place, record, "true_ind", int),
        phenomenon=phenomenon,
        distance=get(place, record, "ctx_dist", int),
    )


def _split(text: str) -> List[str]:
    """The sentences between the symbols ``_eos``."""
    sentences: List[List[str]] = [[]]
    for word in text.split():
        if word == END:
            sentences.append([])
        else:
            sentences[-1].append(word)
    return [" ".join(words) for words in sentences]


@FORMATS.register(NAME)
class Voita(ContrastiveFormat):
    """All examples need context, so that the groups of Disc. are the phenomena."""

    files = f"a JSON list of objects with 'true_ind', or a folder of {NAMES}"

    @classmethod
    def recognises(cls, path: Path, content: Any) -> bool:
        return bool(_files(path)) or "true_ind" in first_object(content)

    @classmethod
    def read(cls, path: Path, documents: Optional[PathLike] = None) -> ContrastiveSet:
        return read_voita(path)

    @staticmethod
    def disc_group(example: ContrastiveExample) -> Optional[str]:
        return None if example.distance is None else example.phenomenon

    @classmethod
    def join(cls, sets: Sequence[ContrastiveSet]) -> List[ContrastiveSet]:
        return join_phenomena(sets)
