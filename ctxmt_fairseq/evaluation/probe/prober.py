"""Translates and scores one text in several contexts."""

import functools
import logging
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np
import torch
from tqdm.auto import tqdm

from ctxmt_fairseq.evaluation.probe.conditions import ABSENT, DOCUMENT, Conditions
from ctxmt_fairseq.evaluation.probe.cxmi import Cxmi, cxmi, token_bits
from ctxmt_fairseq.evaluation.probe.probed_text import ProbedText
from ctxmt_fairseq.generation.document_translation import DocumentTranslator
from ctxmt_fairseq.generation.forced_scoring import MAX_TOKENS, TokenScores
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.generation.search_settings import DOCUMENTS_AT_ONCE, SearchSettings

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """What the models do with N sentences in one context: the bits that it saves for each token of the
    references (``token_bits``), and for the whole text; the translations, if any were asked for, and their
    scores by metric once they are known."""

    name: str
    bits: List[np.ndarray]
    cxmi: Cxmi
    hypotheses: Optional[List[str]]
    scores: Mapping[str, float] = field(default_factory=dict)

    @property
    def numbers(self) -> Dict[str, float]:
        """The scores and CXMI, for JSON."""
        return {**self.scores, **self.cxmi._asdict()}


@dataclass
class Prober:
    """Probes models on one text; what contexts share is done once; without ``search`` without translation.
    CXMI compares with the context selection ``against``."""

    loaded: LoadedModels
    text: ProbedText
    search: Optional[SearchSettings] = None
    width: int = DOCUMENTS_AT_ONCE
    max_tokens: int = MAX_TOKENS
    against: str = ABSENT

    def __post_init__(self) -> None:
        self.scorer = self.text.scorer(self.max_tokens)
        self._bits: Dict[Tuple[Any, ...], List[np.ndarray]] = {}
        self._translations: Dict[Tuple[Any, ...], Dict[int, torch.Tensor]] = {}

    def outcomes(self, conditions: Conditions) -> List[Outcome]:
        """The outcomes in the order of the conditions, the first of which is the document's own context."""
        found = []
        for name, models in conditions.items():
            bits = self._token_bits(models)
            hypotheses = None
            if self.search is not None:
                tokens = self._translated(name, models, conditions[DOCUMENT])
                texts = (self.loaded.decode_target(tokens[line]) for line in self.text.current.tolist())
                hypotheses = [*map(self.loaded.target_subwords.steps.surface, texts)]
            found.append(Outcome(name, bits, cxmi(bits, self.text.words), hypotheses))
        return found

    @functools.cached_property
    def _without(self) -> List[TokenScores]:
        return self.scorer.scores(self.loaded.with_options(context_selection=self.against))

    def _token_bits(self, models: LoadedModels) -> List[np.ndarray]:
        options = _options(models)
        if options not in self._bits:
            self._bits[options] = token_bits(self.scorer.scores(models), self._without)
        return self._bits[options]

    def _translated(self, name: str, models: LoadedModels, document: LoadedModels) -> Dict[int, torch.Tensor]:
        """Translations, as tokens by line, of at least all current lines. Those in the document's own context
        (``document``) are the target context of sentences that get the context of other documents."""
        options = _options(models)
        if options in self._translations:
            return self._translations[options]
        assert self.search is not None
        translator = DocumentTranslator(models, self.search, width=self.width)
        selection = models.task.context_options().context_selection
        given: Optional[Sequence[torch.Tensor]] = None
        if selection == "reference":
            given = self.text.targets
        elif translator.dependent and selection in ("random", "shuffled"):
            translations = self._translated(DOCUMENT, document, document)
            given = [translations[line] for line in range(len(self.text.sources))]
        text = self.text
        running = translator.running(text.sources, text.documents, given, text.contexts, text.current)
        all_lines = translator.dependent and given is None
        lines = list(range(len(text.sources))) if all_lines else text.current.tolist()
        how = {"total": len(lines), "unit": "sentence", "desc": name, "disable": None}
        progress = tqdm(translator.translate(running, lines), **how)
        found = {line: nbest[0]["tokens"].cpu().long() for line, nbest in progress}
        self._translations[options] = found
        return found


def _options(models: LoadedModels) -> Tuple[Any, ...]:
    """What distinguishes a context from others of the same models."""
    return tuple(models.task.options.items())


def warn_of_unknown_absence(loaded: LoadedModels, against: str) -> None:
    """Log a warning if the models have no context, or CXMI is to be ``against`` its absence, which they were
    not trained with."""
    options = loaded.task.context_options()
    if not (options.reach or loaded.reads_metadata):
        logger.warning("the model has no context: it sees the same whatever the text's context is")
        return
    if against != ABSENT:
        return
    cfg = loaded.task.cfg
    if loaded.reads_metadata:
        # Context dropout keeps the last vector; only sentences without any teach a model to do without.
        unknown = "with --current-vector yes" if cfg.current_vector in (None, "yes") else None
    else:
        unknown = None if cfg.sample_context_size else "without --sample-context-size"
    if unknown:
        logger.warning(
            "the model was trained %s: CXMI compares with the model without context, which it may "
            "not know, and then comes out too large; --against random compares with context that it knows",
            unknown,
        )  # fmt: skip
