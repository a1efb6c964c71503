"""Our own contrastive sets: JSON lines, one example on each line."""

import logging
from pathlib import Path
from typing import Any, Dict, List, Optional

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.contrastive_sets.examples import ContrastiveExample, example_of_texts
from ctxmt_fairseq.evaluation.contrastive_sets.formats import FORMATS, ContrastiveFormat
from ctxmt_fairseq.text.json_files import Place, get, get_sentences, json_lines, sentences
from ctxmt_fairseq.text.metadata_text import texts_by_field
from ctxmt_fairseq.text.text_lines import PathLike

logger = logging.getLogger(__name__)
CONTEXTS = ("source-previous", "target-previous", "source-next", "metadata")


@FORMATS.register("jsonl")
class JsonLines(ContrastiveFormat):
    """One object on each line, with the keys:

    - ``id``, ``phenomenon``: strings; ``distance``: a whole number or null;
    - ``context``: the context that decides the example, one of ``CONTEXTS``; it becomes ``meta["context"]``;
    - ``source``: the previous, current and following sentences; ``current``: the index of the current one;
    - ``targets``: the candidates, each a list of target sentences that ends with the current one;
    - ``correct``: the index of the correct candidate;
    - ``meta`` (optional): metadata that a model may read as context, in the form of a line of a
      ``.meta.jsonl``.

    Examples with an expected form (``ctxmt score-forms``) and no ``targets`` are left out, and counted.

    Scoring: sum over the current sentence, as in the public suites.
    """

    files = "a file NAME.jsonl"

    @classmethod
    def recognises(cls, path: Path, content: Any) -> bool:
        return path.suffix == ".jsonl"

    @classmethod
    def examples(cls, path: Path, documents: Optional[PathLike]) -> List[ContrastiveExample]:
        examples: Dict[str, ContrastiveExample] = {}
        forms = 0
        for place, record in json_lines(path):
            if isinstance(record, dict) and "expected" in record and "targets" not in record:
                forms += 1
                continue
            example = _example(place, record)
            if example.id in examples:  # systems are compared by id
                raise place.error(f"the example {example.id} is there twice; take one out")
            examples[example.id] = example
        if not examples and forms:
            raise BadInput("expected candidates ('targets'), found forms alone, for ctxmt score-forms", path)
        if not examples:
            raise BadInput("expected one JSON object per line, found an empty file", path)
        if forms:
            logger.warning("%s: %d examples without candidates are left out", path, forms)
        return list(examples.values())


def _example(place: Place, record: Any) -> ContrastiveExample:
    source, current = get_sentences(place, record, "source"), get(place, record, "current", int)
    if not 0 <= current < len(source):
        raise place.error(f"expected 'current' from 0 to {len(source) - 1}, found {current}")
    context = get(place, record, "context", str)
    if context not in CONTEXTS:
        raise place.error(f"expected 'context' to be one of {', '.join(CONTEXTS)}, found {context!r}")
    metadata = texts_by_field(record.get("meta", {}), lambda message: place.error(f"'meta': {message}"))
    return example_of_texts(
        place,
        source,
        [sentences(place, target, "targets") for target in get(place, record, "targets", list)],
        current,
        id=get(place, record, "id", str),
        correct=get(place, record, "correct", int),
        phenomenon=get(place, record, "phenomenon", str),
        distance=get(place, record, "distance", int, null=True),
        meta={**metadata, "context": context},
        metadata=metadata,
    )
