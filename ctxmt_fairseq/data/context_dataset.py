"""The base of the three tasks' datasets: examples are built on the fly from single binarised sentences, and
made into batches."""

import itertools
from abc import ABC, abstractmethod
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np
import torch
from fairseq.data import Dictionary
from fairseq.data.data_utils import collate_tokens
from fairseq.data.language_pair_dataset import collate as collate_pairs

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data import randomness
from ctxmt_fairseq.data.batched_windows import BatchedWindows
from ctxmt_fairseq.data.context_format import ContextRequest
from ctxmt_fairseq.data.context_sizes import WindowParts
from ctxmt_fairseq.data.exchange_partners import ExchangePartners
from ctxmt_fairseq.data.token_weights import TokenWeights
from ctxmt_fairseq.data.windows import Slots, WindowBuilder
from ctxmt_fairseq.text.absence import EMPTY_SENTENCE, NO_SENTENCE
from ctxmt_fairseq.text.symbols import MASK, SEPARATOR


def join(sentences: Sequence[torch.Tensor], separator: Optional[int]) -> torch.Tensor:
    """Join sentences that each end with ``</s>``: ``x1 <sep> x2 <sep> ... xK </s>``, (sum of lengths,). If
    ``separator`` is None, there is nothing between them."""
    if len(sentences) == 1:
        return sentences[0].long()
    if separator is None:
        return torch.cat([*(sentence[:-1] for sentence in sentences[:-1]), sentences[-1]]).long()
    window = torch.cat(list(sentences)).long()
    tokens = window.numpy()  # the same memory; faster to write to
    for end in itertools.accumulate(sentence.numel() for sentence in sentences[:-1]):
        tokens[end - 1] = separator
    return window


