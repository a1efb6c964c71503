"""Windows of consecutive sentences as fairseq examples, built on the fly from single binarised sentences."""

import logging
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np
import torch
from fairseq.data import Dictionary, FairseqDataset
from fairseq.data.language_pair_dataset import collate as collate_pairs

from ctxmt_fairseq.data import randomness
from ctxmt_fairseq.data.symbols import MASK, SEPARATOR
from ctxmt_fairseq.data.windows import ABSENT, EMPTY, Sizes, Slots, WindowBuilder
from ctxmt_fairseq.errors import BadInput

logger = logging.getLogger(__name__)


def join(sentences: Sequence[torch.Tensor], separator: int) -> torch.Tensor:
    """``x1 <sep> x2 <sep> ... xK </s>``: (sum of lengths,) from sentences that each end with ``</s>``."""
    window = torch.cat(list(sentences))
    ends = np.cumsum([len(sentence) for sentence in sentences])[:-1] - 1
    window[torch.from_numpy(ends)] = separator
    return window


class DocumentWindowDataset(FairseqDataset):
    """Context joined to the current sentence, on either side.

    An example is a dictionary: ``id`` (the current sentence's line, from 0), ``source`` and ``target`` (the
    windows, int64), ``current_segment`` (sentences before the current one in the source window) and
    ``target_context_sizes`` (sentences before the current one in the target window).

    Args:
        source, target: binarised sentences, each ending with ``</s>``, with a ``sizes`` array; target may
            be None.
        source_dictionary, target_dictionary: with the separator and the mask.
        builder: the window of every sentence.
        current: (n,) int64 lines that are translated; None for all. The others serve as context only.
        training: shuffle, and apply ``coword_dropout`` and ``max_window_tokens``.
        coword_dropout: probability that a word of the current source sentence becomes the mask (CoWord
            dropout, Fernandes et al. 2021).
        max_window_tokens: training examples with a longer source window are left out.
        context_inputs: names that ``collater`` adds to ``net_input``, for models that ask for them.
        seed: of every random choice; with the epoch and the line it determines the example.
    """

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
        self.lines = np.arange(builder.documents.sentences) if current is None else current
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
        self._sizes: Optional[Sizes] = None

    def __len__(self) -> int:
        return len(self.lines)

    # ---- randomness: a function of (seed, epoch, line) -------------------------------------------------

    def set_epoch(self, epoch: int) -> None:
        if epoch != self.epoch and self.builder.depends_on_epoch and self.training:
            self._sizes = None
        self.epoch = epoch

    @property
    def _draw_epoch(self) -> int:
        return self.epoch if self.training else 0

    # ---- sizes -----------------------------------------------------------------------------------------

    @property
    def window_sizes(self) -> Sizes:
        """Sizes of all windows within the current limits."""
        if self._sizes is None:
            self._sizes = self.builder.sizes(
                self.lines, self.source.sizes, self._target_sizes, self._draw_epoch, *self.limits
            )
        return self._sizes

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
        order = np.arange(len(self), dtype=np.int32)
        if self.training:
            order = np.random.default_rng((randomness.ORDER, self.seed, self.epoch)).permutation(order)
        for sizes in (self.window_sizes.target, self.window_sizes.source):
            # 16-bit keys get a radix sort: seconds instead of minutes for tens of millions of windows.
            keys = np.minimum(sizes, np.iinfo(np.uint16).max).astype(np.uint16)[order]
            order = order[np.argsort(keys, kind="stable")]
        return order.astype(np.int64)

    def filter_indices_by_size(self, indices: np.ndarray, max_sizes: Union[int, Sequence[int], None]):
        """Shorten windows that the model cannot hold, and leave out what cannot be shortened.

        Returns:
            the indices to use, and a list of those left out: examples whose current sentence alone is too
            long, and in training those longer than ``max_window_tokens``.
        """
        if max_sizes is None or isinstance(max_sizes, (int, float)):
            max_sizes = (max_sizes, max_sizes)
        limits = tuple(None if limit is None else int(min(limit, 2**31 - 1)) for limit in max_sizes)
        if limits != self.limits:
            everything = len(indices) == len(self)
            self.limits, self._sizes = limits, None
            if everything:  # the order follows the shortened sizes, in this epoch as in later ones
                indices = self.ordered_indices()
        sizes = self.window_sizes
        keep = np.ones(len(self), bool)
        for tokens, limit in ((sizes.source, limits[0]), (sizes.target, limits[1])):
            if limit is not None:
                keep &= tokens <= limit
        if self.max_window_tokens is not None:
            full = self.builder.sizes(self.lines, self.source.sizes, self._target_sizes, self._draw_epoch)
            keep &= full.source <= self.max_window_tokens
        shortened = int(np.count_nonzero((sizes.reach < sizes.wanted) & keep))
        if shortened:
            logger.warning(
                "%s: %d of %d windows are longer than the model's %s source, %s target positions; "
                "their farthest context is left out", self.name, shortened, len(self), *limits
            )  # fmt: skip
        return indices[keep[indices]], indices[~keep[indices]].tolist()

    @property
    def _target_sizes(self) -> Optional[np.ndarray]:
        return None if self.target is None else self.target.sizes

    def batch_by_size(self, indices, max_tokens=None, max_sentences=None, required_batch_size_multiple=1):
        """As fairseq's, but the last batch is kept whatever its size: no sentence is lost."""
        if len(indices) == 0:
            raise BadInput(f"{self.name}: no example is left to make a batch of")
        if max_tokens is not None:
            tokens = self.num_tokens_vec(indices)
            worst = int(tokens.argmax())
            if tokens[worst] > max_tokens:
                raise BadInput(
                    f"{self.name}: line {self.lines[indices[worst]] + 1}: expected a window of at most "
                    f"--max-tokens {max_tokens}, found {tokens[worst]} tokens"
                )
        batches = super().batch_by_size(indices, max_tokens, max_sentences, required_batch_size_multiple)
        batched = sum(len(batch) for batch in batches)
        if batched < len(indices):
            batches = list(batches) + [indices[batched:]]
        return batches

    # ---- examples --------------------------------------------------------------------------------------

    def __getitem__(self, index: int) -> Dict[str, Any]:
        line = int(self.lines[index])
        reach = None
        if self.limits != (None, None):
            reach = self.window_sizes.reach[index : index + 1]
        slots = self.builder.slots(np.array([line]), self._draw_epoch, reach)
        slots = Slots(*(role[0] for role in slots))
        source, segment = self.source_window(line, slots)
        target_context = self.target_context(slots)
        return {
            "id": line,
            "source": source,
            "target": None
            if self.target is None
            else join(target_context + [self.target[line].long()], self.target_separator),
            "current_segment": segment,
            "target_context_sizes": len(target_context),
        }

    def source_window(self, line: int, slots: Slots) -> Tuple[torch.Tensor, int]:
        """The source window of a line, given its context (each role (d,)), and its current segment."""
        before = self._context(self.target, slots.target_on_source)
        before += self._context(self.source, slots.source_before)
        after = self._context(self.source, slots.source_after)
        if self.builder.options.context_selection == "swapped":
            before, after = [], before + after
        return join(before + [self._current(line)] + after, self.separator), len(before)

    def target_context(self, slots: Slots) -> List[torch.Tensor]:
        """The previous target sentences of a window, each ending with ``</s>``."""
        return self._context(self.target, slots.target_before)

    def _context(self, sentences: Any, slots: np.ndarray) -> List[torch.Tensor]:
        empty = torch.tensor([self.padding["eos_idx"]])
        return [
            empty if sentence == EMPTY else sentences[int(sentence)].long()
            for sentence in slots
            if sentence != ABSENT
        ]

    def _current(self, line: int) -> torch.Tensor:
        sentence = self.source[line].long()
        if not self.coword_dropout or len(sentence) == 1:
            return sentence
        draws = randomness.uniform(
            randomness.COWORD, self.seed, self.epoch, line, np.arange(len(sentence) - 1)
        )
        sentence = sentence.clone()
        sentence[:-1][torch.from_numpy(draws < self.coword_dropout)] = self.mask
        return sentence

    def collater(self, samples: List[Dict[str, Any]], pad_to_length: Optional[Dict[str, int]] = None):
        """A batch of B windows.

        Returns:
            fairseq's translation batch: ``id`` (B,), ``net_input`` with ``src_tokens`` (B, S), left-padded,
            ``src_lengths`` (B,), ``prev_output_tokens`` (B, T), and ``target`` (B, T), ``ntokens``,
            ``nsentences``; and ``windows``, a dictionary of ``current_segment`` (B,) and
            ``target_context_sizes`` (B,), of which ``net_input`` holds those that the model asks for.
            ``{}`` for no samples.
        """
        if not samples:
            return {}
        batch = collate_pairs(samples, pad_to_length=pad_to_length, **self.padding)
        by_id = {sample["id"]: sample for sample in samples}
        batch["windows"] = {
            name: torch.tensor([by_id[line][name] for line in batch["id"].tolist()])
            for name in ("current_segment", "target_context_sizes")
        }
        for name in self.context_inputs:
            batch["net_input"][name] = batch["windows"][name]
        return batch
