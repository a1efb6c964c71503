"""The files beside a back-translation, so that both are a training corpus (Sennrich et al. 2016)."""

from typing import Dict, Iterable, List, Optional, Tuple

from ctxmt_fairseq.generation.input_documents import InputDocuments
from ctxmt_fairseq.text.documents import iterate_ids
from ctxmt_fairseq.text.metadata_files import metadata_line
from ctxmt_fairseq.text.text_lines import PathLike


def other_files(
    prefix: str,
    language: str,
    documents: InputDocuments,
    docids: PathLike,
    current: Optional[PathLike] = None,
    mark: Optional[Tuple[str, str]] = None,
) -> List[Tuple[str, Optional[str]]]:
    """Give the corpus's other files and their contents: the text that was translated, now the target side;
    its document ids; which lines are only context; metadata, for every sentence the field and text of
    ``mark``. None: this corpus has no such file (``write_files``)."""
    columns: Dict[str, Optional[Iterable[object]]] = {
        language: documents.sentences,
        "docids": iterate_ids(docids),
        "current": None if current is None else documents.current.astype(int),
        "meta.jsonl": [metadata_line(dict([mark]))] * len(documents.sentences) if mark else None,
    }
    return [
        (f"{prefix}.{column}", None if lines is None else "".join(f"{line}\n" for line in lines))
        for column, lines in columns.items()
    ]
