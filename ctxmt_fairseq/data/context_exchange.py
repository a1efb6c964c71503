"""Gives every row of a batch another row's context, which is the random context of Jean and Cho's loss.

The tasks call these functions from ``exchange_context``. A row of the new batch is what the dataset would
have built from the row's current sentence and the other row's context sentences.
"""

from dataclasses import dataclass, replace
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import torch
from fairseq.data import Dictionary
from torch import Tensor

from ctxmt_fairseq.data.device_copies import to_device
from ctxmt_fairseq.text.symbols import SEPARATOR

Batch = Dict[str, Any]

# The context's entries that have a row for each example. ``tokens`` have not: ``index`` says whose they are.
_ROWS = ("index", "distances", "roles", "rows", "vectors", "tags")


def derangement(size: int, generator: Optional[torch.Generator] = None) -> Optional[Tensor]:
    """Draw a uniformly random cycle through ``size`` rows: LongTensor (size,) on the CPU, nowhere its own
    index. None: there are fewer than two rows. Without ``generator``, torch's global one draws."""
    if size < 2:
        return None
    path = torch.randperm(size, generator=generator)
    order = torch.empty_like(path)
    order[path] = path.roll(-1)
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
    parts, windows = sample["parts"], sample["windows"]
    tokens = sample["net_input"]["src_tokens"], sample["target"]
    sides = [
        _plan(part, side.size(1), order.numpy(), form)
        for part, side, form in zip((parts.source, parts.target), tokens, (source, target), strict=True)
    ]
    (source_plan, target_plan), rows = _sent(sides, order, tokens[1].device)
    moved = {
        "current_segment": windows["current_segment"][rows] * source_plan["fits"],
        "current_span": torch.stack([source_plan["before"], source_plan["resume"]], dim=1),
    }
    spliced = _splice(tokens[0], source_plan, rows, source, sides[0].width)
    sample = _updated(sample, moved, src_tokens=spliced, src_lengths=source_plan["length"])
    parts = replace(parts, source=sides[0].parts, lengths=sides[0].parts.sum(1))
    return _exchange_target({**sample, "parts": parts}, sides[1], target_plan, rows, target)


def exchange_rows(sample: Batch, order: Tensor, target: WindowFormat) -> Batch:
    """Do so for a batch of ``multi_source`` or ``metadata_context``; target windows are exchanged alike."""
    side = _plan(sample["parts"].target, sample["target"].size(1), order.numpy(), target)
    (plan,), rows = _sent([side], order, sample["target"].device)
    windows = sample["windows"]
    moved = {name: windows[name][rows] for name in _ROWS if name in windows}
    if "sizes" in windows:
        moved["sizes"] = windows["sizes"].exchanged(order.numpy())
    return _exchange_target(_updated(sample, moved), side, plan, rows, target)


def _exchange_target(sample: Batch, side: "_Side", plan: "_Plan", rows: Tensor, form: WindowFormat) -> Batch:
    tokens = _splice(sample["target"], plan, rows, form, side.width)
    real = tokens.ne(form.pad)
    first = real & real.cumsum(1).eq(1)
    previous = torch.where(first, form.eos, tokens.roll(1, 1)).masked_fill(~real, form.pad)
    sizes = {"target_context_sizes": sample["windows"]["target_context_sizes"][rows] * plan["fits"]}
    sample = _updated(sample, sizes, prev_output_tokens=previous)
    sentences = sample["parts"].sentences[side.order] * side.fits
    parts = replace(sample["parts"], target=side.parts, sentences=sentences)
    return {**sample, "target": tokens, "ntokens": int(side.parts.sum()), "parts": parts}


def _updated(sample: Batch, windows: Dict[str, Any], **net_input: Tensor) -> Batch:
    """Copy a batch with these entries; ``net_input`` gets those of ``windows``, too, if the model does."""
    windows = {**sample["windows"], **windows}
    if "context" in sample["net_input"]:
        net_input["context"] = windows
    return {**sample, "windows": windows, "net_input": {**sample["net_input"], **net_input}}


