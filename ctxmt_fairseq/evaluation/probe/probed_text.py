"""The text on which models are probed: sources, references and documents, as text and as tokens."""

from dataclasses import dataclass
from typing import List, Mapping, Optional, Sequence

import numpy as np
import torch

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.journal import fingerprint
from ctxmt_fairseq.evaluation.metrics import Translation
from ctxmt_fairseq.generation.forced_scoring import MAX_TOKENS, TranslationScorer
from ctxmt_fairseq.generation.input_documents import read_parallel
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.languages import words_of
from ctxmt_fairseq.text.metadata_files import MetadataFiles
from ctxmt_fairseq.text.text_lines import PathLike
from ctxmt_fairseq.vectors.sentence_contexts import SentenceContexts


@dataclass(frozen=True)
class ProbedText:
    """Sentences and their references, as text and as the models read them.

    Attributes:
        references: a line for each sentence, in the form of the models' output (such as lower case).
        current: (n,) the numbers of the lines to translate and score; the others serve as context only.
        sources, targets: the tokens of every line, with ``</s>`` at the end.
        contexts: what the models read with the sentences besides tokens.
        sentences, written: the sources and references as the files have them, which become tokens.
    """

    references: List[str]
    documents: Documents
    current: np.ndarray
    sources: List[torch.Tensor]
    targets: List[torch.Tensor]
    contexts: Optional[SentenceContexts]
    sentences: List[str]
    written: Sequence[str]

    @property
    def current_references(self) -> List[str]:
        """The references of the n lines in ``current``."""
        return [self.references[line] for line in self.current]

    @property
    def content(self) -> str:
        """The ``content`` of a ``Translation`` of the current lines."""
        return fingerprint([[self.written[line] for line in self.current]])

    @property
    def words(self) -> int:
        """The number of words in the current references."""
        return sum(len(words_of(reference)) for reference in self.current_references)

    @property
    def document_lengths(self) -> List[int]:
        """The number of current lines in each document that has any."""
        starts, _ = self.documents.bounds(self.current)
        return np.unique(starts, return_counts=True)[1].tolist()

    def scorer(self, max_tokens: int = MAX_TOKENS) -> TranslationScorer:
        """Scores the references."""
        return TranslationScorer(
            self.sources, self.targets, self.documents, self.contexts, self.current, max_tokens
        )

    def translation(self, hypotheses: List[str]) -> Translation:
        """A translation of the current lines together with its references."""
        return Translation(hypotheses, [self.current_references], self.document_lengths)


def read_probed_text(prefix: PathLike, loaded: LoadedModels) -> ProbedText:
    """Read ``PREFIX.SRC``, ``PREFIX.TGT`` (in the models' languages) and ``PREFIX.docids``;
    ``PREFIX.current`` if it is there; and for models that read metadata the files of ``PREFIX.meta``.
    """
    text, references, reference_file = read_parallel(prefix, loaded.languages)
    current = np.flatnonzero(text.current)
    if not any(references[line] for line in current):
        raise BadInput("expected references of sentences to translate, found none", reference_file)
    loaded.warn_of_unknown(prefix, text.sentences, references)
    metadata: Sequence[Mapping[str, str]] = ()
    if loaded.reads_metadata:
        metadata = MetadataFiles.beside(prefix).of_lines(len(text.sentences))
    return probed_text(loaded, text.sentences, references, text.documents, current, metadata)


def probed_text(
    loaded: LoadedModels,
    sentences: List[str],
    references: Sequence[str],
    documents: Documents,
    current: np.ndarray,
    metadata: Sequence[Mapping[str, str]],
) -> ProbedText:
    """Have models read sentences and their references, with the metadata of each, if they read any."""
    return ProbedText(
        [loaded.target_subwords.steps.surface(reference) for reference in references],
        documents,
        current,
        [loaded.encode_source(sentence) for sentence in sentences],
        [loaded.encode_target(reference) for reference in references],
        loaded.contexts_of(sentences, metadata) if loaded.reads_metadata else None,
        sentences,
        references,
    )
