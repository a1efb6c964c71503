"""The English-Russian consistency sets of Voita et al. (2019): JSON lists of joined sentences."""

import re
from pathlib import Path
from typing import Any, Iterator, List, Optional, Sequence

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.contrastive_sets.examples import (
    ContrastiveExample,
    ContrastiveSet,
    example_of_texts,
)
from ctxmt_fairseq.evaluation.contrastive_sets.formats import FORMATS, ContrastiveFormat, first_object
from ctxmt_fairseq.text.json_files import Place, get, get_sentences, json_list
from ctxmt_fairseq.text.text_lines import PathLike

NAME = "voita"
END = "_eos"
PHENOMENA = ("deixis", "lex_cohesion", "ellipsis_infl", "ellipsis_vp")
NAMES = ", ".join(f"{name}*.json" for name in PHENOMENA)


@FORMATS.register(NAME)
class Voita(ContrastiveFormat):
    """A list of ``{src, dst, true_ind, ctx_dist}``, or a folder with one such file for each phenomenon.

    ``src`` and each of ``dst`` are sentences joined by ``_eos``; the last one is the current sentence. The
    phenomenon comes from the name of the file. In a folder, ``NAME_test.json`` is read and not
    ``NAME_dev.json`` if there are both. All four phenomena together give the Disc. of focused concatenation's
    table 1 (for files, see ``join``). All examples need context, so that the phenomena are its groups.

    Scoring: sum over the current sentence, because the suite's notebooks sum the loss of the last sentence.
    The candidates of an example share their context, so that the sum over the window ranks them alike.
    """

    files = f"a JSON list of objects with 'true_ind', or a folder of {NAMES}"

    @classmethod
    def recognises(cls, path: Path, content: Any) -> bool:
        return bool(_files(path)) or "true_ind" in first_object(content)

    @classmethod
    def examples(cls, path: Path, documents: Optional[PathLike]) -> Iterator[ContrastiveExample]:
        files = _files(path) if path.is_dir() else [path]
        if not files:
            raise BadInput(f"expected files named {NAMES}", path)
        for file in files:
            phenomenon = next((name for name in PHENOMENA if file.stem.startswith(name)), file.stem)
            for place, record in json_list(file):
                yield _example(place, phenomenon, record)

    @staticmethod
    def disc_group(example: ContrastiveExample) -> Optional[str]:
        return None if example.distance is None else example.phenomenon

    @classmethod
    def join(cls, sets: Sequence[ContrastiveSet]) -> List[ContrastiveSet]:
        """Join files of different ``PHENOMENA`` into one set, as if they were read from a folder.

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


def _example(place: Place, phenomenon: str, record: Any) -> ContrastiveExample:
    source = _split(get(place, record, "src", str))
    if len(source) < 2:
        raise place.error(f"expected sentences joined by ' {END} ' in 'src'")
    return example_of_texts(
        place,
        source,
        [_split(text) for text in get_sentences(place, record, "dst")],
        id=f"{phenomenon}-{place.part.split()[-1]}",
        correct=get(place, record, "true_ind", int),
        phenomenon=phenomenon,
        distance=get(place, record, "ctx_dist", int),
    )


def _split(text: str) -> List[str]:
    """The sentences between the symbols ``_eos``."""
    return [" ".join(part.split()) for part in re.split(rf"(?<!\S){END}(?!\S)", text)]
