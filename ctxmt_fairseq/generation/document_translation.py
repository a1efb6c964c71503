"""Translates whole documents, many side by side: each sentence after the earlier ones of its document."""

import functools
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

import numpy as np
import torch
from tqdm.auto import tqdm

from ctxmt_fairseq.base import ranks
from ctxmt_fairseq.generation.forced_terms import ForcedTerms
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.generation.long_sentences import FittedText, SourceText, fit_sentences
from ctxmt_fairseq.generation.search_settings import DOCUMENTS_AT_ONCE, SearchSettings
from ctxmt_fairseq.models.blocks.sentence_cache import SentenceCache
from ctxmt_fairseq.tasks.search.best_symbols import hand_best_symbols
from ctxmt_fairseq.tasks.search.current_sentence import Hypothesis, WindowCount
from ctxmt_fairseq.tasks.search.running_document import RunningDocuments, schedule
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.glossary import Glossary
from ctxmt_fairseq.vectors.sentence_contexts import SentenceContexts

_LEAST_PART = 20  # tokens of a part of a sentence, however little the search may write
_SORTED_BATCHES = 64  # lines are sorted by length within this many batches, so that output keeps coming


class DocumentTranslator:
    """Translates documents with one ensemble.

    Args:
        loaded: the models; their task says how target windows are decoded.
        search: settings of the search.
        width: documents side by side.
        glossary: terms that translations must hold; see ``ForcedTerms``.
    """

    def __init__(
        self,
        loaded: LoadedModels,
        search: SearchSettings,
        width: int = DOCUMENTS_AT_ONCE,
        glossary: Optional[Glossary] = None,
    ):
        self.loaded, self.search = loaded, search
        self.width = width
        self.count = WindowCount()
        self.dependent = loaded.task.dependent
        self.caching = [model.encoder for model in loaded.models if hasattr(model.encoder, "sentence_cache")]
        for model in loaded.models:  # else fairseq's layers return attention weights in evaluation
            model.make_generation_fast_(need_attn=False)
        self.generator: Any = loaded.task.build_generator(loaded.models, search)
        self.terms = ForcedTerms(glossary, loaded, search.beam) if glossary else None
        if self.terms:
            self.generator.search = self.terms.search
        hand_best_symbols(self.generator)

    @property
    def _selection(self) -> str:
        return self.loaded.task.context_options().context_selection

    @property
    def remark(self) -> Optional[str]:
        """A warning, at the end, of windows with wrong separators, translations cut off, missing terms."""
        counted = self.count.report(self.loaded.task.searches_windows)
        return "; ".join(filter(None, [counted, self.terms.remark if self.terms else None])) or None

    def fit(self, text: SourceText, too_long: str) -> FittedText:
        """Make a text such that the models can read it; see ``fit_sentences``. Parts of sentences are so long
        that the search may write twice as many tokens for each."""
        a, b = self.search.max_len_a, self.search.max_len_b
        part = int(b / (2 - a)) if a < 2 else self.loaded.sentence_limits[0]  # the most n with a n + b >= 2 n
        return fit_sentences(self.loaded, text, too_long, max(_LEAST_PART, part), cut_context=self.dependent)

    def running(
        self,
        sources: Sequence[torch.Tensor],
        documents: Documents,
        targets: Optional[Sequence[torch.Tensor]] = None,
        contexts: Optional[SentenceContexts] = None,
        current: Optional[np.ndarray] = None,
        sentences: Sequence[str] = (),
    ) -> RunningDocuments:
        """Prepare documents for ``translate``; see ``RunningDocuments``. What other documents give as target
        context is translated here, with its own context, unless targets are given.

        Args:
            sentences: the text of the sources, in which terms are found.
        """
        if targets is None and self.dependent and self._selection in ("random", "shuffled"):
            own = self.loaded.with_options(context_selection="document")
            glossary = self.terms.glossary if self.terms else None
            first = DocumentTranslator(own, self.search, self.width, glossary)
            known = first.running(sources, documents, None, contexts, None, sentences)
            shown: Any = {"total": len(sources), "unit": "sentence", "desc": "own context", "disable": None}
            for line, nbest in tqdm(first.translate(known, range(len(sources))), leave=False, **shown):
                known.record_translation(line, nbest[0]["tokens"])
            targets = [known.targets[line] for line in range(len(sources))]
        for encoder in self.caching:
            encoder.sentence_cache = SentenceCache()
        terms = [self.terms.tokens(sentence) for sentence in sentences] if self.terms else None
        text, unique = (sources, documents, targets), True if self.caching else None
        how: Any = {"unique_sentences": unique, "contexts": contexts, "current": current, "terms": terms}
        return RunningDocuments(self.loaded.task, *text, self.loaded.limits, **how)

    def running_of(
        self,
        text: FittedText,
        metadata: Optional[Sequence[Mapping[str, str]]] = None,
        targets: Optional[Sequence[torch.Tensor]] = None,
        current: Optional[np.ndarray] = None,
    ) -> RunningDocuments:
        """The same for a text that fits; ``metadata`` is that of each sentence as it was given."""
        known = [metadata[line] if metadata else {} for line in text.origins.tolist()]
        contexts = self.loaded.contexts_of(text.sentences, known)
        return self.running(text.sources, text.documents, targets, contexts, current, text.sentences)

    def translate(
        self, running: RunningDocuments, lines: Sequence[int]
    ) -> Iterator[Tuple[int, List[Hypothesis]]]:
        """Yield the n-best lists of ``lines``, as they become available.

        A line whose target is already known (given, or kept by an earlier run) is context for others like any
        other. Which sentences of windows they are: see ``RunningDocuments.wanted``. Where several processes
        share the work, the lines of the others come last, with tokens and scores alone.
        """
        windows = functools.partial(self._windows, running)
        across = self.dependent and self._selection in ("random", "shuffled", "swapped")
        if ranks.count() == 1 or across and not running.targets.sizes.all():  # which read other documents'
            yield from running.wanted(lines, windows)
            return
        documents, before = running.dataset.builder.documents, dict(vars(self.count))
        of_line = np.repeat(np.arange(len(documents)), np.diff(documents.starts))
        weights = np.zeros(len(documents))
        for line in lines:
            weights[of_line[line]] += len(running.sources[line])
        mine = ranks.own_share(weights.tolist())
        own: Dict[int, Any] = {}
        for line, nbest in running.wanted([line for line in lines if mine[of_line[line]]], windows):
            own[line] = [(each["tokens"].tolist(), float(each["score"])) for each in nbest]
            yield line, nbest
        added = {name: value - before[name] for name, value in vars(self.count).items()}
        for rank, theirs in ranks.united({ranks.number(): (own, added)}).items():
            if rank != ranks.number():
                for name, value in theirs[1].items():
                    setattr(self.count, name, getattr(self.count, name) + value)
                for line, kept in theirs[0].items():
                    yield line, [{"tokens": torch.tensor(tokens), "score": score} for tokens, score in kept]

    def count_terms(self, running: RunningDocuments, line: int, translation: str) -> None:
        """Count for ``remark`` what a line's translation holds of its terms."""
        if self.terms and running.terms:
            self.terms.count(running.terms[line], translation)

    def _windows(
        self, running: RunningDocuments, lines: Sequence[int], keep: str
    ) -> Iterator[Tuple[int, List[Hypothesis]]]:
        """Yield the translations of windows; see ``RunningDocuments.translate``."""
        documents, size = running.dataset.builder.documents, self.width * _SORTED_BATCHES
        blocks: Iterable[Sequence[int]] = [lines]
        if not self.dependent and not self.caching:  # else a document's lines must follow each other
            parts = (lines[at : at + size] for at in range(0, len(lines), size))
            blocks = (sorted(part, key=lambda line: len(running.sources[line])) for part in parts)
        for block in blocks:
            for batch in schedule(documents, block, self.width, self.dependent):
                found = running.translate(self.generator, self.loaded.models, batch, self.count, keep)
                yield from found.items()
