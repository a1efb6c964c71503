"""Tables: text in columns with tabs between them, the first line their names."""

from typing import List, Optional, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.generation.file_formats import FileFormat, Reading
from ctxmt_fairseq.generation.file_formats.layout import body_and_end
from ctxmt_fairseq.generation.input_documents import ADDED, InputDocuments, Translated
from ctxmt_fairseq.text.documents import Documents, document_id


class Table(FileFormat):
    """Gets a column ``translation``, and ``score`` if that is asked for, behind the others."""

    whole = False

    def __init__(self, path: str, how: Reading):
        super().__init__(path, how)
        head, *rows = self.lines() or [""]
        names = head.rstrip("\r\n").removeprefix("\ufeff").split("\t")
        for name in (how.source, how.document):
            if names.count(name) != 1:
                raise BadInput(f"expected one column {name!r}, found {', '.join(names)[:200]}", path, 1)
        if taken := [name for name in ADDED if name in names]:
            raise BadInput(f"rename the column {taken[0]!r}, which the output adds", path, 1)
        source, document = names.index(how.source), names.index(how.document)
        self.head, self.rows, self.sentences, self.ids = head, rows, list[str](), list[str]()
        for number, row in enumerate(rows, 2):
            cells = row.rstrip("\r\n").split("\t")
            if len(cells) != len(names):
                raise BadInput(f"expected {len(names)} columns, found {len(cells)}", path, number)
            if not (name := document_id(cells[document])):
                raise BadInput(f"expected a document's id in the column {how.document!r}", path, number)
            self.sentences.append(cells[source].strip())
            self.ids.append(name)

    def documents(self, languages: Tuple[str, str]) -> InputDocuments:
        count = len(self.sentences)
        documents, lines = Documents.from_ids(self.ids), 1 + np.arange(count)
        return InputDocuments(
            self.sentences, documents, np.ones(count, bool), lines, count + 1, self.path, render=self._render
        )

    def _render(self, documents: InputDocuments, found: Sequence[Optional[Translated]]) -> str:
        scored = any(each is not None and each.score is not None for each in found)
        lines = [_with(self.head, ADDED if scored else ADDED[:1])]
        for row, each in zip(self.rows, found, strict=True):
            cells: List[str] = [each.text if each else ""]
            cells += [f"{each.score:.4f}" if each and each.score is not None else ""] if scored else []
            lines.append(_with(row, cells))
        return "".join(lines)


def _with(row: str, cells: Sequence[str]) -> str:
    line, end = body_and_end(row)
    return "\t".join([line, *cells]) + end
