"""Makes fairseq examples of the current sentence with context sentences as inputs of their own."""

from typing import Any, Dict, Iterable, List, NamedTuple, Sequence, Tuple

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from ctxmt_fairseq.data import ordering, span_batches
from ctxmt_fairseq.data.context_dataset import ContextDataset, join
from ctxmt_fairseq.data.context_options import PREVIOUS_SOURCE, TARGET
from ctxmt_fairseq.data.context_sizes import ContextSizes
from ctxmt_fairseq.data.length_groups import length_groups
from ctxmt_fairseq.data.windows import Slots
from ctxmt_fairseq.text.absence import EMPTY_SENTENCE, NO_SENTENCE


class Row(NamedTuple):
    """A context sentence: its place among the corpus's sentences, its role, and its distance."""

    sentence: int
    role: int
    distance: int


def _number(sentence: Any, target: Any) -> Any:
    """Sentences of the corpus by numbers from 0, of source or target text; or arrays of them."""
    return 2 * (sentence - EMPTY_SENTENCE) + target


def _lengths(texts: Iterable[torch.Tensor]) -> np.ndarray:
    return np.array([len(text) for text in texts])


class MultiSourceDataset(ContextDataset):
    """Previous target, previous source and following source sentences are C rows, in this order.

    An example's ``source`` is the current sentence; ``context`` has C entries, which are tokens, or None if
    the document has no such sentence; ``context_rows`` says what they are.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.bos = torch.tensor([self.dictionary.bos()])
        self.span_length: int = getattr(self.builder.options, "batch_runs", 0)
        self.unique_sentences = self.span_length > 0

    @property
    def arrangement(self) -> str:  # type: ignore[override]
        return "joined" if self.request.format.joined else "rows"

    @property
    def swapped(self) -> bool:
        """Whether the current sentence is the context, and the joined context takes its place."""
        return self.options.context_selection == "swapped"

    @property
    def encoded_arrangement(self) -> str:
        return "joined" if self.swapped else self.arrangement

    @property
    def marks(self) -> int:  # type: ignore[override]
        return int(self.request.format.bos)

    # ---- order and batches -----------------------------------------------------------------------------

    def order_sizes(self) -> Sequence[np.ndarray]:
        # The current sentence and the context are padded apart, so both lengths matter.
        if not self.whole_sizes.reach.any():
            return super().order_sizes()
        source, target = self.current_sizes
        context = self.measured().longest_context(self.lines, self.epoch_of_draws)
        return ordering.winding((np.maximum(source, target) // 3, context, source))

    def batch_by_size(self, indices, max_tokens=None, max_sentences=None, required_batch_size_multiple=1):
        if not self.span_length or not len(indices):
            return super().batch_by_size(indices, max_tokens, max_sentences, required_batch_size_multiple)
        self.check_sizes(indices, max_tokens)
        indices, rng = np.sort(indices), self.order_generator()
        offset = int(rng.integers(self.span_length)) if rng else 0
        lines, inputs = self.lines[indices], self._inputs(indices)
        begins = span_batches.span_begins(lines, self.builder.documents, self.span_length, offset)
        batches = span_batches.batches_of_spans(begins, inputs, max_tokens, max_sentences, rng)
        return [indices[batch] for batch in batches]

    def _inputs(self, indices: np.ndarray) -> span_batches.Inputs:
        """Find what (m,) examples, in the order of their lines, add to a batch."""
        source, target = (sizes[indices] for sizes in self.counted_sizes)
        if self.options.count_current_tokens or self.arrangement == "joined":
            return span_batches.Inputs(source, np.zeros_like(source), target, np.empty((len(indices), 0)))
        lines, reach = self.lines[indices], self.window_sizes.reach[indices]
        source, current = self.current_sizes[0][indices], _number(lines[:, None], False)
        context = self.measured(self.encoded_arrangement).longest_context(lines, self.epoch_of_draws, reach)
        if self.swapped:
            return span_batches.Inputs(np.maximum(context, 1), source + self.marks, target, current)
        slots = self.builder.slots(lines, self.epoch_of_draws, reach).source
        text = np.array([column.target for column in self.builder.source_columns], np.int64)
        names = np.where(slots == NO_SENTENCE, -1, _number(slots, text))
        reused = self.request.format.reuse and not self.options.coword_dropout
        if reused:
            names = np.concatenate([current, names], axis=1)
        return span_batches.Inputs(source, context + self.marks * (context > 0), target, names, reused)

    # ---- examples --------------------------------------------------------------------------------------

    def source_side(self, line: int, slots: Slots) -> Dict[str, Any]:
        source = current = self._current(line)
        columns = self.builder.source_columns
        rows = [Row(sentence, c.role, c.distance) for c, sentence in zip(columns, slots.source, strict=True)]
        texts = [self.text(row.sentence, row.role == TARGET) for row in rows]
        present = [text for text in texts if text is not None]
        if self.swapped:
            source = join(present or [self.empty], self.separator)
            rows, texts = [Row(line, PREVIOUS_SOURCE, 1)], [current]
        elif self.request.format.joined:
            rows, texts = [Row(line, PREVIOUS_SOURCE, 1)], [None]
            if present:
                texts = [join(present, self.separator)]
        if not rows:
            rows, texts = [Row(NO_SENTENCE, PREVIOUS_SOURCE, 1)], [None]
        if self.request.format.bos:
            texts = [text if text is None else torch.cat([self.bos, text]) for text in texts]
        return {"source": source, "current": current, "context": texts, "context_rows": rows}

    def context_batch(self, samples: List[Dict[str, Any]]) -> Dict[str, Any]:
        """Make the context of B examples, C sentences each.

        Returns:
            ``tokens`` (N, L), padded on the right: the sentences to encode, at least one; ``index`` (B, C):
            which sentence is where, -1 for none; ``distances`` and ``roles`` (B, C); and ``sizes``, which are
            ``ContextSizes``. For a model that reuses states, the index first counts Q sentences that are
            current ones of the batch; ``reused`` (Q,) are their rows.
        """
        shared = self.unique_sentences and not self.request.format.joined
        # A sentence with masked words, or one that has changed places, is not what the corpus has.
        of_corpus = shared and not self.options.coword_dropout and not self.swapped
        names, texts = self._named(samples, shared)
        if self._grouped:
            texts = dict(sorted(texts.items(), key=lambda item: -len(item[1])))
        reused: Dict[Any, int] = {}
        if of_corpus and self.request.format.reuse:
            current = {(sample["id"], False): row for row, sample in enumerate(samples)}
            reused = {name: current[name] for name in texts if name in current}
        order = [*reused, *(name for name in texts if name not in reused)]
        places = {name: place for place, name in enumerate(order)}
        index = np.array([[places.get(name, -1) for name in row] for row in names])
        sentences = [texts[name] for name in order] or [self.empty]  # something to encode for every worker
        rows = [sample["context_rows"] for sample in samples]
        batch = {
            "tokens": self._pad(sentences[len(reused) :]),
            "index": torch.from_numpy(index),
            "distances": torch.tensor([[row.distance for row in line] for line in rows]),
            "roles": torch.tensor([[row.role for row in line] for line in rows]),
        }
        if reused:
            batch["reused"] = torch.tensor(list(reused.values()))
        source, encoded = _lengths(sample["source"] for sample in samples), _lengths(sentences)
        more: Dict[str, Any] = {}
        if of_corpus and self.names_sentences:
            more["keys"] = tuple(_number(*name) for name in order) or (_number(EMPTY_SENTENCE, False),)
            more["current_keys"] = tuple(_number(sample["id"], False) for sample in samples)
        if self._grouped:
            more["groups"] = length_groups(source, _lengths(sample["target"] for sample in samples))
            more["sentence_groups"] = length_groups(encoded[len(reused) :])
        return {**batch, "sizes": ContextSizes(index, source, encoded, **more)}

    @staticmethod
    def _named(
        samples: List[Dict[str, Any]], shared: bool
    ) -> Tuple[List[List[Any]], Dict[Any, torch.Tensor]]:
        """A name for each context sentence of each example, None where there is none; and the sentences by
        their names, of which equal ones of the corpus have the same if they are ``shared``."""
        names: List[List[Any]] = []
        texts: Dict[Any, torch.Tensor] = {}
        for number, sample in enumerate(samples):
            names.append([])
            rows = zip(sample["context_rows"], sample["context"], strict=True)
            for column, (row, text) in enumerate(rows):
                name = (row.sentence, row.role == TARGET) if shared else (number, column)
                names[-1].append(None if text is None else name)
                if text is not None:
                    texts.setdefault(name, text)
        return names, texts

    @property
    def _grouped(self) -> bool:
        """Whether batches are computed in groups: spans hold short and long sentences."""
        sides = self.padding["left_pad_source"], self.padding["left_pad_target"]
        return self.training and self.span_length > 0 and sides == (True, False) and self.target is not None

    def _pad(self, texts: Sequence[torch.Tensor]) -> torch.Tensor:
        """Pad sentences on the right: (n, L)."""
        if not texts:
            return torch.empty((0, 1), dtype=torch.int64)
        return pad_sequence([text.long() for text in texts], True, self.padding["pad_idx"])

    # ---- what a model sees -----------------------------------------------------------------------------

    def visible_context(self, example: Dict[str, Any]) -> Any:
        texts = tuple(None if text is None else tuple(text.tolist()) for text in example["context"])
        return texts, tuple((row.role, row.distance) for row in example["context_rows"])

    def restored_context(self, number: int, context: Any) -> Dict[str, Any]:
        texts, places = context
        return {
            "context": [None if text is None else torch.tensor(text) for text in texts],
            # Equal sentences may be in several places; here each counts as another sentence.
            "context_rows": [
                Row(-3 - number * len(places) - at, role, distance)
                for at, (role, distance) in enumerate(places)
            ],
        }
