"""Gives every row of a batch another row's context, which is the random context of Jean and Cho's loss.

The tasks call these functions from ``exchange_context``. A row of the new batch is what the dataset would
have built from the row's current sentence and the other row's context sentences.
"""

from dataclasses import dataclass, replace
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np
import torch
from fairseq.data import Dictionary
from torch import Tensor

from ctxmt_fairseq.data.device_copies import to_device
from ctxmt_fairseq.text.symbols import SEPARATOR

Batch = Dict[str, Any]

# The context's entries that have a row for each example. ``tokens`` have not: ``index`` says whose they are.
_ROWS = ("index", "distances", "roles", "rows", "vectors", "tags")


def derangement(
    size: int, generator: Optional[torch.Generator] = None, lines: Optional[np.ndarray] = None
) -> Optional[Tensor]:
    """Draw a uniformly random cycle through ``size`` rows: LongTensor (size,) on the CPU, nowhere its own
    index. None: there are fewer than two rows. Without ``generator``, torch's global one draws.

    Rows of one of the ``lines`` (size,) are copies (``--upsample``): none gets another's number, either, and
    the result is a permutation; None: a line has more than half of the rows."""
    copies = 1 if lines is None else int(np.unique(lines, return_counts=True)[1].max(initial=1))
    if size < 2 * copies:
        return None
    path = torch.randperm(size, generator=generator)
    if lines is not None:  # copies come one after the other
        _, first, names = np.unique(lines[path.numpy()], return_index=True, return_inverse=True)
        path = path[np.argsort(first[names], kind="stable")]
    order = torch.empty_like(path)
    order[path] = path.roll(-copies)
    return order


@dataclass(frozen=True)
class WindowFormat:
    """How the windows of one side are written. If ``separator`` is None, there is nothing between sentences;
    the width of a batch is a multiple of ``pad_to_multiple``; ``max_tokens`` is what the model holds (None:
    no limit)."""

    separator: Optional[int]
    pad: int
    eos: int
    left_pad: bool = False
    pad_to_multiple: int = 1
    max_tokens: Optional[int] = None


def window_formats(cfg: Any, source: Dictionary, target: Dictionary) -> Tuple[WindowFormat, WindowFormat]:
    """Make the formats of both sides from a translation task's options and dictionaries."""
    multiple = cfg.required_seq_len_multiple

    def form(words: Dictionary, left_pad: bool, most: Optional[int]) -> WindowFormat:
        return WindowFormat(words.index(SEPARATOR), words.pad(), words.eos(), left_pad, multiple, most)

    return (
        form(source, cfg.left_pad_source, cfg.max_source_positions),
        form(target, cfg.left_pad_target, cfg.max_target_positions),
    )


def exchange_windows(sample: Batch, order: Tensor, source: WindowFormat, target: WindowFormat) -> Batch:
    """Copy a batch of ``document_window``, with the context of row ``order[i]`` in row i, on both sides. The
    rows stay in the same order, so they are not sorted by length any more. If the new window is longer than
    the model holds, the row has no context at all on that side."""
    parts, windows, tokens = sample["parts"], sample["windows"], sample["net_input"]["src_tokens"]
    side = _plan(parts.source, tokens.size(1), order, source)
    theirs = _plan(parts.target, sample["target"].size(1), order, target)
    span = torch.from_numpy(side.parts[:, :2].cumsum(1))
    rows, span, (fits, places), sent = to_device([order, span, side.tensors, theirs.tensors], tokens.device)
    moved = {"current_segment": windows["current_segment"][rows] * fits, "current_span": span}
    net_input = {"src_tokens": _spliced(tokens, places, source), "src_lengths": places.ne(_PAD).sum(1)}
    parts = replace(parts, source=side.parts, lengths=side.parts.sum(1))
    sample = {**_updated(sample, moved, **net_input), "parts": parts}
    return _exchange_target(sample, order, theirs, rows, sent, target)


def exchange_rows(sample: Batch, order: Tensor, target: WindowFormat) -> Batch:
    """Do so for a batch of ``multi_source`` or ``metadata_context``; target windows are exchanged alike."""
    windows, tokens = sample["windows"], sample["target"]
    side = _plan(sample["parts"].target, tokens.size(1), order, target)
    rows, sent = to_device([order, side.tensors], tokens.device)
    moved = {name: windows[name][rows] for name in _ROWS if name in windows}
    if "sizes" in windows:
        moved["sizes"] = windows["sizes"].exchanged(order.numpy(), side.parts.sum(1))
    return _exchange_target(_updated(sample, moved), order, side, rows, sent, target)


