"""Shows what ``ctxmt embed`` would embed, without embedding anything."""

import itertools
import tempfile
from pathlib import Path
from typing import Any, Dict, List

from ctxmt_fairseq.base.tables import aligned_table
from ctxmt_fairseq.corpora.data_folder import PathLike
from ctxmt_fairseq.corpora.embed import Request, chosen_fields, existing, survey, texts_to_embed
from ctxmt_fairseq.corpora.text_lookup import TextLookup
from ctxmt_fairseq.corpora.text_steps import steps_of_language


def preview(request: Request, out: PathLike, examples: int) -> Dict[str, Any]:
    """Collect the texts of the first sentences of each split, and counts. ``examples`` of a split are the
    texts of the sentence and of each field, None for nothing; ``contexts`` and ``distinct`` count the texts
    of all splits together, with the empty one."""
    surveys = survey(request)
    fields = chosen_fields(request, surveys, existing(out))
    steps = steps_of_language(request.data, "source")
    splits: Dict[str, Any] = {}
    contexts = 0
    with tempfile.TemporaryDirectory(prefix="ctxmt-") as scratch:
        lookup = TextLookup(Path(scratch) / "texts.sqlite")
        lookup.add([("", 0)])
        distinct = 1
        for split, files in request.files().items():
            rows = texts_to_embed(files, fields, request.sentences, steps)
            first = list(itertools.islice(rows, examples))
            for texts in itertools.chain(first, rows):
                for text in texts:
                    if text is not None:
                        contexts += 1
                        if lookup.get(text) is None:
                            lookup.add([(text, distinct)])
                            distinct += 1
            splits[split] = {
                "sentences": surveys[split].sentences,
                "examples": first,
                "given": {field: surveys[split].given.get(field, 0) for field in fields},
                "nothing": {field: surveys[split].nothing.get(field, 0) for field in fields},
            }
        lookup.close()
    return {"fields": list(fields), "splits": splits, "contexts": contexts, "distinct": distinct}


def preview_text(report: Dict[str, Any]) -> str:
    names = ["sentence", *report["fields"]]
    width = max(map(len, names))
    lines: List[str] = []
    for split, part in report["splits"].items():
        for number, texts in enumerate(part["examples"], 1):
            lines.append(f"{split}, line {number} of the text")
            lines += [
                f"  {name.ljust(width)}  {'(nothing)' if text is None else text}"
                for name, text in zip(names, texts, strict=True)
            ]
            lines.append("")
    table = [["split", "field", "sentences", "with a value", "that says nothing"]]
    for split, part in report["splits"].items():
        for field in report["fields"]:
            counts = part["sentences"], part["given"][field], part["nothing"][field]
            table.append([split, field, *map(str, counts)])
    if report["fields"]:
        lines += [aligned_table(table), ""]
    lines.append(f"{report['distinct']} distinct texts of {report['contexts']}; nothing was written")
    return "\n".join(lines)
