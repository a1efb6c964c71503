"""Memory of trained models against the size of their context, on documents (sequence shortening, section 5.5
and figure 4).

Reads TEXT.SRC, TEXT.TGT and TEXT.docids, the languages being the models', and translates sentences of it one
by one, each with 1, 2, .. previous sentences: also more than in training. What is shown is the peak of the
memory beyond the model itself, the mean over the same sentences for all. "python -m scripts.benchmark memory"
measures untrained models of the paper's sizes.

Example: python -m scripts.benchmark.document_memory text/test tokens=caching.pt group=group.pt \\
             --sizes 1 5 10 20 --output memory.png
"""

import sys
from dataclasses import dataclass
from functools import partial
from typing import Dict, List, Optional, Sequence

import numpy as np
from torch.nn.attention import sdpa_kernel
from tqdm.auto import tqdm

from ctxmt_fairseq import Translator
from ctxmt_fairseq.analysis.system_names import named_paths
from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.option_types import non_negative_int
from ctxmt_fairseq.base.paths import Folder, Named, Prefix
from ctxmt_fairseq.base.plots.charts import Point
from ctxmt_fairseq.base.tables import aligned_table, mean_and_deviation
from ctxmt_fairseq.cli.main import script
from ctxmt_fairseq.cli.options.result_files import ChartFiles
from ctxmt_fairseq.evaluation.probe.probed_text import ProbedText, read_probed_text
from ctxmt_fairseq.generation.document_translation import DocumentTranslator
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.generation.search_settings import SearchSettings
from scripts.benchmark.context_memory import ATTENTIONS
from tests.helpers.allocated import peak_allocated

ACROSS = "context sentences"
SIDES = ("source_context", "target_context", "target_context_on_source")


@dataclass(frozen=True)
class DocumentMemory:
    """Peaks of one model: MiB that the model itself takes, and sentences of context -> MiB beyond it, of the
    translation of each line."""

    parameters: float
    peaks: Dict[int, List[float]]


def lines_with_context(text: ProbedText, reach: int, count: int) -> List[int]:
    """So many lines of a text, spread evenly, that have ``reach`` sentences before them in their document."""
    starts, _ = text.documents.bounds(text.current)
    found = text.current[text.current - starts >= reach]
    if not len(found):
        raise BadInput(f"expected documents of more than {reach} sentences (--sizes), found none")
    chosen = np.linspace(0, len(found) - 1, min(count, len(found))).round().astype(int)
    return found[chosen].tolist()


def document_memory(
    loaded: LoadedModels,
    text: ProbedText,
    sizes: Sequence[int],
    lines: Sequence[int],
    search: SearchSettings,
    attention: str = "plain",
) -> DocumentMemory:
    """The peak memory of translating each line alone, with each size of context.

    No sentence of the context was encoded before. Target context are the references. Sides without previous
    sentences in training stay without; a model without any has the same peaks for every size.

    Args:
        lines: with as much context, see ``lines_with_context``.
        attention: from ``ATTENTIONS``; plain makes whole matrices of weights, as the paper's code did.
    """
    sides = [side for side in SIDES if loaded.task.options.get(side)]
    peaks: Dict[int, List[float]] = {}
    with tqdm(total=len(sizes) * len(lines), unit="sentence", disable=None) as progress:
        for size in sizes:
            if not sides and peaks:
                peaks[size] = next(iter(peaks.values()))
                continue
            sized = loaded.with_options(**{side: size for side in sides})
            translator = DocumentTranslator(sized, search, width=1)
            peaks[size] = []
            for line in lines:
                running = translator.running(text.sources, text.documents, text.targets, text.contexts)
                translated = translator.translate(running, [line])
                with sdpa_kernel(ATTENTIONS[attention]):
                    peaks[size].append(peak_allocated(partial(list, translated), loaded.device))
                progress.update()
    tensors = {
        tensor.data_ptr(): tensor.numel() * tensor.element_size()
        for model in loaded.models
        for tensor in model.state_dict().values()
    }
    return DocumentMemory(sum(tensors.values()) / 2**20, peaks)


def memory_table(found: Dict[str, DocumentMemory]) -> str:
    """Means and deviations over the lines, a row for each size; the models' own memory below."""
    rows = [["context sentences", *(f"{name} (MiB)" for name in found)]]
    for size in next(iter(found.values())).peaks:
        rows.append([str(size), *(mean_and_deviation(each.peaks[size]) for each in found.values())])
    rows.append(["the model itself", *(f"{each.parameters:.2f}" for each in found.values())])
    return aligned_table(rows)


def memory_points(found: Dict[str, DocumentMemory], lines: int) -> List[Point]:
    """The means over so many lines, a line for each model."""
    measure = f"peak memory beyond the model (MiB), mean of n = {lines}"
    return [
        Point(measure, name, size, float(np.mean(peaks)))
        for name, each in found.items()
        for size, peaks in each.peaks.items()
    ]


class MemoryOfDocuments(Command):
    text: Prefix = argument("TEXT", "prefix of the text's files")
    models: List[Named] = argument("MODEL", "checkpoints, or NAME=MODEL")
    sizes: List[int] = option("sentences of context", [1, 2, 3, 5, 10], non_negative_int)
    sentences: int = option("that are translated, evenly spread", 20)
    attention: str = option(
        "plain makes whole matrices of weights, as the paper's code did", "plain", choices=tuple(ATTENTIONS)
    )
    beam: int = option("", SearchSettings().beam)
    max_len_b: int = option("tokens of a translation at most", SearchSettings().max_len_b, non_negative_int)
    data: Optional[Folder] = option("data folder (default: the one of the training)")
    user_dir: Optional[Folder] = option("a folder with Python code of the models")
    cpu: bool = option("do not use a GPU")
    files: ChartFiles

    def run(self) -> None:
        models = named_paths(self.models)
        if len({name for name, _ in models}) < len(models):
            raise BadInput("expected models of different names")
        device = "cpu" if self.cpu else None
        sizes, search = sorted(set(self.sizes)), SearchSettings(beam=self.beam, max_len_b=self.max_len_b)
        found, count = {}, 0
        for name, path in models:
            loaded = Translator.load(path, self.data, device=device, user_dir=self.user_dir).loaded
            text = read_probed_text(self.text, loaded)
            lines = lines_with_context(text, sizes[-1], self.sentences)
            count = len(lines)
            found[name] = document_memory(loaded, text, sizes, lines, search, self.attention)
        print(memory_table(found))
        measured = f"{self.attention} attention; mean ± deviation of {count} sentences"
        print(f"\npeak memory beyond the model, {measured}")
        rows = [
            {"name": name, "parameters": each.parameters, "peaks": each.peaks} for name, each in found.items()
        ]
        record = {"sentences": count, "attention": self.attention, "models": rows}
        self.files.draw(memory_points(found, count), ACROSS, record)


def main(arguments: Sequence[str]) -> int:
    return script("python -m scripts.benchmark.document_memory", MemoryOfDocuments, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
