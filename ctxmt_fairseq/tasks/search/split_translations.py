"""A split of a data folder in fairseq's commands, where a sentence needs others of its document."""

from typing import Any, Dict, Iterator, List, Optional, Sequence, Set, Tuple

import numpy as np

from ctxmt_fairseq.data.context_dataset import ContextDataset
from ctxmt_fairseq.tasks.search.current_sentence import Hypothesis, WindowCount
from ctxmt_fairseq.tasks.search.running_document import RunningDocuments, Translation, schedule


class SplitTranslations:
    """Translates the lines that a batch asks for, and first those before them in their documents if their
    translations are context. fairseq cuts a split into batches of sentences of like length. What is
    translated before its batch comes is kept until then, so each line is translated once, whatever the
    batches are."""

    def __init__(self, task: Any, dataset: ContextDataset, models: Sequence[Any]):
        limits: Tuple[int, int] = task.limits(models)
        sources = [dataset.source[line] for line in range(len(dataset.source))]
        fits = np.asarray(dataset.source.sizes) <= limits[0]
        lines = np.asarray(dataset.lines)
        lines = lines[fits[lines]]
        targets = None
        if dataset.options.context_selection == "reference" and dataset.target is not None:
            targets = [dataset.target[line] for line in range(len(sources))]
        self.dependent = task.dependent
        self.documents = dataset.builder.documents

        def running(task: Any) -> RunningDocuments:
            more = {"contexts": getattr(dataset, "contexts", None), "current": lines}
            return RunningDocuments(task, sources, self.documents, targets, limits, **more)

        self.running = running(task)
        self._own: Optional[RunningDocuments] = None  # gives other documents' translations as context
        if self.dependent and dataset.options.context_selection in ("random", "shuffled"):
            self._own = running(task.with_options(context_selection="document"))
        self.longest = int(dataset.window_sizes.source.max(initial=1))
        self._lines: Set[int] = set(np.flatnonzero(fits).tolist())  # those that are only context, too
        self._found: Dict[int, List[Hypothesis]] = {}

    def translate(
        self, generator: Any, models: List[Any], lines: Sequence[int], tokens: int, count: WindowCount
    ) -> List[List[Hypothesis]]:
        """The n-best lists of some lines; a batch has about so many source tokens, pads included. Lines that
        come again, as in a worker that has run out of batches, are translated again, to the same."""
        width = max(1, tokens // self.longest)
        if self._own is not None:
            for batch in schedule(self.documents, sorted(self._lines), width, True):
                self._own.translate(generator, models, batch, WindowCount())
            for line in self._lines:
                self.running.record(line, self._own.targets[line])
            self._own = None
        starts, _ = self.documents.bounds(np.asarray(lines))
        spans = zip(starts.tolist(), lines, strict=True)
        earlier = {each for start, line in spans for each in range(start, line)} & self._lines
        missing = {line for line in earlier if self.dependent and not len(self.running.targets[line])}
        todo = sorted((missing | set(lines)) - self._found.keys())

        def windows(ends: List[int], keep: str) -> Iterator[Translation]:
            for batch in schedule(self.documents, ends, width, self.dependent):
                yield from self.running.translate(generator, models, batch, WindowCount(), keep).items()

        self._found.update(self.running.wanted(todo, windows))
        found = [self._found.pop(line) for line in lines]
        for row in found:
            count.add(row)
        return found
