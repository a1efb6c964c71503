"""What the datasets of the three tasks share: examples that are built on the fly from single binarised
sentences, and batches of them."""

import itertools
from abc import ABC, abstractmethod
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

import numpy as np
import torch
from fairseq.data import Dictionary
from fairseq.data.language_pair_dataset import collate as collate_pairs

from ctxmt_fairseq.data import randomness
from ctxmt_fairseq.data.absence import EMPTY_SENTENCE, NO_SENTENCE
from ctxmt_fairseq.data.context_format import WantedContext
from ctxmt_fairseq.data.context_sizes import WindowParts
from ctxmt_fairseq.data.sized_dataset import SizedDataset
from ctxmt_fairseq.data.symbols import MASK, SEPARATOR
from ctxmt_fairseq.data.windows import Slots, WindowBuilder
from ctxmt_fairseq.errors import BadInput


def join(sentences: Sequence[torch.Tensor], separator: Optional[int]) -> torch.Tensor:
    """``x1 <sep> x2 <sep> ... xK </s>``: (sum of lengths,) from sentences that each end with ``</s>``. With
    ``separator`` None nothing stands between them."""
    if separator is None:
        return torch.cat([*(sentence[:-1] for sentence in sentences[:-1]), sentences[-1]]).long()
    window = torch.cat(list(sentences)).long()
    tokens = window.numpy()  # the same memory; faster to write to
    for end in itertools.accumulate(sentence.numel() for sentence in sentences[:-1]):
        tokens[end - 1] = separator
    return window


def _parts(places: List[Tuple[int, int, int]]) -> np.ndarray:
    """From a current sentence's first token, the first after it, and the window's tokens: (B, 3)."""
    return np.diff(places, prepend=0, axis=1)


class ContextDataset(SizedDataset, ABC):
    """Base: a subclass says what stands on the source side (``source_side``).

    An example is a dictionary: ``id`` (the current sentence's line, from 0), ``source`` (what the encoder
    reads), ``current`` (the source sentence to translate), ``target`` (the target window, or None),
    ``target_context_sizes`` (sentences before the current one in the target window), with a target
    ``target_first`` (tokens before the current one there), and what the subclass adds.

    Args:
        source, target: binarised sentences, each ending with ``</s>``, with a ``sizes`` array; target may
            be None.
        source_dictionary, target_dictionary: with the separator and the mask.
        builder: the window of every sentence.
        wanted: what the models want of the context: ``collater`` puts it into ``net_input``.
        current: (n,) lines that are translated; None for all. The others serve as context only.
        training: shuffle, and apply ``coword_dropout`` and the options of training of ``SizedDataset``.
        coword_dropout: probability that a word of the current source sentence becomes the mask (CoWord
            dropout, Fernandes et al. 2021).
        seed: of every random choice; with the epoch and the line it determines the example.
    """

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
        coword_dropout: float = 0.0,
        seed: int = 1,
        left_pad_source: bool = True,
        left_pad_target: bool = False,
        pad_to_multiple: int = 1,
        name: str = "",
        **sizes: Any,
    ):
        super().__init__(source, target, builder, current, training, seed, name, **sizes)
        self.dictionary = source_dictionary
        self.coword_dropout = coword_dropout if training else 0.0
        self.wanted = wanted or WantedContext()
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
        options = builder.options
        if target is None and (options.target_context_on_source or options.context_selection == "reference"):
            raise BadInput(f"{name}: expected target sentences, which stand as context on the source side")

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
        example = {"id": line, **self.inputs(line, slots), "target": None}
        if self.target is not None:
            current = self.target[line]
            target = join(self.target_context(slots) + [current], self.target_separator)
            example.update(target=target, target_first=len(target) - len(current))
        return example

    def inputs(self, line: int, slots: Slots) -> Dict[str, Any]:
        """All of an example that does not depend on its translation, given its context (each role d
        sentences)."""
        sizes = sum(sentence != NO_SENTENCE for sentence in slots.target_before)
        return {**self.source_side(line, slots), "target_context_sizes": sizes}

    @abstractmethod
    def source_side(self, line: int, slots: Slots) -> Dict[str, Any]:
        """``source``, ``current`` and what else the model reads of the source side."""

    def target_context(self, slots: Slots) -> List[torch.Tensor]:
        """The previous target sentences of a window, each ending with ``</s>``."""
        return self._context(self.target, slots.target_before)

    def _context(self, sentences: Any, slots: Iterable[int]) -> List[torch.Tensor]:
        return [
            self.empty if sentence == EMPTY_SENTENCE else sentences[int(sentence)]
            for sentence in slots
            if sentence != NO_SENTENCE
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
            ``nsentences``; and ``windows``, a dictionary of
            ``target_context_sizes`` (B,) and the subclass' ``context_batch``, of which ``net_input`` holds
            those that the model asks for; ``parts``, its ``WindowParts``. ``{}`` for no samples.
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
        for name in self.wanted.format.names:
            if name in batch["windows"]:
                batch["net_input"][name] = batch["windows"][name]
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
    def context_batch(self, samples: List[Dict[str, Any]]) -> Dict[str, torch.Tensor]:
        """The source context of a batch, rows in its order."""

    # ---- what a model sees -----------------------------------------------------------------------------

    def visible(self, example: Dict[str, Any]) -> Tuple[Any, ...]:
        """All that a model sees of an example's source side, hashable; what only names it (its line) is left
        out. The first two entries are the source's tokens and the number of target context sentences."""
        return (
            tuple(example["source"].tolist()),
            example["target_context_sizes"],
            self.visible_context(example),
        )

    def restored(self, number: int, visible: Tuple[Any, ...]) -> Dict[str, Any]:
        """The reverse of ``visible``, for the collater: an example of line ``number`` without target."""
        tokens, sizes, context = visible
        source = torch.tensor(tokens)
        named = {"id": number, "source": source, "current": source, "target": None}
        return {**named, "target_context_sizes": sizes, **self.restored_context(number, context)}

    @abstractmethod
    def visible_context(self, example: Dict[str, Any]) -> Any:
        """The part of ``visible`` that the subclass adds."""

    @abstractmethod
    def restored_context(self, number: int, context: Any) -> Dict[str, Any]:
        """The reverse of ``visible_context``."""
