"""Documents that are being translated: what is known so far, and the next batch of windows.

The dataset of the training builds the windows. Only the target sentences differ: they are the translations
made so far, or given ones.
"""

import collections
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

import numpy as np
import torch
from fairseq.token_generation_constraints import pack_constraints

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data.device_copies import to_device
from ctxmt_fairseq.data.windows import Slots
from ctxmt_fairseq.tasks.search.current_sentence import Hypothesis, WindowCount
from ctxmt_fairseq.tasks.search.forced_prefix import forces_prefixes
from ctxmt_fairseq.tasks.search.window_generator import generate_current
from ctxmt_fairseq.text.absence import EMPTY_SENTENCE
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.vectors.sentence_contexts import SentenceContexts

Translation = Tuple[int, List[Hypothesis]]  # a line and its n-best list


def schedule(documents: Documents, lines: Sequence[int], width: int, dependent: bool) -> Iterator[List[int]]:
    """Divide lines, which increase, into batches of at most ``width``. If they are ``dependent``, each line
    needs the translations before it in its document. Then a batch holds the next line of each of ``width``
    documents, and the next document takes the place of a finished one."""
    if not dependent:
        yield from (list(lines[at : at + width]) for at in range(0, len(lines), width))
        return
    by_document: Dict[int, List[int]] = {}
    starts, _ = documents.bounds(np.asarray(lines, np.int64))
    for line, start in zip(lines, map(int, starts), strict=True):
        by_document.setdefault(start, []).append(line)
    waiting = collections.deque(group[::-1] for group in by_document.values())
    active: List[List[int]] = []
    while waiting or active:
        while waiting and len(active) < width:
            active.append(waiting.popleft())
        yield [remaining.pop() for remaining in active]
        active = [remaining for remaining in active if remaining]


class Sentences:
    """Token tensors (length,) in memory, with fairseq's ``sizes``; a missing sentence is an empty tensor."""

    def __init__(self, tensors: Iterable[torch.Tensor]):
        self._tensors = list(tensors)
        self.sizes = np.array([len(tensor) for tensor in self._tensors], np.int32)

    def __len__(self) -> int:
        return len(self._tensors)

    def __getitem__(self, index: int) -> torch.Tensor:
        return self._tensors[index]

    def __setitem__(self, index: int, tensor: torch.Tensor) -> None:
        self._tensors[index] = tensor
        self.sizes[index] = len(tensor)