def _exchange_target(
    sample: Batch, order: Tensor, side: "_Side", rows: Tensor, sent: List[Tensor], form: WindowFormat
) -> Batch:
    """Do so for the target side; ``rows`` and ``sent`` are the order and the side's tensors on the device."""
    fits, places = sent
    tokens = _spliced(sample["target"], places, form)
    real = tokens.ne(form.pad)
    first = real & real.cumsum(1).eq(1)
    previous = torch.where(first, form.eos, tokens.roll(1, 1)).masked_fill(~real, form.pad)
    sizes = {"target_context_sizes": sample["windows"]["target_context_sizes"][rows] * fits}
    sample = _updated(sample, sizes, prev_output_tokens=previous)
    sentences = sample["parts"].sentences[order.numpy()] * side.fits
    parts = replace(sample["parts"], target=side.parts, sentences=sentences)
    return {**sample, "target": tokens, "ntokens": int(side.parts.sum()), "parts": parts}


def _updated(sample: Batch, windows: Dict[str, Any], **net_input: Tensor) -> Batch:
    """Copy a batch with these entries; ``net_input`` gets those of ``windows``, too, if the model does."""
    windows = {**sample["windows"], **windows}
    if "context" in sample["net_input"]:
        net_input["context"] = windows
    return {**sample, "windows": windows, "net_input": {**sample["net_input"], **net_input}}


_PAD, _EOS, _SEPARATOR = -1, -2, -3


class _Side(NamedTuple):
    """The new windows of one side.

    Attributes:
        fits: (B,) 1, or 0 if the model cannot hold the new window.
        parts: (B, 3), see ``WindowParts``.
        places: (B, W) which token of the old batch is where, counted row after row, or one of the symbols
            ``_PAD``, ``_EOS`` and ``_SEPARATOR``.
    """

    fits: np.ndarray
    parts: np.ndarray
    places: np.ndarray

    @property
    def tensors(self) -> List[Tensor]:
        """``fits`` and ``places``, for the device."""
        return [torch.from_numpy(self.fits), torch.from_numpy(self.places)]


def _plan(parts: np.ndarray, width: int, order: Tensor, form: WindowFormat) -> _Side:
    """Plan windows, of a batch of this ``width`` with ``parts`` (B, 3), with the current sentence of row i
    between what is before and after that of row ``order[i]``."""
    others = order.numpy()
    before, own, after = parts.T
    start = width - parts.sum(1) if form.left_pad else np.zeros_like(before)

    def closed(following: np.ndarray) -> np.ndarray:
        """Whether a current sentence ends with a symbol, given how many tokens follow it."""
        return np.ones_like(following) if form.separator is not None else (following == 0).astype(np.int64)

    words = own - closed(after)
    new_before, new_after, fits = before[others], after[others], np.ones_like(before)
    if form.max_tokens is not None:
        whole = new_before + words + closed(new_after) + new_after
        fits = (whole <= form.max_tokens).astype(np.int64)
        new_before, new_after = new_before * fits, new_after * fits
    new_parts = np.stack([new_before, words + closed(new_after), new_after], axis=1)
    begin, resume, length = new_parts.cumsum(1).T[:, :, None]
    new_width = -(-int(length.max()) // form.pad_to_multiple) * form.pad_to_multiple
    column = np.arange(new_width) - (new_width - length) * form.left_pad
    is_own = (column >= begin) & (column < resume)
    # Each token's row in the old batch, and how many columns farther on it is there.
    row = np.where(is_own, np.arange(len(parts))[:, None], others[:, None])
    own_shift = (start + before)[:, None] - begin
    after_shift = (start + before + own)[others, None] - resume
    shift = np.where(is_own, own_shift, np.where(column < begin, start[others, None], after_shift))
    places = row * width + column + shift
    # The symbol at the current sentence's end depends on whether something follows it here.
    last, follows = column == resume - 1, length > resume
    places[last & ~follows] = _EOS
    if form.separator is not None:
        places[last & follows] = _SEPARATOR
    places[(column < 0) | (column >= length)] = _PAD
    return _Side(fits, new_parts, places)


def _spliced(tokens: Tensor, places: Tensor, form: WindowFormat) -> Tensor:
    """Make the windows (B, W) of the old ones, ``tokens`` (B, L), by the places of ``_Side``."""
    spliced = tokens.flatten()[places.clamp(min=0)]
    for mark, symbol in ((_PAD, form.pad), (_EOS, form.eos), (_SEPARATOR, form.separator)):
        spliced = spliced if symbol is None else spliced.masked_fill(places.eq(mark), symbol)
    return spliced
