"""Decodes a batch of windows with fairseq's search, and cuts out the current sentences."""

import contextlib
import math
from argparse import Namespace
from typing import Any, Dict, Iterator, List, Optional, Sequence

import torch
from fairseq import utils
from fairseq.data import data_utils

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data.device_copies import to_host
from ctxmt_fairseq.tasks.search.beams import beams
from ctxmt_fairseq.tasks.search.current_sentence import Hypothesis, WindowCount, keep_sentence
from ctxmt_fairseq.tasks.search.forced_prefix import ForcedPrefixEnsemble


def remember_sentence_settings(generator: Any, args: Namespace) -> None:
    """Keep for ``generate_current`` the length limit of one sentence that the user set, and how its words are
    to be aligned. A scorer of references (``--score-reference``) has no limit."""
    if hasattr(generator, "max_len_b"):
        generator.sentence_alignment = getattr(args, "print_alignment", None)
        generator.sentence_limit = (getattr(args, "max_len_a", 0), getattr(args, "max_len_b", 200))


@contextlib.contextmanager
def _length_limit(
    generator: Any, lengths: Sequence[int], sentences: Sequence[int], rooms: Sequence[int]
) -> Iterator[List[float]]:
    """Allow a x + b tokens for every sentence of the longest row; fairseq would allow them for the window.
    Gives how many each row may have, which has positions for ``rooms``; fewer than ``--min-len``, where
    fairseq would stop at an assertion, are refused."""
    if not hasattr(generator, "sentence_limit"):
        yield [math.inf] * len(lengths)
        return
    per_token, per_sentence = generator.sentence_limit
    limit = max(
        int(per_token * length + per_sentence * count)
        for length, count in zip(lengths, sentences, strict=True)
    )
    most = [min(limit, room) for room in rooms]
    least = min(most)
    if least < generator.min_len:
        raise BadInput(
            f"--min-len {generator.min_len}: expected at most {least}, because --max-len-a {per_token:g}, "
            f"--max-len-b {per_sentence:g} and the model's positions allow no longer translation"
        )
    before = generator.max_len_a, generator.max_len_b
    generator.max_len_a, generator.max_len_b = 0, limit
    try:
        yield [*most]
    finally:
        generator.max_len_a, generator.max_len_b = before


def generate_current(
    generator: Any,
    models: List[torch.nn.Module],
    sample: Dict[str, Any],
    separator: int,
    count: WindowCount,
    keep: str = "current",
    prefixes: Optional[List[torch.Tensor]] = None,
    start: int = 0,
    **options: Any,
) -> List[List[Hypothesis]]:
    """Translate a batch of windows; returns the n-best current sentences.

    Args:
        generator: fairseq's; made for a ``ForcedPrefixEnsemble`` if ``prefixes`` are given.
        keep: "current", or "first" for the first sentence of the window.
        prefixes: the target context (L,) of each row, to be forced; None: whole windows are decoded.
        start: with how many tokens each sentence of a reference begins that are given (``target_start``).
        options: for ``generator.generate``.

    Returns:
        n-best lists on the CPU, best first; an empty source sentence has one hypothesis, which is empty.
    """
    eos = models[0].decoder.dictionary.eos()
    parts = sample["parts"]
    expected = parts.sentences.tolist()
    if prefixes is None:
        lengths = parts.lengths.tolist()
        rooms = [getattr(generator, "max_len", 0) - 1] * len(lengths)
    else:
        ensemble = generator.model
        assert isinstance(ensemble, ForcedPrefixEnsemble)
        ensemble.prefixes = prefixes
        # Prefix and sentence share the decoder's positions, but the search knows only of the sentence.
        rooms = ensemble.rooms()
        generator.max_len = max(rooms) + 1
        lengths, expected = [len(sentence) for sentence in parts.current], [0] * len(prefixes)
    limit = _length_limit(generator, lengths, [1 + sentences for sentences in expected], rooms)
    with limit as most, beams(models, getattr(generator, "beam_size", 1)):
        try:
            windows = to_host(generator.generate(models, sample, **options))
        except AssertionError as error:  # no hypothesis can end
            raise BadInput("no translation is found: the model's probabilities are no numbers") from error
    for row, source, longest in zip(windows, parts.current, most, strict=True):
        for hypothesis in row:
            hypothesis["too_long"] = len(source) > 1 and len(hypothesis["tokens"]) > longest  # with </s>
    hypotheses = keep_sentence(
        windows,
        expected,
        separator,
        eos,
        count,
        getattr(generator, "len_penalty", 1.0),
        getattr(generator, "normalize_scores", True),
        keep,
        start,
    )
    if getattr(generator, "sentence_alignment", None) and keep == "current":
        _align(hypotheses, sample, models[0].encoder.dictionary.pad(), eos, generator.sentence_alignment)
    return [
        [_nothing(row[0], eos)] if len(source) == 1 and keep == "current" else row
        for source, row in zip(parts.current, hypotheses, strict=True)
    ]


