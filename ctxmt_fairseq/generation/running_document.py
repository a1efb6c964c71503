"""Documents that are being translated: what is known so far, and the next batch of windows.

The windows are built by the dataset that training uses; only the target sentences differ: they are the
translations made so far, or given ones.
"""

from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np
import torch
from fairseq import utils

from ctxmt_fairseq.data.document_window_dataset import join
from ctxmt_fairseq.data.documents import Documents
from ctxmt_fairseq.data.windows import EMPTY, Slots
from ctxmt_fairseq.generation.current_sentence import Hypothesis, WindowCount
from ctxmt_fairseq.generation.window_generator import generate_current


class Sentences(List[torch.Tensor]):
    """A list of token tensors with fairseq's ``sizes``; a missing sentence is an empty tensor."""

    @property
    def sizes(self) -> np.ndarray:
        return np.array([len(sentence) for sentence in self], np.int32)


class RunningDocuments:
    """Source sentences, and target sentences as far as they are known.

    Args:
        task: a task of this plugin, with its models built (they decide the batch's keys).
        sources: (L,) int64 each, ending with ``</s>``.
        documents: their boundaries.
        targets: given target sentences; those that are missing or empty tensors are filled by ``record``.
        limits: the models' source and target positions.
    """

    def __init__(
        self,
        task: Any,
        sources: Sequence[torch.Tensor],
        documents: Documents,
        targets: Optional[Sequence[torch.Tensor]] = None,
        limits: Tuple[int, int] = (1024, 1024),
    ):
        self.task = task
        self.sources = Sentences(sources)
        nothing = torch.empty(0, dtype=torch.long)
        self.targets = Sentences(targets if targets is not None else [nothing] * len(self.sources))
        self.limits = limits
        self.end = torch.tensor([task.target_dictionary.eos()])
        self.dataset = task.build_dataset(
            "input", self.sources, self.targets, documents, current=None, training=False
        )

    def record(self, line: int, tokens: torch.Tensor) -> None:
        """Keep a translation (T,), ending with ``</s>``, as target context of later lines."""
        self.targets[line] = tokens.cpu().long()

    def batch(self, lines: Sequence[int], forced: bool) -> Tuple[Dict[str, Any], List[torch.Tensor]]:
        """The windows around ``lines``, farthest context left out where the model cannot hold it.

        Args:
            forced: the target context is known and will be forced; else whole windows will be decoded.

        Returns:
            a batch of the dataset's collater (rows sorted by length: see its ``id``), and the target context
            of every row, each sentence ending with its separator.
        """
        indices = np.array(lines)
        builder = self.dataset.builder
        if forced:
            target_sizes = self.targets.sizes
            target_sizes[indices] = np.minimum(self.limits[1] // 2, 2 * self.sources.sizes[indices] + 50)
            reach = builder.sizes(indices, self.sources.sizes, target_sizes, 0, *self.limits).reach
        else:
            reach = builder.sizes(indices, self.sources.sizes, None, 0, *self.limits).reach
        slots = builder.slots(indices, reach=reach)
        examples, prefixes = [], {}
        for row, line in enumerate(lines):
            context = self._known(Slots(*(role[row] for role in slots)))
            source, segment = self.dataset.source_window(line, context)
            target_context = self.dataset.target_context(context)
            examples.append(
                {
                    "id": line,
                    "source": source,
                    "target": None,
                    "current_segment": segment,
                    "target_context_sizes": len(target_context),
                }
            )
            prefixes[line] = join(target_context + [self.end], self.dataset.target_separator)[:-1]
        batch = self.dataset.collater(examples)
        return batch, [prefixes[line] for line in batch["id"].tolist()]

    def _known(self, slots: Slots) -> Slots:
        """Target sentences that nobody has translated yet stand as empty sentences."""

        def role(sentences: np.ndarray) -> np.ndarray:
            unknown = [int(line) >= 0 and not len(self.targets[int(line)]) for line in sentences]
            return np.where(unknown, EMPTY, sentences) if len(sentences) else sentences

        return slots._replace(
            target_on_source=role(slots.target_on_source), target_before=role(slots.target_before)
        )

    def translate(
        self, generator: Any, models: List[torch.nn.Module], lines: Sequence[int], forced: bool, count: WindowCount
    ) -> Dict[int, List[Hypothesis]]:
        """n-best current sentences of some lines, and record the best ones."""
        batch, prefixes = self.batch(lines, forced)
        device = next(models[0].parameters()).device
        if device.type == "cuda":
            batch = utils.move_to_cuda(batch)
        hypotheses = generate_current(
            generator,
            models,
            batch,
            self.dataset.target_separator,
            count,
            self.task.keep_sentence,
            prefixes if forced else None,
        )
        results = dict(zip(batch["id"].tolist(), hypotheses))
        for line, nbest in results.items():
            if not len(self.targets[line]):
                self.record(line, nbest[0]["tokens"])
        return results
