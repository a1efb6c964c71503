"""Prose: a paragraph a line, translated sentence by sentence; the file is one document."""

from typing import List, Optional, Sequence, Tuple

from ctxmt_fairseq.generation.file_formats import FileFormat, Reading
from ctxmt_fairseq.generation.file_formats.sentences import sentence_cutter
from ctxmt_fairseq.generation.input_documents import InputDocuments, Translated


class Prose(FileFormat):
    """White space around and between sentences stays as it is; so do lines without a letter or digit."""

    def __init__(self, path: str, how: Reading):
        super().__init__(path, how)
        self.rows = self.lines()

    def documents(self, languages: Tuple[str, str]) -> InputDocuments:
        cut = sentence_cutter(languages[0])
        parts: List[str] = []  # of the file: all that is between sentences, and the sentences
        slots, lines = [], []
        for number, row in enumerate(self.rows):
            body = row.lstrip("\ufeff").strip()
            begin = row.index(body)
            parts.append(row[:begin])
            found = cut(body)
            for sentence in found:
                slots.append(len(parts))
                lines.append(number)
                parts += [sentence.rstrip(), sentence[len(sentence.rstrip()) :]]
            parts += [*([] if found else [body]), row[begin + len(body) :]]
        sentences = [parts[slot] for slot in slots]

        def render(_: InputDocuments, translated: Sequence[Optional[Translated]]) -> str:
            written = [*parts]
            for slot, each in zip(slots, translated, strict=True):
                written[slot] = each.text if each else written[slot]
            return "".join(written)

        height = len(self.rows)
        return InputDocuments.of_file(self.path, sentences, [len(sentences)], lines, height, render=render)
