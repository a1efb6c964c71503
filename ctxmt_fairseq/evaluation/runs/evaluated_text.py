"""The text on which a model is evaluated."""

from dataclasses import dataclass
from typing import Any, Dict, List, Optional

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.journal import fingerprint
from ctxmt_fairseq.evaluation.comet.inputs import CometText
from ctxmt_fairseq.evaluation.metrics import Translation, current_lengths
from ctxmt_fairseq.generation.input_documents import InputDocuments, read_parallel
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.text.metadata_files import MetadataFiles


@dataclass(frozen=True)
class EvaluatedText:
    """Sentences, their references, and what else is known of them; ``content`` is a hash of all of this."""

    prefix: str
    documents: InputDocuments
    references: List[str]
    reference_file: str
    metadata: Optional[List[Dict[str, str]]]
    content: str

    def translation(self, lines: List[str], surface: Any, reach: int = 0) -> Translation:
        """A translation of the text with its references, without the lines that serve as context only. Where
        translations are the first sentences of windows that ``reach`` so many lines farther
        (``--keep-sentence first``), no window begins with the last ones of a document: left out, too."""
        counted = self._counted(reach)
        lengths = current_lengths(self.documents.documents, counted)
        return Translation.of([lines, self.references], counted, surface, lengths)

    def comet(self, lines: List[str], reach: int = 0) -> CometText:
        """A translation as COMET reads it; the arguments are those of ``translation``."""
        kept = np.flatnonzero(self._counted(reach))
        return CometText(self.documents.sentences, lines, self.references, self.documents.documents, kept)

    def _counted(self, reach: int) -> np.ndarray:
        """Which lines of a translation count."""
        counted = self.documents.current
        if reach:
            lines = np.arange(len(counted))
            counted = counted & (lines + reach < self.documents.documents.bounds(lines)[1])
            if not counted.any():
                needed = f"documents of {reach + 1} or more sentences"
                raise BadInput(f"--keep-sentence first needs {needed}", self.prefix)
        return counted


def read_evaluated_text(prefix: str, loaded: LoadedModels) -> EvaluatedText:
    """Read ``PREFIX.SRC``, ``PREFIX.TGT`` (in the models' languages) and ``PREFIX.docids``;
    ``PREFIX.current`` if it is there; and for models that read metadata the files of ``PREFIX.meta``.
    """
    documents, references, reference_file = read_parallel(prefix, loaded.languages)
    if not documents.current.any():
        raise BadInput("expected sentences to translate, found none", f"{prefix}.{loaded.languages[0]}")
    metadata, files = None, MetadataFiles.beside(prefix)
    if loaded.reads_metadata and files:
        metadata = files.of_lines(len(documents.sentences))
    loaded.warn_of_unknown(prefix, documents.sentences, references)
    marks = [documents.documents.starts.tolist(), documents.current.tolist()]
    content = fingerprint([documents.sentences, references, marks, metadata])
    return EvaluatedText(prefix, documents, references, reference_file, metadata, content)