class RunningDocuments:
    """Source sentences, and target sentences as far as they are known.

    Args:
        task: a task of this plugin, whose models are built (they decide the batch's keys).
        sources: (L,) int64 each, with ``</s>`` at the end. None that is translated may be longer than
            ``limits``, the models' source and target positions, allow.
        targets: given target sentences; ``record`` fills in those that are missing or empty tensors.
        unique_sentences: whether a batch holds each context sentence once and names it, for models that keep
            states (``sentence_cache``); None: as the task's options say.
        contexts: what the models read of the sentences besides their tokens (``LoadedModels.contexts_of``).
        current: (n,) which ones are translated, None for all; the others are only context.
        terms: of each sentence the tokens (T,) of terms that its translation must hold; for ``TermSearch``.
    """

    before = 0  # sentences that are left out before the first one, for messages

    def __init__(
        self,
        task: Any,
        sources: Sequence[torch.Tensor],
        documents: Documents,
        targets: Optional[Sequence[torch.Tensor]] = None,
        limits: Tuple[int, int] = (1024, 1024),
        unique_sentences: Optional[bool] = None,
        contexts: Optional[SentenceContexts] = None,
        current: Optional[np.ndarray] = None,
        terms: Optional[Sequence[Mapping[str, torch.Tensor]]] = None,
    ):
        self.task, self.terms = task, terms
        self.sources = Sentences(sources)
        nothing = torch.empty(0, dtype=torch.long)
        self.targets = Sentences(targets if targets is not None else [nothing] * len(self.sources))
        self.limits = limits
        self.rest = torch.cat([task.target_start, torch.tensor([task.target_dictionary.eos()])])
        self.dataset = task.build_dataset(
            "input", self.sources, self.targets, documents, current=current, training=False, contexts=contexts
        )
        self.most = limits[0] - int(self.dataset.builder.ends_with_eos)  # tokens of a source sentence
        if unique_sentences is not None:
            self.dataset.unique_sentences = self.dataset.names_sentences = unique_sentences

    def record(self, line: int, tokens: torch.Tensor) -> None:
        """Keep a translation (T,), which ends with ``</s>``, as target context of later lines."""
        self.targets[line] = tokens.cpu().long()

    def record_translation(self, line: int, words: torch.Tensor) -> None:
        """Keep what a search found (T,), behind what targets begin with, unless the line has a target."""
        if not len(self.targets[line]):
            start = self.rest[:-1] if len(words) > 1 else self.rest[:0]
            self.record(line, torch.cat([start, words.cpu()]))

    def batch(self, lines: Sequence[int], forced: bool) -> Tuple[Dict[str, Any], List[torch.Tensor]]:
        """Build the windows around ``lines``, without the farthest context where the models cannot hold it: a
        batch of the dataset's collater (its rows are sorted by length: see its ``id``), and the target
        context of every row, whose sentences each end with a separator. If it is ``forced``, it is known;
        else whole windows will be decoded."""
        indices = np.array(lines)
        longest = int(indices[self.sources.sizes[indices].argmax()])
        if self.sources.sizes[longest] > self.most:
            found = f"{self.sources.sizes[longest]} tokens; the models read at most {self.most}"
            raise BadInput(f"sentence {self.before + longest + 1} has {found}: shorten it")
        builder = self.dataset.builder
        target_sizes = np.maximum(self.targets.sizes, 1)
        max_source, max_target = self.limits
        # Room for the sentence that will be decoded. Context that is not forced is decoded too, and its size
        # is unknown.
        target_sizes[indices] = np.minimum(max_target // 2, 2 * self.sources.sizes[indices] + 50)
        measured = self.dataset.measured(self.dataset.encoded_arrangement)
        measured.target = target_sizes
        reach = measured.sizes(indices, 0, max_source, max_target if forced else None).reach
        slots = builder.slots(indices, reach=reach)
        examples, prefixes = [], {}
        for row, line in enumerate(lines):
            context = self._known(Slots(*(side[row] for side in slots)))
            target_context = self.dataset.target_context(context)
            examples.append({"id": line, **self.dataset.inputs(line, context), "target": None})
            window = self.dataset.window(target_context, [self.rest], self.dataset.target_separator)
            prefixes[line] = window[:-1]
        batch = self.dataset.collater(examples)
        return batch, [prefixes[line] for line in batch["id"].tolist()]

    def _known(self, slots: Slots) -> Slots:
        """Put an empty sentence in the place of a target sentence that is not translated yet."""

        def known(line: int) -> int:
            return EMPTY_SENTENCE if line >= 0 and not len(self.targets[line]) else line

        columns = self.dataset.builder.source_columns
        sides = zip(columns, slots.source, strict=True)
        source = [known(int(line)) if column.target else int(line) for column, line in sides]
        target = [known(int(line)) for line in slots.target]
        return Slots(np.array(source, np.int64), np.array(target, np.int64))

    def wanted(
        self, lines: Sequence[int], windows: Callable[[List[int], str], Iterable[Translation]]
    ) -> Iterator[Translation]:
        """Yield the n-best lists of ``lines``, from the windows that have them.

        With ``--keep-sentence first``, a line's translation is the first sentence of the window that begins
        with it. No window begins with the last lines of a document, unless it is as short, and what the
        models cannot hold is left out of windows: these lines have their own window's current sentence.
        ``windows(lines, keep)`` yields what ``translate`` returns for these lines, in batches.
        """
        rest, reach = dict.fromkeys(lines), self.task.reach
        if reach:
            starts, ends = self.dataset.builder.documents.bounds(np.asarray(lines, np.int64))
            last = np.minimum(np.asarray(lines, np.int64) + reach, ends - 1)
            begins = (np.maximum(last - reach, starts) == lines) & (self.sources.sizes[last] <= self.most)
            for line, nbest in windows(last[begins].tolist(), "first"):
                if line in rest:
                    del rest[line]
                    yield line, nbest
        yield from windows(list(rest), "current")

    def translate(
        self,
        generator: Any,
        models: List[torch.nn.Module],
        lines: Sequence[int],
        count: WindowCount,
        keep: str = "current",
    ) -> Dict[int, List[Hypothesis]]:
        """Translate the windows of some lines, and record the best translations of their current sentences.
        Returns n-best lists by line: the windows' own or, if ``keep`` is "first", those that they begin
        with."""
        forced = forces_prefixes(generator)
        batch, prefixes = self.batch(lines, forced)
        options: Dict[str, Any] = {}
        if self.terms is not None:
            terms = [[*self.terms[line].values()] for line in batch["id"].tolist()]
            options["constraints"] = pack_constraints(terms)
        batch = to_device(batch, next(models[0].parameters()).device)
        hypotheses = generate_current(
            generator,
            models,
            batch,
            self.dataset.target_separator,
            count,
            keep,
            prefixes if forced else None,
            **options,
        )
        parts = batch["parts"]
        before = parts.sentences if keep == "first" else 0
        results = dict(zip((parts.lines - before).tolist(), hypotheses, strict=True))
        for line, nbest in results.items():
            self.record_translation(line, nbest[0]["tokens"])
        return results
