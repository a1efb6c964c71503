"""Every row of a batch with another row's context: the random context of Jean and Cho's loss.

Pure functions from batch to batch; the tasks call them from ``exchange_context``. A row of the result is what
the dataset would have built from the row's current sentence and the other row's context sentences.
"""

from dataclasses import dataclass
from typing import Any, Dict, Optional, Tuple

import torch
from fairseq.data import Dictionary
from torch import Tensor

from ctxmt_fairseq.data.symbols import SEPARATOR

Batch = Dict[str, Any]

# Beside ``context_index``, which says whose they are, the other entries hold distinct sentences.
_ROWS = ("context_index", "context_distances", "context_roles")


def derangement(size: int, generator: Optional[torch.Generator] = None) -> Optional[Tensor]:
    """A uniformly random cycle through ``size`` rows: LongTensor (size,) on the CPU, nowhere its own index.

    None for fewer than two rows, which have nothing to exchange. Without ``generator``, torch's global one.
    """
    if size < 2:
        return None
    path = torch.randperm(size, generator=generator)
    order = torch.empty_like(path)
    order[path] = path.roll(-1)
    return order


@dataclass(frozen=True)
class WindowFormat:
    """How the windows of one side are written.

    Attributes:
        separator, pad, eos: dictionary indices; separator None: nothing stands between sentences.
        left_pad: where the padding stands.
        pad_to_multiple: of which number the width of a batch is a multiple.
        max_tokens: the longest window that the model holds; None for no limit.
    """

    separator: Optional[int]
    pad: int
    eos: int
    left_pad: bool = False
    pad_to_multiple: int = 1
    max_tokens: Optional[int] = None


def window_formats(cfg: Any, source: Dictionary, target: Dictionary) -> Tuple[WindowFormat, WindowFormat]:
    """The formats of both sides, from a translation task's options and dictionaries."""
    multiple = cfg.required_seq_len_multiple
    sides = (
        (source, cfg.left_pad_source, cfg.max_source_positions),
        (target, cfg.left_pad_target, cfg.max_target_positions),
    )
    source_format, target_format = (
        WindowFormat(words.index(SEPARATOR), words.pad(), words.eos(), left_pad, multiple, max_tokens)
        for words, left_pad, max_tokens in sides
    )
    return source_format, target_format


def exchange_windows(sample: Batch, order: Tensor, source: WindowFormat, target: WindowFormat) -> Batch:
    """A batch of ``document_window`` whose row i has the context of row ``order[i]``, on both sides.

    Args:
        sample: B windows as ``DocumentWindowDataset.collater`` makes them; left as it is.
        order: LongTensor (B,).

    Returns:
        a new batch with the rows in the same order, so no longer sorted by length. Where the new window would
        be longer than the model holds, the row has no context at all on that side.
    """
    windows = sample["windows"]
    tokens, spans, fits = _splice(sample["net_input"]["src_tokens"], windows["current_span"], order, source)
    lengths = tokens.ne(source.pad).sum(1)
    moved = {"current_segment": windows["current_segment"][order] * fits, "current_span": spans}
    sample = _updated(sample, moved, src_tokens=tokens, src_lengths=lengths)
    return _exchange_target(sample, order, target)


def exchange_rows(sample: Batch, order: Tensor, target: WindowFormat) -> Batch:
    """A batch of ``multi_source`` or ``metadata_context`` whose row i has the context of row ``order[i]``.

    Args:
        sample: B examples; what begins with ``context_`` belongs to a row (first dimension B), but with
            ``context_index`` (B, C) the sentences that it points to do not. Left as it is.
        order: LongTensor (B,).

    Returns:
        a new batch with the rows in the same order; the target windows as from ``exchange_windows``.
    """
    rows = order.to(sample["target"].device)
    distinct = any("context_index" in sample[part] for part in ("net_input", "windows"))
    exchanged = {
        part: {
            name: value[rows] if (name in _ROWS if distinct else name.startswith("context_")) else value
            for name, value in sample[part].items()
        }
        for part in ("net_input", "windows")
    }
    return _exchange_target({**sample, **exchanged}, order, target)


