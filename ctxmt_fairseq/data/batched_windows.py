"""Orders and batches windows as fairseq does: sizes include the context, the order depends on (seed, epoch)
alone, and batches lose no sentence."""

import logging
from typing import Any, Optional, Sequence, Tuple

import numpy as np
from fairseq.data import FairseqDataset

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data import ordering, randomness
from ctxmt_fairseq.data.repetition import Repetition
from ctxmt_fairseq.data.window_sizes import Sizes, WindowSizes
from ctxmt_fairseq.data.windows import WindowBuilder

logger = logging.getLogger(__name__)


class AllLines:
    """Acts as the array of a corpus's line numbers, which would be large."""

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


class BatchedWindows(FairseqDataset):
    """The windows around the lines of a corpus.

    Args:
        source, target: binarised sentences, each with ``</s>`` at its end, with a ``sizes`` array; target may
            be None.
        builder: builds the window of every sentence. Its seed is used for every random choice, and determines
            the example together with the epoch and the line.
        current: (n,) the lines that are translated, None for all; the others are only context.
        training: whether to shuffle, and to draw anew in every epoch.
        name: of the split, for messages.
        times: (sentences,) how often each is seen in an epoch, 1 or more (``Repetition``); None: once.
    """

    arrangement = "window"  # how context and current sentence share the source positions (``WindowSizes``)
    marks = 0  # so many tokens the subclass adds to a context sentence, or takes from it

    def __init__(
        self,
        source: Any,
        target: Optional[Any],
        builder: WindowBuilder,
        current: Optional[np.ndarray] = None,
        training: bool = False,
        name: str = "",
        times: Optional[np.ndarray] = None,
    ):
        self.source, self.target = source, target
        self.builder = builder
        self.options = builder.options if training else builder.options.evaluated()
        self.lines: Any = AllLines(builder.documents.sentences) if current is None else current
        if builder.shuffled is not None:
            builder.shuffled.among(self.lines[:])
        self.repetition = None
        if times is not None:
            self.repetition = Repetition(self.lines[:], times[self.lines[:]], builder.seed)
            self.lines = self.repetition.of(1)
        self.training = training
        self.name = name
        self.epoch = 1
        self.limits: Tuple[Optional[int], Optional[int]] = (None, None)
        self._whole: Optional[Sizes] = None
        self._sizes: Optional[Sizes] = None
        self._batches = ordering.Batches()

    def __len__(self) -> int:
        return len(self.lines)

    def set_epoch(self, epoch: int) -> None:
        depends = self.builder.depends_on_epoch
        if self.repetition is not None and self.repetition.depends_on_epoch:
            self.lines, depends = self.repetition.of(epoch), True
        if epoch != self.epoch and depends and self.training:
            self._whole = self._sizes = None
        self.epoch = epoch

    @property
    def can_reuse_epoch_itr_across_epochs(self) -> bool:
        """fairseq asks whether an epoch may have the batches of the one before it."""
        return not self.training

    @property
    def epoch_of_draws(self) -> int:
        """The epoch of the random choices, which is always the same in evaluation."""
        return self.epoch if self.training else 0

    # ---- sizes -----------------------------------------------------------------------------------------

    def measured(self, arrangement: Optional[str] = None) -> WindowSizes:
        """Make what measures this dataset's windows, arranged as they are or in another way."""
        targets = None if self.target is None else self.target.sizes
        arrangement = arrangement or self.arrangement
        return WindowSizes(self.builder, self.source.sizes, targets, arrangement, self.marks)

    @property
    def encoded_arrangement(self) -> str:
        """The arrangement of what the encoders read, which differs if sentences change places."""
        return self.arrangement

    @property
    def whole_sizes(self) -> Sizes:
        """The sizes that all windows would have without the models' limits."""
        if self._whole is None:
            self._whole = self.measured().sizes(self.lines, self.epoch_of_draws)
        return self._whole

    @property
    def window_sizes(self) -> Sizes:
        """The sizes of all windows within the current limits."""
        if self._sizes is None:
            self._sizes = whole = self.whole_sizes
            long = np.flatnonzero(self.exceeding(whole))
            if len(long):
                self._sizes = Sizes(*(array.copy() for array in whole))
                measured = self.measured(self.encoded_arrangement)
                shortened = measured.sizes(self.lines[long], self.epoch_of_draws, *self.limits)
                for sizes, values in zip(self._sizes, shortened, strict=True):
                    sizes[long] = values
        return self._sizes

    def exceeding(self, sizes: Sequence[np.ndarray]) -> np.ndarray:
        """Tell which source or target sizes are above the limits: (n,) bool."""
        too_long = np.zeros(len(sizes[0]), bool)
        for tokens, limit in zip(sizes[:2], self.limits, strict=True):
            if limit is not None:
                too_long |= tokens > limit
        return too_long

    @property
    def sizes(self) -> np.ndarray:
        """(n, 2): the source and target tokens of every window."""
        return np.stack([self.window_sizes.source, self.window_sizes.target], axis=1)

    def size(self, index: int) -> Tuple[int, int]:
        return int(self.window_sizes.source[index]), int(self.window_sizes.target[index])

    def num_tokens(self, index: int) -> int:
        return int(self.num_tokens_vec(np.array([index]))[0])

    def num_tokens_vec(self, indices: np.ndarray) -> np.ndarray:
        """(m,): what ``--max-tokens`` counts of examples, which is their longer side."""
        source, target = self.counted_sizes
        return np.maximum(source[indices], target[indices])

    @property
    def counted_sizes(self) -> Sequence[np.ndarray]:
        """(n,) each: the examples' source and target tokens that ``--max-tokens`` counts."""
        return self.current_sizes if self.options.count_current_tokens else self.window_sizes[:2]

    @property
    def current_sizes(self) -> Tuple[np.ndarray, np.ndarray]:
        """(n,) each: the source and target tokens of the current sentences."""
        return self.measured().current(self.lines[:])

    # ---- order and batches -----------------------------------------------------------------------------

    def ordered_indices(self) -> np.ndarray:
        """Sort examples by size; the order of equal sizes is drawn from (seed, epoch)."""
        sizes = self.current_sizes if self.options.count_current_tokens else self.order_sizes()
        return ordering.by_size(sizes, self.order_generator())

    def order_sizes(self) -> Sequence[np.ndarray]:
        """The sizes that examples are sorted by, (n,) each: as in fairseq the source's, then the target's."""
        # Without limits, because fairseq tells them later, and the order must not depend on that moment.
        return self.whole_sizes.source, self.whole_sizes.target

    def order_generator(self) -> Optional[np.random.Generator]:
        """Draws the order of an epoch's examples in training; None: evaluation keeps the corpus's order."""
        seeds = (randomness.ORDER, self.builder.seed, self.epoch)
        return np.random.default_rng(seeds) if self.training else None

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
        if (source, target) != self.limits:
            self.limits, self._sizes = (source, target), None
        window, sentence = self.options.max_window_tokens, self.options.max_sentence_tokens
        if window is None and sentence is None and self.window_sizes is self.whole_sizes:
            return indices, []  # usual, and saves a pass over millions of examples
        left_out = self.exceeding(self.whole_sizes)
        left_out[left_out] = self.exceeding(self.measured().current(self.lines[np.flatnonzero(left_out)]))
        if window is not None:
            left_out |= self.whole_sizes.source > window
        if sentence is not None:
            measured = self.measured(self.encoded_arrangement)
            reach = self.whole_sizes.reach
            left_out |= measured.long_inputs(self.lines, sentence, self.epoch_of_draws, reach)
        shortened = int(np.count_nonzero((self.window_sizes.reach < self.whole_sizes.reach) & ~left_out))
        if shortened:
            logger.warning(
                "%s: %d of %d windows are longer than the model's %s source, %s target positions; "
                "their farthest context is left out", self.name, shortened, len(self), *self.limits
            )  # fmt: skip
        chosen = left_out[indices]
        return indices[~chosen], indices[chosen].tolist()

    def batch_by_size(self, indices, max_tokens=None, max_sentences=None, required_batch_size_multiple=1):
        """Do as fairseq does, but keep the last batch whatever its size, so that no sentence is lost."""
        if len(indices) == 0:
            raise BadInput(f"{self.name}: no example is left to make a batch of")
        self.check_sizes(indices, max_tokens)
        tokens = np.maximum(*self.counted_sizes)
        return self._batches(indices, tokens, max_tokens, max_sentences, required_batch_size_multiple)

    def check_sizes(self, indices: np.ndarray, max_tokens: Optional[int]) -> None:
        """Refuse an example that is longer than a batch may be."""
        sizes = self.window_sizes
        if max_tokens is None or max(sizes.source.max(), sizes.target.max()) <= max_tokens:
            return
        worst = indices[self.num_tokens_vec(indices).argmax()]
        if self.num_tokens(worst) > max_tokens:
            place, found = f"{self.name}: line {self.lines[worst] + 1}", self.num_tokens(worst)
            what = "sentence" if self.options.count_current_tokens else "window"
            most = f"a {what} of at most --max-tokens {max_tokens}"
            raise BadInput(f"{place}: expected {most}, found {found} tokens")
