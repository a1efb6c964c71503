"""Sizes, order and batches of examples with context: sizes that include it, an order that depends on (seed,
epoch) alone, batches that lose no sentence."""

import logging
from typing import Any, Optional, Sequence, Tuple

import numpy as np
from fairseq.data import FairseqDataset

from ctxmt_fairseq.data import ordering, randomness
from ctxmt_fairseq.data.input_lengths import long_inputs
from ctxmt_fairseq.data.windows import Sizes, WindowBuilder
from ctxmt_fairseq.errors import BadInput

logger = logging.getLogger(__name__)


class AllLines:
    """The lines of a corpus as if they were an array of their numbers, which would be large."""

    def __init__(self, count: int):
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, places: Any) -> Any:
        if isinstance(places, slice):
            return np.arange(*places.indices(self.count), dtype=np.int32)
        places = np.asarray(places)
        if places.max(initial=0) >= self.count or places.min(initial=0) < -self.count:
            raise IndexError(f"a line of {self.count}")
        return np.where(places < 0, places + self.count, places)

    def __array__(self, dtype: Any = np.int32) -> np.ndarray:
        return np.arange(self.count, dtype=dtype)


class SizedDataset(FairseqDataset):
    """Base of ``ContextDataset``: how large its windows are, which fit the model, in what batches they come.

    Args:
        source, target: sentences with a ``sizes`` array; target may be None.
        builder: the window of every sentence.
        current: (n,) lines that are translated; None for all. The others serve as context only.
        training: shuffle, and apply the three options below.
        seed: of every random choice; with the epoch and the line it determines the example.
        name: of the split, for messages.
        max_window_tokens: training examples with more source tokens, context included, are left out.
        max_sentence_tokens: training examples with ``long_inputs`` are left out.
        count_current_tokens: order and batch training examples by the sizes of their current sentences alone,
            as if they had no context.
    """

    layout = "window"  # how context and current sentence share the source positions (``WindowBuilder.sizes``)
    marks = 0  # tokens that the subclass adds to a context sentence, or takes from it

    def __init__(
        self,
        source: Any,
        target: Optional[Any],
        builder: WindowBuilder,
        current: Optional[np.ndarray],
        training: bool,
        seed: int,
        name: str,
        max_window_tokens: Optional[int] = None,
        max_sentence_tokens: Optional[int] = None,
        count_current_tokens: bool = False,
    ):
        self.source, self.target = source, target
        self.builder = builder
        self.lines: Any = AllLines(builder.documents.sentences) if current is None else current
        if builder.shuffled is not None:
            builder.shuffled.among(self.lines[:])
        self.training = training
        self.max_window_tokens = max_window_tokens if training else None
        self.max_sentence_tokens = max_sentence_tokens if training else None
        self.count_current_tokens = count_current_tokens and training
        self.seed = seed
        self.name = name
        self.epoch = 1
        self.limits: Tuple[Optional[int], Optional[int]] = (None, None)
        self._whole: Optional[Sizes] = None
        self._sizes: Optional[Sizes] = None
        self._batches = ordering.Batches()

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
    def input_layout(self) -> str:
        """The layout of what the encoders read; another than ``layout`` where sentences change places."""
        return self.layout

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

    @property
    def _current_sizes(self) -> Tuple[np.ndarray, np.ndarray]:
        """(n,) source and target tokens of the current sentences."""
        source = np.asarray(self.source.sizes)[self.lines[:]]
        if self.target is None:
            return source, np.zeros_like(source)
        return source, np.asarray(self.target.sizes)[self.lines[:]]

    def num_tokens(self, index: int) -> int:
        return int(self.num_tokens_vec(np.array([index]))[0])

    def num_tokens_vec(self, indices: np.ndarray) -> np.ndarray:
        """(m,) what ``--max-tokens`` counts of examples: the longer side."""
        source, target = self._counted_sizes
        return np.maximum(source[indices], target[indices])

    @property
    def _counted_sizes(self) -> Tuple[np.ndarray, np.ndarray]:
        """(n,) source and target tokens of the examples as ``--max-tokens`` counts them."""
        if self.count_current_tokens:
            return self._current_sizes
        return self.window_sizes.source, self.window_sizes.target

    def ordered_indices(self) -> np.ndarray:
        """Examples of like sizes side by side; equal sizes in an order drawn from (seed, epoch)."""
        sizes = self._current_sizes if self.count_current_tokens else self._sizes_of_batches()
        return ordering.by_size(sizes, self.order_generator())

    def _sizes_of_batches(self) -> Sequence[np.ndarray]:
        """What examples are ordered by, the most important first: (n,) each. fairseq: source, then target."""
        # Without limits: fairseq tells them later, and the order must not depend on when.
        return self.whole_sizes.source, self.whole_sizes.target

    def order_generator(self) -> Optional[np.random.Generator]:
        """For the order of an epoch's examples in training; None in evaluation, which keeps the corpus'."""
        return np.random.default_rng((randomness.ORDER, self.seed, self.epoch)) if self.training else None

    def filter_indices_by_size(self, indices: np.ndarray, max_sizes: Any):
        """Shorten windows that the model cannot hold, and leave out what cannot be shortened.

        Args:
            indices: (m,) examples.
            max_sizes: tokens of the source and of the target window, or one number for both; None: no limit.

        Returns:
            the indices to use, and a list of those left out: examples whose current sentence alone is too
            long, and in training those that ``max_window_tokens`` or ``max_sentence_tokens`` excludes.
        """
        source, target = max_sizes if isinstance(max_sizes, (tuple, list)) else (max_sizes, max_sizes)
        limits = source, target
        if limits != self.limits:
            self.limits, self._sizes = limits, None
        unlimited = self.max_window_tokens is None and self.max_sentence_tokens is None
        if unlimited and self.window_sizes is self.whole_sizes:
            return indices, []  # the usual case; millions of examples need not be gone through
        left_out = np.zeros(len(self), bool)
        left_out[self._too_long()] = True
        if self.max_window_tokens is not None:
            left_out |= self.whole_sizes.source > self.max_window_tokens
        if self.max_sentence_tokens is not None:
            left_out |= long_inputs(
                self.builder,
                self.lines,
                self.max_sentence_tokens,
                self.source.sizes,
                None if self.target is None else self.target.sizes,
                self._draw_epoch,
                self.input_layout,
                self.marks,
            )
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
        tokens = np.maximum(*self._counted_sizes)
        return self._batches(indices, tokens, max_tokens, max_sentences, required_batch_size_multiple)

    def _check_sizes(self, indices: np.ndarray, max_tokens: Optional[int]) -> None:
        sizes = self.window_sizes
        if max_tokens is None or max(sizes.source.max(), sizes.target.max()) <= max_tokens:
            return
        worst = indices[self.num_tokens_vec(indices).argmax()]
        if self.num_tokens(worst) > max_tokens:
            raise BadInput(
                f"{self.name}: line {self.lines[worst] + 1}: expected a "
                f"{'sentence' if self.count_current_tokens else 'window'} of at most "
                f"--max-tokens {max_tokens}, found {self.num_tokens(worst)} tokens"
            )
