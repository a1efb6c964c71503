"""Prose: a paragraph a line, translated sentence by sentence; the file is one document."""

from typing import Optional, Sequence, Tuple

from ctxmt_fairseq.generation.file_formats import FileFormat, Reading
from ctxmt_fairseq.generation.file_formats.layout import body_of, in_place_of
from ctxmt_fairseq.generation.file_formats.sentences import sentence_cutter
from ctxmt_fairseq.generation.input_documents import InputDocuments, Translated


class Prose(FileFormat):
    """White space around and between sentences stays as it is; so do lines without a letter or digit."""

    def __init__(self, path: str, how: Reading):
        super().__init__(path, how)
        self.rows = self.lines()

    def documents(self, languages: Tuple[str, str]) -> InputDocuments:
        cut = sentence_cutter(languages[0])
        parts = [cut(body_of(row)) for row in self.rows]
        sentences = [part.strip() for each in parts for part in each]
        lines = [number for number, each in enumerate(parts) for _ in each]

        def render(_: InputDocuments, found: Sequence[Optional[Translated]]) -> str:
            rest = (each.text if each else "" for each in found)
            rows = [*self.rows]
            for number, each in enumerate(parts):
                if each:
                    text = "".join(in_place_of(part, next(rest)) for part in each)
                    rows[number] = in_place_of(rows[number], text)
            return "".join(rows)

        height = len(self.rows)
        return InputDocuments.of_file(self.path, sentences, [lines], height, render=render)
