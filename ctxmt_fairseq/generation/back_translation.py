"""What stands beside synthetic source text, so that both are a corpus (Sennrich et al. 2016)."""

import json
from typing import List, Optional, Tuple

from ctxmt_fairseq.data.documents import PathLike, iterate_ids
from ctxmt_fairseq.generation.input_documents import InputDocuments


def other_files(
    prefix: str,
    language: str,
    documents: InputDocuments,
    docids: PathLike,
    current: Optional[PathLike] = None,
    mark: Optional[Tuple[str, str]] = None,
) -> List[Tuple[str, str]]:
    """Files and their contents: the text that is translated, now the target side; its document ids; which
    lines are only context; metadata.

    Args:
        prefix, language: of the corpus, and of the text.
        documents: with one sentence for each line of ``docids``.
        current: given if some lines are context only.
        mark: field and text of every sentence's metadata.
    """
    files = [
        (f"{prefix}.{language}", documents.sentences),
        (f"{prefix}.docids", list(iterate_ids(docids))),
    ]
    if current is not None:
        files.append((f"{prefix}.current", [str(int(flag)) for flag in documents.current]))
    if mark is not None:
        record = json.dumps({mark[0]: mark[1]}, ensure_ascii=False)
        files.append((f"{prefix}.meta.jsonl", [record] * len(documents.sentences)))
    return [(name, "".join(f"{line}\n" for line in lines)) for name, lines in files]
