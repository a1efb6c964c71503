"""Makes fairseq examples of the current sentence with its context as vectors."""

from typing import Any, Dict, List, Optional, Tuple

import numpy as np
import torch

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data import randomness
from ctxmt_fairseq.data.context_dataset import ContextDataset
from ctxmt_fairseq.data.context_options import VectorOptions
from ctxmt_fairseq.data.windows import Slots, check_several
from ctxmt_fairseq.text import absence
from ctxmt_fairseq.vectors.sentence_contexts import SentenceContexts

# Offsets for ``WindowBuilder.elsewhere``, which no previous sentence has: metadata, the current sentence.
_RECORD, _OWN = 0, 200


class MetadataContextDataset(ContextDataset):
    """The current sentence, previous sentences and metadata as vectors (MTCue, section 2.2).

    An example's ``source`` is the current sentence; ``vectors`` (M,) are rows of ``contexts.vectors``, and
    ``distances`` (M,) say what each is: ``CURRENT``, 1 and more for previous sentences, ``METADATA``. What is
    missing has no place among them.

    Args:
        contexts: those of all sentences, also of sentences that are only context.
        tags: (N,) the tag of each row of ``contexts.vectors``, 0 for one that the training data does not
            have; None: there are no tags.
    """

    arrangement = "vectors"
    options: VectorOptions

    def __init__(
        self, *args: Any, contexts: SentenceContexts, tags: Optional[np.ndarray] = None, **kwargs: Any
    ):
        super().__init__(*args, **kwargs)
        if self.options.context_selection == "random":
            check_several(self.builder.documents)
        self.current_vector = self.options.current_vector == "yes"
        wants_sentences = self.current_vector or self.options.source_context > 0
        if wants_sentences and len(contexts.sentences) and contexts.sentences[0] < 0:
            raise BadInput(
                f"{self.name}: the context store has no vectors of sentences; make one that has, or use "
                "--source-context 0 and --current-vector no"
            )
        self.contexts = contexts
        self.tags = tags

    # ---- examples --------------------------------------------------------------------------------------

    def source_side(self, line: int, slots: Slots) -> Dict[str, Any]:
        current = self._current(line)
        vectors, distances = self._vectors(line, slots)
        kept = self._kept(line, len(vectors))
        return {"source": current, "current": current, "vectors": vectors[kept], "distances": distances[kept]}

    def _vectors(self, line: int, slots: Slots) -> Tuple[np.ndarray, np.ndarray]:
        """Give the rows (M,) and distances (M,) of a line's vectors."""
        selection = self.options.context_selection
        nothing = np.zeros(0, np.int64)
        if selection == "absent":
            return nothing, nothing
        own = record = line
        if selection == "random":
            own, record = (
                int(self.builder.elsewhere(np.array([line]), offset, self.epoch_of_draws)[0])
                for offset in (_OWN, _RECORD)
            )
        before = np.asarray(slots.source, np.int64)  # farthest first
        known = self.contexts.sentences[before.clip(min=0)]
        rows = np.where(before == absence.EMPTY_SENTENCE, self.contexts.empty, known)
        there = before != absence.NO_SENTENCE
        distances = np.arange(len(before), 0, -1)[there]
        metadata = np.asarray(self.contexts.metadata[record], np.int64)
        metadata = metadata[metadata >= 0]
        sentence = [int(self.contexts.sentences[own])] if self.current_vector else []
        rows = np.concatenate([metadata, rows[there], sentence]).astype(np.int64)
        if selection == "empty":
            rows[:] = self.contexts.empty
        kinds = np.full(len(metadata), absence.METADATA), distances, np.full(len(sentence), absence.CURRENT)
        return rows, np.concatenate(kinds).astype(np.int64)

    def _kept(self, line: int, count: int) -> np.ndarray:
        """Draw which of a line's vectors context dropout leaves: (count,) bool."""
        if not (self.training and self.options.context_dropout and count):
            return np.ones(count, bool)
        seeds = randomness.CONTEXT_DROPOUT, self.builder.seed, self.epoch
        draws = randomness.uniform(*seeds, line, np.arange(count))
        kept = draws >= self.options.context_dropout
        kept[draws.argmax()] = True
        return kept

    def context_batch(self, samples: List[Dict[str, Any]]) -> Dict[str, torch.Tensor]:
        """Make the context of B examples, of which the one with the most vectors has M, at least 1.
        ``distances`` (B, M) are ``NO_VECTOR`` where there is no vector; ``rows`` (B, M), -1 there; for models
        that read vectors ``vectors`` (B, M, R) float32, zeros there; if there are tags, ``tags`` (B, M) of
        the metadata, ``NO_TAG`` elsewhere."""
        width = max([1, *(len(sample["vectors"]) for sample in samples)])
        rows = np.full((len(samples), width), absence.NO_TEXT)
        distances = np.full((len(samples), width), absence.NO_VECTOR)
        for number, sample in enumerate(samples):
            rows[number, : len(sample["vectors"])] = sample["vectors"]
            distances[number, : len(sample["vectors"])] = sample["distances"]
        batch = {"distances": torch.from_numpy(distances), "rows": torch.from_numpy(rows)}
        if self.request.format.kind == "vectors":
            vectors = torch.from_numpy(np.asarray(self.contexts.vectors[rows.clip(min=0)], np.float32))
            batch["vectors"] = vectors.masked_fill_(batch["rows"].lt(0).unsqueeze(-1), 0.0)
        if self.tags is not None:
            tags = np.where(distances == absence.METADATA, self.tags[rows.clip(min=0)], absence.NO_TAG)
            batch["tags"] = torch.from_numpy(tags).long()
        return batch

    # ---- what a model sees -----------------------------------------------------------------------------

    def visible_context(self, example: Dict[str, Any]) -> Any:
        return tuple(example["vectors"].tolist()), tuple(example["distances"].tolist())

    def restored_context(self, number: int, context: Any) -> Dict[str, Any]:
        rows, distances = context
        return {"vectors": np.array(rows, np.int64), "distances": np.array(distances, np.int64)}
