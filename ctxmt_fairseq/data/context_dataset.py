"""What the datasets of the three tasks share: sizes with context, an order that depends on (seed, epoch)
alone, batches that lose no sentence. Examples are built on the fly from single binarised sentences."""

import itertools
import logging
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

import numpy as np
import torch
from fairseq.data import Dictionary, FairseqDataset
from fairseq.data.language_pair_dataset import collate as collate_pairs

from ctxmt_fairseq.data import ordering, randomness
from ctxmt_fairseq.data.symbols import MASK, SEPARATOR
from ctxmt_fairseq.data.windows import ABSENT, EMPTY, Sizes, Slots, WindowBuilder
from ctxmt_fairseq.errors import BadInput

logger = logging.getLogger(__name__)


def join(sentences: Sequence[torch.Tensor], separator: int) -> torch.Tensor:
    """``x1 <sep> x2 <sep> ... xK </s>``: (sum of lengths,) from sentences that each end with ``</s>``."""
    window = torch.cat(list(sentences)).long()
    tokens = window.numpy()  # the same memory; faster to write to
    for end in itertools.accumulate(sentence.numel() for sentence in sentences[:-1]):
        tokens[end - 1] = separator
    return window


class ContextDataset(FairseqDataset):
    """Base: a subclass says what stands on the source side (``source_side``).

    An example is a dictionary: ``id`` (the current sentence's line, from 0), ``source`` (what the encoder
    reads), ``current`` (the source sentence to translate), ``target`` (the target window, or None),
    ``target_context_sizes`` (sentences before the current one in the target window), and what the subclass
    adds.

    Args:
        source, target: binarised sentences, each ending with ``</s>``, with a ``sizes`` array; target may
            be None.
        source_dictionary, target_dictionary: with the separator and the mask.
        builder: the window of every sentence.
        current: (n,) lines that are translated; None for all. The others serve as context only.
        training: shuffle, and apply ``coword_dropout`` and ``max_window_tokens``.
        coword_dropout: probability that a word of the current source sentence becomes the mask (CoWord
            dropout, Fernandes et al. 2021).
        max_window_tokens: training examples with more source tokens, context included, are left out.
        context_inputs: names of what ``collater`` puts into ``net_input``, for models that ask for them.
        seed: of every random choice; with the epoch and the line it determines the example.
    """

    layout = "window"  # how context and current sentence share the source positions (``WindowBuilder.sizes``)
    marks = 0  # tokens that the subclass adds to a context sentence

    def __init__(
        self,
        source: Any,
        source_dictionary: Dictionary,
        target: Optional[Any],
        target_dictionary: Dictionary,
        builder: WindowBuilder,
        current: Optional[np.ndarray] = None,
        training: bool = False,
        coword_dropout: float = 0.0,
        max_window_tokens: Optional[int] = None,
        context_inputs: Sequence[str] = (),
        seed: int = 1,
        left_pad_source: bool = True,
        left_pad_target: bool = False,
        pad_to_multiple: int = 1,
        name: str = "",
    ):
        self.source, self.target = source, target
        self.dictionary = source_dictionary
        self.builder = builder
        self.lines = np.arange(builder.documents.sentences, dtype=np.int32) if current is None else current
        self.training = training
        self.coword_dropout = coword_dropout if training else 0.0
        self.max_window_tokens = max_window_tokens if training else None
        self.context_inputs = context_inputs
        self.seed = seed
        self.name = name
        self.epoch = 1
        self.separator = source_dictionary.index(SEPARATOR)
        self.target_separator = target_dictionary.index(SEPARATOR)
        self.mask = source_dictionary.index(MASK)
        self.padding: Dict[str, Any] = dict(
            pad_idx=source_dictionary.pad(),
            eos_idx=source_dictionary.eos(),
            left_pad_source=left_pad_source,
            left_pad_target=left_pad_target,
            pad_to_multiple=pad_to_multiple,
        )
        self.limits: Tuple[Optional[int], Optional[int]] = (None, None)
        self._whole: Optional[Sizes] = None
        self._sizes: Optional[Sizes] = None
        self.empty = torch.tensor([source_dictionary.eos()])
        options = builder.options
        if target is None and (options.target_context_on_source or options.context_selection == "reference"):
            raise BadInput(f"{name}: expected target sentences, which stand as context on the source side")

    def __len__(self) -> int:
        return len(self.lines)

    # ---- randomness: a function of (seed, epoch, line) -------------------------------------------------

    def set_epoch(self, epoch: int) -> None:
        if epoch != self.epoch and self.builder.depends_on_epoch and self.training:
            self._whole = self._sizes = None
        self.epoch = epoch

    @property
    def _draw_epoch(self) -> int:
        return self.epoch if self.training else 0

    # ---- sizes -----------------------------------------------------------------------------------------

    def _measure(
        self, lines: np.ndarray, max_source: Optional[int] = None, max_target: Optional[int] = None
    ) -> Sizes:
        target_sizes = None if self.target is None else self.target.sizes
        limits = max_source, max_target, self.layout, self.marks
        return self.builder.sizes(lines, self.source.sizes, target_sizes, self._draw_epoch, *limits)

    @property
    def whole_sizes(self) -> Sizes:
        """Sizes of all windows if there were no limits."""
        if self._whole is None:
            self._whole = self._measure(self.lines)
        return self._whole

    @property
    def window_sizes(self) -> Sizes:
        """Sizes of all windows within the current limits."""
        if self._sizes is None:
            self._sizes = whole = self.whole_sizes
            long = np.flatnonzero(self._exceeding(whole))
            if len(long):
                self._sizes = Sizes(*(array.copy() for array in whole))
                for sizes, shortened in zip(
                    self._sizes, self._measure(self.lines[long], *self.limits), strict=True
                ):
                    sizes[long] = shortened
        return self._sizes

    def _exceeding(self, sizes: Sizes) -> np.ndarray:
        """Which windows are longer than the limits: (n,) bool."""
        too_long = np.zeros(len(self), bool)
        for tokens, limit in zip((sizes.source, sizes.target), self.limits, strict=True):
            if limit is not None:
                too_long |= tokens > limit
        return too_long

    def _too_long(self) -> np.ndarray:
        """Examples whose current sentence alone is longer than the limits: (m,)."""
        examples = np.flatnonzero(self._exceeding(self.whole_sizes))
        lines, too_long = self.lines[examples], np.zeros(len(examples), bool)
        for sentences, limit in zip((self.source, self.target), self.limits, strict=True):
            if sentences is not None and limit is not None:
                too_long |= np.asarray(sentences.sizes)[lines] > limit
        return examples[too_long]

    @property
    def sizes(self) -> np.ndarray:
        """(n, 2) source and target tokens of every window."""
        return np.stack([self.window_sizes.source, self.window_sizes.target], axis=1)

    def size(self, index: int) -> Tuple[int, int]:
        return int(self.window_sizes.source[index]), int(self.window_sizes.target[index])

    def num_tokens(self, index: int) -> int:
        return max(self.size(index))

    def num_tokens_vec(self, indices: np.ndarray) -> np.ndarray:
        return np.maximum(self.window_sizes.source[indices], self.window_sizes.target[indices])

    def ordered_indices(self) -> np.ndarray:
        """Examples by source, then target size; equal sizes in an order drawn from (seed, epoch)."""
        # By sizes without limits: fairseq tells the limits later, and the order must not depend on when.
        rng = np.random.default_rng((randomness.ORDER, self.seed, self.epoch)) if self.training else None
        return ordering.by_size(self.whole_sizes.source, self.whole_sizes.target, rng)

    def filter_indices_by_size(self, indices: np.ndarray, max_sizes: Any):
        """Shorten windows that the model cannot hold, and leave out what cannot be shortened.

        Args:
            indices: (m,) examples.
            max_sizes: tokens of the source and of the target window, or one number for both; None: no limit.

        Returns:
            the indices to use, and a list of those left out: examples whose current sentence alone is too
            long, and in training those longer than ``max_window_tokens``.
        """
        source, target = max_sizes if isinstance(max_sizes, (tuple, list)) else (max_sizes, max_sizes)
        limits = source, target
        if limits != self.limits:
            self.limits, self._sizes = limits, None
        if self.max_window_tokens is None and self.window_sizes is self.whole_sizes:
            return indices, []  # the usual case; millions of examples need not be gone through
        left_out = np.zeros(len(self), bool)
        left_out[self._too_long()] = True
        if self.max_window_tokens is not None:
            left_out |= self.whole_sizes.source > self.max_window_tokens
        shortened = int(np.count_nonzero((self.window_sizes.reach < self.whole_sizes.reach) & ~left_out))
        if shortened:
            logger.warning(
                "%s: %d of %d windows are longer than the model's %s source, %s target positions; "
                "their farthest context is left out", self.name, shortened, len(self), *limits
            )  # fmt: skip
        chosen = left_out[indices]
        return indices[~chosen], indices[chosen].tolist()

    def batch_by_size(self, indices, max_tokens=None, max_sentences=None, required_batch_size_multiple=1):
        """As fairseq's, but the last batch is kept whatever its size: no sentence is lost."""
        if len(indices) == 0:
            raise BadInput(f"{self.name}: no example is left to make a batch of")
        self._check_sizes(indices, max_tokens)
        batches = super().batch_by_size(indices, max_tokens, max_sentences, required_batch_size_multiple)
        batched = sum(len(batch) for batch in batches)
        if batched < len(indices):
            batches = list(batches) + [indices[batched:]]
        return batches

    def _check_sizes(self, indices: np.ndarray, max_tokens: Optional[int]) -> None:
        sizes = self.window_sizes
        if max_tokens is None or max(sizes.source.max(), sizes.target.max()) <= max_tokens:
            return
        worst = indices[self.num_tokens_vec(indices).argmax()]
        if self.num_tokens(worst) > max_tokens:
            raise BadInput(
                f"{self.name}: line {self.lines[worst] + 1}: expected a window of at most "
                f"--max-tokens {max_tokens}, found {self.num_tokens(worst)} tokens"
            )

    # ---- examples --------------------------------------------------------------------------------------

    def __getitem__(self, index: int) -> Dict[str, Any]:
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> List[Dict[str, Any]]:
        """Many examples at once, as torch's loader asks for them: one pass of window arithmetic per batch."""
        indices = np.asarray(indices, np.int64)  # a worker that has run out of batches asks for none
        lines = self.lines[indices]
        reach = None if self.limits == (None, None) else self.window_sizes.reach[indices]
        slots = self.builder.slots(lines, self._draw_epoch, reach)
        rows = zip(*(role.tolist() for role in slots), strict=True)
        return [self._example(line, Slots(*row)) for line, row in zip(lines.tolist(), rows, strict=True)]

    def _example(self, line: int, slots: Slots) -> Dict[str, Any]:
        target = None
        if self.target is not None:
            target = join(self.target_context(slots) + [self.target[line]], self.target_separator)
        return {"id": line, **self.inputs(line, slots), "target": target}

    def inputs(self, line: int, slots: Slots) -> Dict[str, Any]:
        """All of an example that does not depend on its translation, given its context (each role d
        sentences)."""
        sizes = sum(sentence != ABSENT for sentence in slots.target_before)
        return {**self.source_side(line, slots), "target_context_sizes": sizes}

    def source_side(self, line: int, slots: Slots) -> Dict[str, Any]:
        """``source``, ``current`` and what else the model reads of the source side."""
        raise NotImplementedError

    def target_context(self, slots: Slots) -> List[torch.Tensor]:
        """The previous target sentences of a window, each ending with ``</s>``."""
        return self._context(self.target, slots.target_before)

    def _context(self, sentences: Any, slots: Iterable[int]) -> List[torch.Tensor]:
        return [
            self.empty if sentence == EMPTY else sentences[int(sentence)]
            for sentence in slots
            if sentence != ABSENT
        ]

    def _current(self, line: int) -> torch.Tensor:
        sentence = self.source[line]
        if not self.coword_dropout or len(sentence) == 1:
            return sentence
        draws = randomness.uniform(
            randomness.COWORD, self.seed, self.epoch, line, np.arange(len(sentence) - 1)
        )
        sentence = sentence.clone()
        sentence[:-1][torch.from_numpy(draws < self.coword_dropout)] = self.mask
        return sentence

    def collater(self, samples: List[Dict[str, Any]], pad_to_length: Optional[Dict[str, int]] = None):
        """A batch of B examples.

        Returns:
            fairseq's translation batch: ``id`` (B,), ``net_input`` with ``src_tokens`` (B, S), left-padded,
            ``src_lengths`` (B,), ``prev_output_tokens`` (B, T), and ``target`` (B, T), ``ntokens``,
            ``nsentences``; ``current``, the B source sentences to translate; and ``windows``, a dictionary of
            ``target_context_sizes`` (B,) and the subclass' ``context_batch``, of which ``net_input`` holds
            those that the model asks for. ``{}`` for no samples.
        """
        if not samples:
            return {}
        batch = collate_pairs(samples, pad_to_length=pad_to_length, **self.padding)
        by_id = {sample["id"]: sample for sample in samples}
        samples = [by_id[line] for line in batch["id"].tolist()]
        batch["current"] = [sample["current"] for sample in samples]
        batch["windows"] = {
            "target_context_sizes": torch.tensor([sample["target_context_sizes"] for sample in samples]),
            **self.context_batch(samples),
        }
        for name in self.context_inputs:
            if name in batch["windows"]:
                batch["net_input"][name] = batch["windows"][name]
        return batch

    def context_batch(self, samples: List[Dict[str, Any]]) -> Dict[str, torch.Tensor]:
        """The source context of a batch, rows in its order."""
        raise NotImplementedError