def _exchange_target(sample: Batch, order: Tensor, form: WindowFormat) -> Batch:
    tokens, sizes = sample["target"], sample["windows"]["target_context_sizes"]
    real, ends = tokens.ne(form.pad), tokens.eq(form.separator).long()
    sentence = ends.cumsum(1) - ends  # a separator belongs to the sentence before it
    first = (real & (sentence < sizes[:, None])).sum(1)
    tokens, _, fits = _splice(tokens, torch.stack([first, real.sum(1)], dim=1), order, form)
    real = tokens.ne(form.pad)
    first = real & real.cumsum(1).eq(1)
    previous = torch.where(first, form.eos, tokens.roll(1, 1)).masked_fill(~real, form.pad)
    sizes = {"target_context_sizes": sizes[order] * fits}
    sample = _updated(sample, sizes, prev_output_tokens=previous)
    return {**sample, "target": tokens, "ntokens": int(real.sum())}


def _updated(sample: Batch, windows: Dict[str, Tensor], **net_input: Tensor) -> Batch:
    """A copy with these entries; those of ``windows`` in ``net_input`` too, if the model asked for them."""
    asked = {name: value for name, value in windows.items() if name in sample["net_input"]}
    return {
        **sample,
        "windows": {**sample["windows"], **windows},
        "net_input": {**sample["net_input"], **asked, **net_input},
    }


def _splice(
    tokens: Tensor, spans: Tensor, order: Tensor, form: WindowFormat
) -> Tuple[Tensor, Tensor, Tensor]:
    """The current sentence of row i between what stands before and after that of row ``order[i]``.

    Args:
        tokens: (B, L) windows. spans: (B, 2) the current sentences' first tokens and the first after them.

    Returns:
        the new windows (B, L'), their spans, and the rows (B,) where the other's context fits.
    """
    order = order.to(tokens.device)
    real = tokens.ne(form.pad)
    start = real.long().argmax(1, keepdim=True)  # this and all numbers of a row below: (B, 1)
    before, end = spans[:, :1], spans[:, 1:]
    after = real.sum(1, keepdim=True) - end

    def closed(following: Tensor) -> Tensor:
        """Whether a symbol stands at a current sentence's end, given how many tokens follow it."""
        return torch.ones_like(following) if form.separator is not None else following.eq(0).long()

    words = end - before - closed(after)
    other_start, other_resume = start[order], (start + end)[order]
    before_length, after_length = before[order], after[order]
    fits = torch.ones_like(before_length)
    if form.max_tokens is not None:
        whole = before_length + words + closed(after_length) + after_length
        fits = whole.le(form.max_tokens).long()
        before_length, after_length = before_length * fits, after_length * fits
    resume = before_length + words + closed(after_length)
    length = resume + after_length

    width = -(-int(length.max()) // form.pad_to_multiple) * form.pad_to_multiple
    places = torch.arange(width, device=tokens.device)
    place = places - (width - length) if form.left_pad else places.expand(len(tokens), width)
    own = (place >= before_length) & (place < resume)
    rows = torch.where(own, torch.arange(len(tokens), device=tokens.device)[:, None], order[:, None])
    from_other = torch.where(place < before_length, other_start, other_resume - resume)
    columns = place + torch.where(own, start + before - before_length, from_other)
    outside = (place < 0) | (place >= length)
    spliced = tokens[rows, columns.masked_fill(outside, 0)]
    # Whatever ended the current sentence in its own window, here something follows or not.
    last = (place == resume - 1) & closed(after_length).bool()
    spliced = spliced.masked_fill(last, form.eos)
    if form.separator is not None:
        spliced = spliced.masked_fill(last & after_length.gt(0), form.separator)
    new_spans = torch.cat([before_length, resume], dim=1)
    return spliced.masked_fill(outside, form.pad), new_spans, fits.squeeze(1)
