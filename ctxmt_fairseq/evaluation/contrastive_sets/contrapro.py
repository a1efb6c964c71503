"""ContraPro (Mueller et al. 2018): a JSON list, with contexts from the documents of OpenSubtitles."""

import logging
from pathlib import Path
from typing import Any, Iterator, Optional

from ctxmt_fairseq.evaluation.contrastive_sets.contrapro_context import Context, Segment, find_contexts
from ctxmt_fairseq.evaluation.contrastive_sets.examples import Candidate, ContrastiveExample, make_example
from ctxmt_fairseq.evaluation.contrastive_sets.formats import FORMATS, ContrastiveFormat, first_object
from ctxmt_fairseq.text.json_files import Place, get, json_list
from ctxmt_fairseq.text.text_lines import PathLike

logger = logging.getLogger(__name__)


@FORMATS.register("contrapro")
class ContraPro(ContrastiveFormat):
    """``contrapro.json``: the reference is the correct candidate, and ``errors`` has the wrong ones.

    The phenomenon is the reference pronoun, the distance that of its antecedent (``ante distance``).
    ``documents`` is the folder that the suite's scripts make, with documents or with context files (see
    ``find_contexts``). Without it the examples have no context, and a warning says so.

    Scoring: sum over the current sentence, because the suite's ``evaluate.py`` reads one score for each line
    of its ``text`` files, which have current sentences only. Like that script, we count a tie as wrong.
    """

    files = "a JSON list of objects with 'src segment'"
    has_documents = True

    @classmethod
    def recognises(cls, path: Path, content: Any) -> bool:
        return "src segment" in first_object(content)

    @classmethod
    def examples(cls, path: Path, documents: Optional[PathLike]) -> Iterator[ContrastiveExample]:
        records = json_list(path)
        if documents is None:
            logger.warning("%s: read without context; give the folder of its documents to have it", path)
            contexts = [Context() for _ in records]
        else:
            contexts = find_contexts(Path(documents), [Segment.of(*record) for record in records])
        for (place, record), context in zip(records, contexts, strict=True):
            yield _example(place, record, context)


def _example(place: Place, record: Any, context: Context) -> ContrastiveExample:
    translations = [get(place, record, "ref segment", str)]
    translations += (get(place, error, "contrastive", str) for error in get(place, record, "errors", list))
    intrasegmental = record.get("intrasegmental")
    return make_example(
        place,
        id=place.part.split()[-1],
        source_before=context.source_before,
        source=get(place, record, "src segment", str).strip(),
        source_after=context.source_after,
        candidates=[Candidate(context.target_before, text.strip()) for text in translations],
        phenomenon=get(place, record, "ref pronoun", str).lower(),
        distance=get(place, record, "ante distance", int),
        meta={
            "document": get(place, record, "document id", str),
            "intrasegmental": "unknown" if intrasegmental is None else str(intrasegmental).lower(),
        },
    )
