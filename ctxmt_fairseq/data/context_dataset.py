"""The base of the three tasks' datasets: examples are built on the fly from single binarised sentences, their
sizes include the context, their order depends on (seed, epoch) alone, and batches lose no sentence."""

import itertools
import logging
from abc import ABC, abstractmethod
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np
import torch
from fairseq.data import Dictionary, FairseqDataset
from fairseq.data.language_pair_dataset import collate as collate_pairs

from ctxmt_fairseq.data import ordering, randomness
from ctxmt_fairseq.data.absence import EMPTY_SENTENCE, NO_SENTENCE
from ctxmt_fairseq.data.context_format import WantedContext
from ctxmt_fairseq.data.context_sizes import WindowParts
from ctxmt_fairseq.data.symbols import MASK, SEPARATOR
from ctxmt_fairseq.data.window_sizes import Sizes, WindowSizes
from ctxmt_fairseq.data.windows import Slots, WindowBuilder
from ctxmt_fairseq.errors import BadInput

logger = logging.getLogger(__name__)


def join(sentences: Sequence[torch.Tensor], separator: Optional[int]) -> torch.Tensor:
    """Join sentences that each end with ``</s>``: ``x1 <sep> x2 <sep> ... xK </s>``, (sum of lengths,). If
    ``separator`` is None, there is nothing between them."""
    if separator is None:
        return torch.cat([*(sentence[:-1] for sentence in sentences[:-1]), sentences[-1]]).long()
    window = torch.cat(list(sentences)).long()
    tokens = window.numpy()  # the same memory; faster to write to
    for end in itertools.accumulate(sentence.numel() for sentence in sentences[:-1]):
        tokens[end - 1] = separator
    return window


def _parts(places: List[Tuple[int, int, int]]) -> np.ndarray:
    """Turn a current sentence's first token, the first one after it, and the window's length into parts (B,
    3)."""
    return np.diff(places, prepend=0, axis=1)


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