class ContextDataset(BatchedWindows, ABC):
    """Base of the datasets. A subclass says what is on the source side (``source_side``) and in the batch
    (``context_batch``).

    An example is a dictionary: ``id`` (the current sentence's line, from 0), ``source`` (what the encoder
    reads), ``current`` (the source sentence to translate), ``target`` (the target window, or None),
    ``target_context_sizes`` (the number of sentences before the current one in the target window), with a
    target ``target_first`` (the number of tokens before the current one there), and what the subclass adds.

    Args:
        source, target, builder, current, training, name, times: see ``BatchedWindows``.
        source_dictionary, target_dictionary: they have the separator and the mask.
        request: what the models read of the context; ``collater`` puts it into ``net_input``.
        weights: those of the target sentences' tokens, which an example has then, as ``token_weights``:
            its current sentence's. Its target context has 1.
    """

    # If context is rows of sentences: whether a batch has each of them once, and names them for kept states.
    unique_sentences = names_sentences = False

    def __init__(
        self,
        source: Any,
        source_dictionary: Dictionary,
        target: Optional[Any],
        target_dictionary: Dictionary,
        builder: WindowBuilder,
        request: Optional[ContextRequest] = None,
        current: Optional[np.ndarray] = None,
        training: bool = False,
        left_pad_source: bool = True,
        left_pad_target: bool = False,
        pad_to_multiple: int = 1,
        name: str = "",
        times: Optional[np.ndarray] = None,
        weights: Optional[TokenWeights] = None,
    ):
        super().__init__(source, target, builder, current, training, name, times)
        self.weights = weights
        self.dictionary = source_dictionary
        self.request = request or ContextRequest()
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
        self._partners: Optional[ExchangePartners] = None
        self.empty = torch.tensor([source_dictionary.eos()])
        needs = any(column.target for column in builder.source_columns)
        if target is None and needs:
            raise BadInput(f"{name} needs target sentences, because they are context on the source side")

    # ---- examples --------------------------------------------------------------------------------------

    def __getitem__(self, index: int) -> Dict[str, Any]:
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> List[Dict[str, Any]]:
        """Build many examples at once, as torch's loader asks for them, in one pass of window arithmetic."""
        indices = np.asarray(indices, np.int64)  # may be none, for a worker that has run out of batches
        lines = self.lines[indices]
        whole = self.limits == (None, None) and not getattr(self.options, "window_tokens", 0)
        reach = None if whole else self.window_sizes.reach[indices]
        slots = self.builder.slots(lines, self.epoch_of_draws, reach)
        rows = zip(*(side.tolist() for side in slots), strict=True)
        return [self._example(line, Slots(*row)) for line, row in zip(lines.tolist(), rows, strict=True)]

    def _example(self, line: int, slots: Slots) -> Dict[str, Any]:
        example = {"id": line, **self.inputs(line, slots), "target": None}
        if self.target is not None:
            current = self.target[line]
            target = self.window(self.target_context(slots), [current], self.target_separator)
            example.update(target=target, target_first=len(target) - len(current))
            if self.weights is not None:
                context = torch.ones(example["target_first"])
                example["token_weights"] = torch.cat([context, self.weights.of(line)])
        return example

    def inputs(self, line: int, slots: Slots) -> Dict[str, Any]:
        """Build the part of an example that does not depend on its translation."""
        sizes = sum(sentence != NO_SENTENCE for sentence in slots.target) or int(self.builder.ends_with_eos)
        return {**self.source_side(line, slots), "target_context_sizes": sizes}

    def window(
        self, context: List[torch.Tensor], rest: List[torch.Tensor], separator: Optional[int]
    ) -> torch.Tensor:
        """Join the sentences before the current one with it and those after it."""
        if not self.builder.ends_with_eos:
            return join([*context, *rest], separator)
        return torch.cat([join(context or [self.empty], separator), join(rest, separator)])

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

    def collater(
        self,
        samples: List[Dict[str, Any]],
        pad_to_length: Optional[Dict[str, int]] = None,
        with_partners: bool = True,
    ):
        """Make a batch of B examples.

        Returns:
            fairseq's translation batch: ``id`` (B,), ``net_input`` with ``src_tokens`` (B, S), padded on the
            left, ``src_lengths`` (B,), ``prev_output_tokens`` (B, T), and ``target`` (B, T), ``ntokens``,
            ``nsentences``. Besides, ``windows`` is a dictionary of ``target_context_sizes`` (B,) and the
            subclass's ``context_batch``; it also is ``context`` in ``net_input`` if the model reads it.
            ``parts`` are its ``WindowParts``; ``token_weights`` (B, T), 0 for pads, are those of ``target``,
            if the dataset has any. In validation ``partners`` is what ``ExchangePartners`` gives, if the
            criterion asks for it and ``with_partners`` is true. Without samples the result is ``{}``.
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
        if self.request.format.kind:
            batch["net_input"]["context"] = batch["windows"]
        batch["parts"] = WindowParts.of(samples, self.name)
        if self.weights is not None:
            batch["token_weights"] = collate_tokens(
                [sample["token_weights"] for sample in samples],
                pad_idx=0,
                left_pad=self.padding["left_pad_target"],
                pad_to_length=pad_to_length["target"] if pad_to_length else None,
                pad_to_multiple=self.padding["pad_to_multiple"],
            )
        self.add_to_batch(batch, samples)
        if with_partners and self.request.exchanges and not self.training and batch["target"] is not None:
            self._partners = self._partners or ExchangePartners(self, self.request.exchanges)
            batch["partners"] = self._partners.of(batch["parts"].lines)
        return batch

    def add_to_batch(self, batch: Dict[str, Any], samples: List[Dict[str, Any]]) -> None:
        """Add what the subclass has besides the context, of ``samples`` in the order of the batch's rows."""

    @abstractmethod
    def context_batch(self, samples: List[Dict[str, Any]]) -> Dict[str, Any]:
        """Make the source context of a batch, with its rows in this order."""

    # ---- what a model sees -----------------------------------------------------------------------------

    def visible(self, example: Dict[str, Any]) -> Tuple[Any, ...]:
        """All that a model sees of an example's source side, as a key: the source's tokens, the number of
        target context sentences, and ``visible_context``."""
        source = tuple(example["source"].tolist())
        return source, example["target_context_sizes"], self.visible_context(example)

    def restored(self, number: int, visible: Tuple[Any, ...]) -> Dict[str, Any]:
        """Make an example without target, of line ``number``, of what ``visible`` gave, for the collater."""
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