def _align(hypotheses: List[List[Hypothesis]], sample: Dict[str, Any], pad: int, eos: int, kind: str) -> None:
    """Align each translation with its source sentence, leaving attention to the context out: "hard" gives
    (source, target) words, of each target word the source word that it attends to most; "soft" the attention
    to each source word."""
    extract = utils.extract_hard_alignment if kind == "hard" else utils.extract_soft_alignment
    tokens, parts = sample["net_input"]["src_tokens"].cpu(), sample["parts"]
    for row, (nbest, current) in enumerate(zip(hypotheses, parts.current, strict=True)):
        begin = 0 if parts.source is None else int(parts.source[row, 0])
        places = (tokens[row] != pad).nonzero().flatten()[begin : begin + len(current)]
        for hypothesis in nbest:
            attention = hypothesis["attention"]
            if attention is None or attention.dim() != 2 or len(attention) != tokens.size(1):
                raise BadInput("--print-alignment: the models do not say which source words they attend to")
            aligned = extract(attention[places].T, current, hypothesis["tokens"], pad, eos)
            hypothesis["alignment"] = aligned


def show_current(sample: Dict[str, Any], dictionary: Any, separator: int, left_pad_source: bool) -> None:
    """Replace the windows of a batch by the current sentences, which fairseq prints and scores."""
    pad, eos = dictionary.pad(), dictionary.eos()
    net_input = sample["net_input"] = dict(sample["net_input"])
    parts = sample["parts"]
    tokens = data_utils.collate_tokens(parts.current, pad, eos, left_pad_source)
    net_input["src_tokens"] = tokens.to(net_input["src_tokens"])
    if sample["target"] is None:
        return
    targets = [
        _segment(window, separator, eos, pad, number)
        for window, number in zip(sample["target"].cpu(), parts.sentences.tolist(), strict=True)
    ]
    sample["target"] = data_utils.collate_tokens(targets, pad, eos)


def _segment(tokens: torch.Tensor, separator: int, eos: int, pad: int, number: int) -> torch.Tensor:
    """Sentence ``number`` (from 0) of a window (S,); its separator at the end becomes ``</s>``."""
    tokens = tokens[tokens != pad]
    ends = ((tokens == separator) | (tokens == eos)).nonzero().flatten()
    begin = 0 if number == 0 else int(ends[number - 1]) + 1
    sentence = tokens[begin : int(ends[number]) + 1].clone()
    sentence[-1] = eos
    return sentence


def _nothing(hypothesis: Hypothesis, eos: int) -> Hypothesis:
    """The translation of an empty sentence."""
    tokens = hypothesis["tokens"]
    return {
        "tokens": tokens.new_tensor([eos]),
        "positional_scores": hypothesis["positional_scores"].new_zeros(1),
        "score": hypothesis["positional_scores"].new_zeros(()),
        "attention": torch.empty(0),
        "alignment": torch.empty(0),
        "well_formed": hypothesis["well_formed"],
    }
