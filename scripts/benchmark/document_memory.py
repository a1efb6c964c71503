"""Memory of trained models against the size of their context, on documents (sequence shortening, section 5.5
and figure 4).

Reads TEXT.SRC, TEXT.TGT and TEXT.docids, the languages being the models', and translates sentences of it one
by one, each with 1, 2, .. previous sentences: also more than in training. What is shown is the peak of the
memory beyond the model itself, the mean over the same sentences for all. "python -m scripts.benchmark memory"
measures untrained models of the paper's sizes.

Example: python -m scripts.benchmark.document_memory text/test tokens=caching.pt group=group.pt \\
             --sizes 1 5 10 20 --output memory.png
"""

import argparse
import json
import shlex
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Dict, List, Sequence

import numpy as np
from torch.nn.attention import sdpa_kernel
from tqdm.auto import tqdm

from ctxmt_fairseq import Translator
from ctxmt_fairseq.analysis.map_files import check_optional_picture
from ctxmt_fairseq.analysis.system_names import named_paths
from ctxmt_fairseq.cli.parser import CommandParser
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.probe.probed_text import ProbedText, read_probed_text
from ctxmt_fairseq.exit_codes import run_command
from ctxmt_fairseq.files import write_files
from ctxmt_fairseq.generation.document_translation import DocumentTranslator
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.option_types import non_negative_int, positive_int
from ctxmt_fairseq.plots.charts import Point, chart, chart_records
from ctxmt_fairseq.provenance import versions
from ctxmt_fairseq.search.search_settings import SearchSettings
from ctxmt_fairseq.tables import aligned_table, csv_text, mean_and_deviation
from scripts.benchmark.context_memory import ATTENTIONS
from tests.helpers.allocated import peak_allocated

PROGRAM = "python -m scripts.benchmark.document_memory"
ACROSS = "context sentences"
SIDES = ("source_context", "target_context", "target_context_on_source")


@dataclass(frozen=True)
class DocumentMemory:
    """Peaks of one model.

    Attributes:
        parameters: MiB that the model itself takes.
        peaks: sentences of context -> MiB beyond the model, of the translation of each line.
    """

    parameters: float
    peaks: Dict[int, List[float]]


def lines_with_context(text: ProbedText, reach: int, count: int) -> List[int]:
    """So many lines of a text, spread evenly, that have ``reach`` sentences before them in their document.

    Raises:
        BadInput: there is none.
    """
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


def options(arguments: Sequence[str]) -> Any:
    parser = CommandParser(
        prog=PROGRAM, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("text", metavar="TEXT", help="prefix of the text's files")
    parser.add_argument("models", metavar="MODEL", nargs="+", help="checkpoints, or NAME=MODEL")
    parser.add_argument("--sizes", nargs="+", type=non_negative_int, default=[1, 2, 3, 5, 10], metavar="N",
                        help="sentences of context (default: 1 2 3 5 10)")  # fmt: skip
    parser.add_argument("--sentences", type=positive_int, default=20, metavar="N",
                        help="that are translated, evenly spread (default: %(default)s)")  # fmt: skip
    parser.add_argument("--attention", choices=tuple(ATTENTIONS), default="plain",
                        help="plain makes whole matrices of weights, as the paper's code did "
                        "(default: %(default)s)")  # fmt: skip
    parser.add_argument("--beam", type=positive_int, default=SearchSettings.beam, metavar="N")
    parser.add_argument("--max-len-b", type=non_negative_int, default=SearchSettings.max_len_b, metavar="N",
                        help="tokens of a translation at most")  # fmt: skip
    parser.add_argument("--data", metavar="DIR", help="data folder (default: the one of the training)")
    parser.add_argument("--user-dir", metavar="DIR", help="a folder with Python code of the models")
    parser.add_argument("--cpu", action="store_true", help="do not use a GPU")
    parser.add_argument("--json", metavar="FILE", help="write the numbers there too")
    parser.add_argument("--output", metavar="FILE.png", help="the picture; FILE.csv has its numbers")
    return parser.parse_args(arguments)


def measure(arguments: Sequence[str]) -> None:
    """Print the table, write the files.

    Raises:
        BadInput: models of one name, a model that cannot be loaded, or a text without such context.
    """
    args = options(arguments)
    check_optional_picture(args.output, (".csv",), [args.json])
    models = named_paths(args.models)
    if len({name for name, _ in models}) < len(models):
        raise BadInput("expected models of different names")
    device = "cpu" if args.cpu else None
    sizes, search = sorted(set(args.sizes)), SearchSettings(args.beam, max_len_b=args.max_len_b)
    found, count = {}, 0
    for name, path in models:
        loaded = Translator.load(path, args.data, device=device, user_dir=args.user_dir).loaded
        text = read_probed_text(args.text, loaded)
        lines = lines_with_context(text, sizes[-1], args.sentences)
        count = len(lines)
        found[name] = document_memory(loaded, text, sizes, lines, search, args.attention)
    print(memory_table(found))
    print(
        f"\npeak memory beyond the model, {args.attention} attention; mean ± deviation of {count} sentences"
    )
    points = memory_points(found, count)
    rows = chart_records(points, ACROSS)
    record = {
        "sentences": count,
        "attention": args.attention,
        "models": [
            {"name": name, "parameters": each.parameters, "peaks": each.peaks} for name, each in found.items()
        ],
        "points": rows,
        "made_by": {"command": f"{PROGRAM} {shlex.join(arguments)}", "versions": versions()},
    }
    outputs: Any = [(args.json, json.dumps(record, indent=2, ensure_ascii=False) + "\n")]
    if args.output:
        outputs += [
            (args.output, chart(points, ACROSS)),
            (Path(args.output).with_suffix(".csv"), csv_text(rows)),
        ]
    write_files(outputs)


def main(arguments: Sequence[str]) -> int:
    return run_command(measure, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