class _Side(NamedTuple):
    """The new windows of one side.

    Attributes:
        order: (B,) whose context each row has. fits: (B,) 1, or 0 if the model cannot hold that.
        parts: (B, 3), see ``WindowParts``. width: that of the batch.
        numbers: (n, B), one row for each of ``_NUMBERS``.
    """

    order: np.ndarray
    fits: np.ndarray
    parts: np.ndarray
    width: int
    numbers: np.ndarray


_Plan = Dict[str, Tensor]
# Of a new window: the tokens before the current sentence, the place where the context goes on after it, the
# length, and ``_Side.fits``. Then how many columns its tokens are before their columns in the old batch:
# those of the current sentence, of the context before and of the context after it.
_NUMBERS = ("before", "resume", "length", "fits", "from_own", "from_before", "from_after")


def _plan(parts: np.ndarray, width: int, order: np.ndarray, form: WindowFormat) -> _Side:
    """Plan windows, of a batch of this ``width`` with ``parts`` (B, 3), with the current sentence of row i
    between what is before and after that of row ``order[i]``."""
    before, own, after = parts.T
    start = width - parts.sum(1) if form.left_pad else np.zeros_like(before)

    def closed(following: np.ndarray) -> np.ndarray:
        """Whether a current sentence ends with a symbol, given how many tokens follow it."""
        return np.ones_like(following) if form.separator is not None else (following == 0).astype(np.int64)

    words = own - closed(after)
    new_before, new_after, fits = before[order], after[order], np.ones_like(before)
    if form.max_tokens is not None:
        whole = new_before + words + closed(new_after) + new_after
        fits = (whole <= form.max_tokens).astype(np.int64)
        new_before, new_after = new_before * fits, new_after * fits
    resume = new_before + words + closed(new_after)
    length = resume + new_after
    from_after = (start + before + own)[order] - resume
    numbers = (new_before, resume, length, fits, start + before - new_before, start[order], from_after)
    new_width = -(-int(length.max()) // form.pad_to_multiple) * form.pad_to_multiple
    new_parts = np.stack([new_before, resume - new_before, new_after], axis=1)
    return _Side(order, fits, new_parts, new_width, np.stack(numbers))


def _sent(sides: Sequence[_Side], order: Tensor, device: torch.device) -> Tuple[List[_Plan], Tensor]:
    """Send the sides' numbers and the order to the device, in one transfer."""
    host = torch.from_numpy(np.concatenate([order.numpy()[None], *(side.numbers for side in sides)]))
    order, *numbers = to_device(host, device).unbind(0)
    left = iter(numbers)
    return [dict(zip(_NUMBERS, left, strict=False)) for _ in sides], order


def _splice(tokens: Tensor, plan: _Plan, rows: Tensor, form: WindowFormat, width: int) -> Tensor:
    """Make the windows (B, width) of the old ones, ``tokens`` (B, L), with the contexts of ``rows`` (B,)."""
    before, resume, length, _, from_own, from_before, from_after = (
        plan[name].unsqueeze(1) for name in _NUMBERS
    )
    place = torch.arange(width, device=tokens.device).expand(len(tokens), width)
    if form.left_pad:
        place = place - (width - length)
    own = (place >= before) & (place < resume)
    row = torch.where(own, torch.arange(len(tokens), device=tokens.device)[:, None], rows[:, None])
    column = place + torch.where(own, from_own, torch.where(place < before, from_before, from_after))
    outside = (place < 0) | (place >= length)
    spliced = tokens[row, column.masked_fill(outside, 0)]
    # The symbol at the current sentence's end depends on whether something follows it here.
    follows = length > resume
    last = place == resume - 1
    if form.separator is None:
        last = last & ~follows
    spliced = spliced.masked_fill(last, form.eos)
    if form.separator is not None:
        spliced = spliced.masked_fill(last & follows, form.separator)
    return spliced.masked_fill(outside, form.pad)