class ContextDataset(FairseqDataset, ABC):
    """Base of the datasets. A subclass says what is on the source side (``source_side``) and in the batch
    (``context_batch``).

    An example is a dictionary: ``id`` (the current sentence's line, from 0), ``source`` (what the encoder
    reads), ``current`` (the source sentence to translate), ``target`` (the target window, or None),
    ``target_context_sizes`` (the number of sentences before the current one in the target window), with a
    target ``target_first`` (the number of tokens before the current one there), and what the subclass adds.

    Args:
        source, target: binarised sentences, each with ``</s>`` at its end, with a ``sizes`` array; target may
            be None.
        source_dictionary, target_dictionary: they have the separator and the mask.
        builder: builds the window of every sentence. Its seed is used for every random choice, and determines
            the example together with the epoch and the line.
        wanted: what the models want of the context; ``collater`` puts it into ``net_input``.
        current: (n,) the lines that are translated, None for all; the others are only context.
        training: whether to shuffle, and to draw anew in every epoch.
        name: the name of the split, for messages.
    """

    layout = "window"  # how context and current sentence share the source positions (``WindowSizes``)
    marks = 0  # so many tokens the subclass adds to a context sentence, or takes from it

    def __init__(
        self,
        source: Any,
        source_dictionary: Dictionary,
        target: Optional[Any],
        target_dictionary: Dictionary,
        builder: WindowBuilder,
        wanted: Optional[WantedContext] = None,
        current: Optional[np.ndarray] = None,
        training: bool = False,
        left_pad_source: bool = True,
        left_pad_target: bool = False,
        pad_to_multiple: int = 1,
        name: str = "",
    ):
        self.source, self.target = source, target
        self.dictionary = source_dictionary
        self.builder = builder
        self.options = builder.options if training else builder.options.evaluated()
        self.wanted = wanted or WantedContext()
        self.lines: Any = AllLines(builder.documents.sentences) if current is None else current
        if builder.shuffled is not None:
            builder.shuffled.among(self.lines[:])
        self.training = training
        self.name = name
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
        self.empty = torch.tensor([source_dictionary.eos()])
        self.epoch = 1
        self.limits: Tuple[Optional[int], Optional[int]] = (None, None)
        self._whole: Optional[Sizes] = None
        self._sizes: Optional[Sizes] = None
        self._batches = ordering.Batches()
        needs = any(column.target for column in builder.source_columns)
        if target is None and needs:
            raise BadInput(f"{name} needs target sentences, because they are context on the source side")

    def __len__(self) -> int:
        return len(self.lines)

    def set_epoch(self, epoch: int) -> None:
        if epoch != self.epoch and self.builder.depends_on_epoch and self.training:
            self._whole = self._sizes = None
        self.epoch = epoch

    @property
    def _draw_epoch(self) -> int:
        return self.epoch if self.training else 0

    # ---- examples --------------------------------------------------------------------------------------

    def __getitem__(self, index: int) -> Dict[str, Any]:
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> List[Dict[str, Any]]:
        """Build many examples at once, as torch's loader asks for them, in one pass of window arithmetic."""
        indices = np.asarray(indices, np.int64)  # may be none, for a worker that has run out of batches
        lines = self.lines[indices]
        reach = None if self.limits == (None, None) else self.window_sizes.reach[indices]
        slots = self.builder.slots(lines, self._draw_epoch, reach)
        rows = zip(*(side.tolist() for side in slots), strict=True)
        return [self._example(line, Slots(*row)) for line, row in zip(lines.tolist(), rows, strict=True)]

    def _example(self, line: int, slots: Slots) -> Dict[str, Any]:
        example = {"id": line, **self.inputs(line, slots), "target": None}
        if self.target is not None:
            current = self.target[line]
            target = join(self.target_context(slots) + [current], self.target_separator)
            example.update(target=target, target_first=len(target) - len(current))
        return example

    def inputs(self, line: int, slots: Slots) -> Dict[str, Any]:
        """Build the part of an example that does not depend on its translation, given its context (C and M
        sentences)."""
        sizes = sum(sentence != NO_SENTENCE for sentence in slots.target)
        return {**self.source_side(line, slots), "target_context_sizes": sizes}

    @abstractmethod
    def source_side(self, line: int, slots: Slots) -> Dict[str, Any]:
        """Give ``source``, ``current`` and what else the model reads of the source side."""

    def target_context(self, slots: Slots) -> List[torch.Tensor]:
        """The previous target sentences of a window, each with ``</s>`` at its end."""
        texts = (self.text(sentence, target=True) for sentence in slots.target)
        return [text for text in texts if text is not None]

    def text(self, sentence: int, target: bool) -> Optional[torch.Tensor]:
        """A context sentence's tokens, with ``</s>`` at the end; None: there is no such sentence."""
        if sentence == NO_SENTENCE:
            return None
        if sentence == EMPTY_SENTENCE:
            return self.empty
        sentences: Any = self.target if target else self.source
        return sentences[sentence]

    def _current(self, line: int) -> torch.Tensor:
        sentence, dropout = self.source[line], self.options.coword_dropout
        if not dropout or len(sentence) == 1:
            return sentence
        words = np.arange(len(sentence) - 1)
        draws = randomness.uniform(randomness.COWORD, self.builder.seed, self.epoch, line, words)
        sentence = sentence.clone()
        sentence[:-1][torch.from_numpy(draws < dropout)] = self.mask
        return sentence

    def collater(self, samples: List[Dict[str, Any]], pad_to_length: Optional[Dict[str, int]] = None):
        """Make a batch of B examples.

        Returns:
            fairseq's translation batch: ``id`` (B,), ``net_input`` with ``src_tokens`` (B, S), padded on the
            left, ``src_lengths`` (B,), ``prev_output_tokens`` (B, T), and ``target`` (B, T), ``ntokens``,
            ``nsentences``. Besides, ``windows`` is a dictionary of ``target_context_sizes`` (B,) and the
            subclass's ``context_batch``; it also is ``context`` in ``net_input`` if the model reads it.
            ``parts`` are its ``WindowParts``. Without samples the result is ``{}``.
        """
        if not samples:
            return {}
        batch = collate_pairs(samples, pad_to_length=pad_to_length, **self.padding)
        by_id = {sample["id"]: sample for sample in samples}
        samples = [by_id[line] for line in batch["id"].tolist()]
        batch["windows"] = {
            "target_context_sizes": torch.tensor([sample["target_context_sizes"] for sample in samples]),
            **self.context_batch(samples),
        }
        if self.wanted.format.kind:
            batch["net_input"]["context"] = batch["windows"]
        batch["parts"] = self._window_parts(samples)
        return batch

    @staticmethod
    def _window_parts(samples: List[Dict[str, Any]]) -> WindowParts:
        source = target = None
        if "current_span" in samples[0]:
            source = _parts([(*sample["current_span"], len(sample["source"])) for sample in samples])
        if samples[0]["target"] is not None:
            lengths = [len(sample["target"]) for sample in samples]
            firsts = [sample["target_first"] for sample in samples]
            target = _parts(list(zip(firsts, lengths, lengths, strict=True)))
        return WindowParts(
            np.array([sample["id"] for sample in samples]),
            tuple(sample["current"] for sample in samples),
            np.array([len(sample["source"]) for sample in samples]),
            np.array([sample["target_context_sizes"] for sample in samples]),
            source,
            target,
        )

    @abstractmethod
    def context_batch(self, samples: List[Dict[str, Any]]) -> Dict[str, Any]:
        """Make the source context of a batch, with its rows in this order."""

    # ---- what a model sees -----------------------------------------------------------------------------

    def visible(self, example: Dict[str, Any]) -> Tuple[Any, ...]:
        """Give all that a model sees of an example's source side, as a key: its line, which only names it, is
        left out. The first two entries are the source's tokens and the number of target context sentences."""
        return (
            tuple(example["source"].tolist()),
            example["target_context_sizes"],
            self.visible_context(example),
        )

    def restored(self, number: int, visible: Tuple[Any, ...]) -> Dict[str, Any]:
        """Make an example again of what ``visible`` gave, for the collater, with line ``number`` and without
        target."""
        tokens, sizes, context = visible
        source = torch.tensor(tokens)
        named = {"id": number, "source": source, "current": source, "target": None}
        return {**named, "target_context_sizes": sizes, **self.restored_context(number, context)}

    @abstractmethod
    def visible_context(self, example: Dict[str, Any]) -> Any:
        """Give what the subclass adds to ``visible``."""

    @abstractmethod
    def restored_context(self, number: int, context: Any) -> Dict[str, Any]:
        """Turn what ``visible_context`` gave into entries of an example."""

    # ---- sizes -----------------------------------------------------------------------------------------

    def measured(self, layout: Optional[str] = None) -> WindowSizes:
        """Make what measures this dataset's windows; a subclass in which sentences change places names
        another layout."""
        targets = None if self.target is None else self.target.sizes
        return WindowSizes(self.builder, self.source.sizes, targets, layout or self.layout, self.marks)

    @property
    def input_layout(self) -> str:
        """The layout of what the encoders read. It is not ``layout`` if sentences change places."""
        return self.layout

    @property
    def whole_sizes(self) -> Sizes:
        """The sizes that all windows would have without limits."""
        if self._whole is None:
            self._whole = self.measured().sizes(self.lines, self._draw_epoch)
        return self._whole

    @property
    def window_sizes(self) -> Sizes:
        """The sizes of all windows within the current limits."""
        if self._sizes is None:
            self._sizes = whole = self.whole_sizes
            long = np.flatnonzero(self._exceeding(whole))
            if len(long):
                self._sizes = Sizes(*(array.copy() for array in whole))
                shortened = self.measured().sizes(self.lines[long], self._draw_epoch, *self.limits)
                for sizes, values in zip(self._sizes, shortened, strict=True):
                    sizes[long] = values
        return self._sizes

    def _exceeding(self, sizes: Sequence[np.ndarray]) -> np.ndarray:
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
        """The sizes that examples are sorted by, the most important first: (n,) each. fairseq takes the
        source, then the target."""
        # Without limits, because fairseq tells them later, and the order must not depend on that moment.
        return self.whole_sizes.source, self.whole_sizes.target

    def order_generator(self) -> Optional[np.random.Generator]:
        """Draws the order of an epoch's examples in training; None: an evaluation keeps the corpus's
        order."""
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
        left_out = self._exceeding(self.whole_sizes)
        left_out[left_out] = self._exceeding(self.measured().current(self.lines[np.flatnonzero(left_out)]))
        if window is not None:
            left_out |= self.whole_sizes.source > window
        if sentence is not None:
            measured = self.measured(self.input_layout)
            left_out |= measured.long_inputs(self.lines, sentence, self._draw_epoch)
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
            raise BadInput(
                f"{self.name}: line {self.lines[worst] + 1}: expected a "
                f"{'sentence' if self.options.count_current_tokens else 'window'} of at most "
                f"--max-tokens {max_tokens}, found {self.num_tokens(worst)} tokens"
            )
