"""What a training does to see more of the words that need context: weights in the loss, repeated examples."""

import logging
import os
from collections import Counter
from typing import Any, Dict, Iterator

import numpy as np
from fairseq.data import Dictionary

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.binarised_words import SideWords
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.data.context_options import ContextOptions, times_by_tag
from ctxmt_fairseq.data.token_weights import Fit, TokenWeights
from ctxmt_fairseq.tasks.splits import Split
from ctxmt_fairseq.text import word_weights
from ctxmt_fairseq.text.text_lines import one_each
from ctxmt_fairseq.text.word_tags import check_tags, iterate_tags
from ctxmt_fairseq.text.word_weights import LineWeights

logger = logging.getLogger(__name__)


def training_needs(
    options: ContextOptions, cfg: Any, prefix: str, split: Split, dictionary: Dictionary
) -> Dict[str, Any]:
    """What ``--token-weights`` and ``--upsample`` give a training's dataset: its arguments of these names.
    ``prefix`` is that of ``read_split``."""
    needs: Dict[str, Any] = {}
    if split.target is None or (options.token_weights is None and options.upsample is None):
        return needs
    words = SideWords(split.target, dictionary, Subwords.load(os.path.dirname(prefix), cfg.target_lang))
    if options.token_weights is not None:
        weights = _word_weights(options, prefix, len(split.target), alone=os.pathsep not in cfg.data)
        needs["weights"] = TokenWeights.read(weights, np.asarray(split.target.sizes), words.split)
    if options.upsample is not None:
        times = times_by_tag(options.upsample)
        needs["times"] = _times(_tags(prefix, "--upsample"), times, split, Fit(words.split))
    return needs


def check_weighing(criterion: Any, options: Any, cfg: Any) -> None:
    """Refuse a criterion that does not weigh words, if the task's configuration ``cfg`` has weights."""
    if cfg.token_weights is not None and not hasattr(criterion, "token_weights"):
        raise BadInput(
            f"--token-weights: --criterion {options._name} has no weights; choose context_margin or "
            "context_discounted_label_smoothed_cross_entropy (with --context-discount 1 it is fairseq's "
            "label_smoothed_cross_entropy, but for these weights)"
        )


def _word_weights(
    options: ContextOptions, prefix: str, sentences: int, alone: bool
) -> Iterator[word_weights.LineWeights]:
    """Read a training text's word weights; if its folder is ``alone``, a file can number its lines."""
    given = str(options.token_weights)
    by_tag = times_by_tag(given, least=0, most=1000)
    if by_tag or given == word_weights.TAGS:
        path = _tags(prefix, f"--token-weights {given}")
        return word_weights.tag_weights(path, sentences, options.need_weight, by_tag)
    if given == word_weights.CXMI:
        path = f"{prefix}words.jsonl"
        _check(path, "--token-weights cxmi", "what ctxmt probe --words writes of the training text")
        return word_weights.cxmi_weights(path, sentences, options.need_weight)
    if "=" in given and not os.path.exists(given):
        raise BadInput(
            f"--token-weights {given}: expected TAG=W,..., W from 0 to 1000 (tags, cxmi, or a file)"
        )
    if not alone:
        raise BadInput("--token-weights FILE needs one data folder alone, because it numbers its lines")
    return word_weights.written_weights(given, sentences)


def _tags(prefix: str, option: str) -> str:
    path = f"{prefix}tags.jsonl"
    _check(path, option, "a line with the tags of the target words for each line of the training text")
    return path


def _check(path: str, option: str, what: str) -> None:
    if not os.path.isfile(path):
        raise BadInput(f"no such file; {option} expects there {what}", path)


def _times(path: str, times: Dict[str, float], split: Split, fit: Fit) -> np.ndarray:
    """How often each sentence is seen in an epoch: (n,) float64. Tags of another text's words are refused."""
    found, others = Counter[str](), Counter[str]()
    result = np.ones(len(split.source))
    for number, line in enumerate(one_each(iterate_tags(path), len(split.source), path)):
        names = {name for names in line.tags for name in names}
        found.update(names & times.keys())
        others.update(names - times.keys())
        if names & times.keys():
            result[number] = max(times[name] for name in names & times.keys())
            fit.of(LineWeights(line.place, number, [1.0] * len(line.tags), line.words))
    check_tags(times, found + others, path, "--upsample")
    fit.check()
    current = result if split.current is None else result[split.current]
    counts = ", ".join(f"{name} in {found[name]}" for name in times)
    logger.info(
        "--upsample: %s of %d lines; an epoch has %.0f examples instead of %d",
        *(counts, len(result), current.sum(), len(current)),
    )
    return result
