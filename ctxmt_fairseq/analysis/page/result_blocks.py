"""The blocks of the page that show one result: a comparison, a probe, a chart, shares of attention.

The functions whose first argument is a name take it, the content of a file that a command wrote, and what
the files of translations and examples are called on the page.
"""

from math import log
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ctxmt_fairseq.analysis.page.blocks import Cell, Table, side_by_side
from ctxmt_fairseq.analysis.page.found import title_of
from ctxmt_fairseq.analysis.page.svg_curves import curve_chart, drawable
from ctxmt_fairseq.base.plots.charts import Point, place_name
from ctxmt_fairseq.evaluation.runs.results_file import decimals

METRICS = ("bleu", "chrf2")
CXMI = ("CXMI, bits/word", "bits/sentence", "nats/sentence", "nats/token")
Owners = Dict[Path, Tuple[str, str]]  # file of translations or examples -> its run, its name


def owner_of(system: Any, owners: Owners, content: Any) -> Optional[Tuple[str, str]]:
    """The run with the file of a system that a command compared, and the name of its translation or set."""
    try:
        return owners.get(Path(content.get("files", {}).get(system, system)).resolve())
    except (OSError, ValueError, RuntimeError):  # no file can have this name
        return None


def _pair(row: Dict[str, Any], owners: Owners, content: Any) -> str:
    b, a = (owner_of(row[side], owners, content) or (str(row[side]), "") for side in ("b", "a"))
    names = dict.fromkeys(filter(None, (title_of(b[1]), title_of(a[1]))))
    return ", ".join([f"{b[0]} - {a[0]}", *names])


def _seeds(row: Dict[str, Any]) -> str:
    """How many runs each system has, where the test is over seeds."""
    return f"; {' and '.join(map(str, row['seeds']))} seeds" if "seeds" in row else ""


def translation_tests(name: str, content: Any, owners: Owners) -> Table:
    rows = []
    for row in content["comparisons"]:
        digits = decimals(str(row["metric"]))
        difference, low, high = (f"{row[key]:+.{digits}f}" for key in ("difference", "low", "high"))
        unit = f"{row['units']} {row['unit']}s{_seeds(row)}"
        rows.append([_pair(row, owners, content), row["metric"], unit, Cell(difference, row["stars"]),
                     f"{low} .. {high}", f"{row['p_holm']:.4f}"])  # fmt: skip
    return Table(["systems", "metric", "resampled", "difference", "95 % interval", "p"], rows, name)


def contrast_tests(name: str, content: Any, owners: Owners) -> Table:
    rows = []
    for row in content["comparisons"]:
        difference = 100 * (row["correct_b"] - row["correct_a"]) / max(1, row["examples"])
        rows.append([f"{row['group']}: {_pair(row, owners, content)}", f"{row['examples']}{_seeds(row)}",
                     Cell(f"{difference:+.1f}", row["stars"]), row.get("only_a", "-"), row.get("only_b", "-"),
                     f"{row['p_holm']:.4f}"])  # fmt: skip
    return Table(["systems", "examples", "difference", "only a", "only b", "p"], rows, name)


def probe_sizes(name: str, content: Any, _: Owners) -> List[Point]:
    names = {"cxmi": "CXMI, bits per word", "bleu": "BLEU", "chrf2": "chrF2"}
    return [
        drawable(Point(title, name, row["size"], row[key]))
        for key, title in names.items()
        for row in content["sizes"]
        if row.get(key) is not None
    ]


def probe(name: str, content: Any, _: Owners) -> List[Table]:
    """Tables of the scores in each context, and of the words that context helps most."""
    stars = {(row["b"], row["metric"]): row["stars"] for row in content["comparisons"]}
    metrics = [key for key in METRICS if any(row.get(key) is not None for row in content["contexts"])]
    rows = [
        [row["context"],
         *(Cell(f"{row[key]:.2f}", stars.get((row["context"], key), "")) for key in metrics),
         f"{row['cxmi']:+.4f}", f"{row['bits_per_sentence']:+.3f}",
         f"{log(2) * row['bits_per_sentence']:+.3f}",
         f"{row['nats_per_token']:+.4f}" if "nats_per_token" in row else "-"]
        for row in content["contexts"]
    ]  # fmt: skip
    words = [
        [row["word"], row["n"], f"{row['bits_per_word']:+.3f}"]
        for row in content["top_words"][:10]
        if row["bits_per_word"] > 0
    ]
    blocks = [Table(["context", *metrics, *CXMI], rows, f"{name}: {content['text']}")]
    if words:
        blocks.append(Table(["word", "n", "bits/word"], words, f"{name}: the words that context helps most"))
    return blocks


def curves(name: str, content: Any, _: Owners) -> List[Any]:
    """Charts of what ``ctxmt analyse`` wrote: records begin with the measure, the curve and the place."""
    records = content["points"]
    _, each, across = list(records[0])[:3]
    points = [
        Point(*(row.get(key) for key in ("measure", each, across, "value", "low", "high"))) for row in records
    ]
    return charts(name, points, across)


def lengths(name: str, content: Any, owners: Owners) -> List[Any]:
    measure = f"{content['metric']} by the length of the source sentence"
    points = [
        Point(measure, ", ".join(owner_of(row["system"], owners, content) or [row["system"]]),
              f"> {row['least'] - 1}" if row.get("most") is None else f"{row['least']}-{row['most']}",
              row["score"], row["low"], row["high"])
        for row in content["buckets"]
    ]  # fmt: skip
    return charts(name, points, "words", short_names=True)


def charts(name: str, points: Sequence[Point], across: str, short_names: bool = False) -> List[Any]:
    """A chart for each measure, or a table if its places have names, which may be long."""
    blocks: List[Any] = []
    for measure in dict.fromkeys(point.measure for point in points):
        own = [point for point in points if point.measure == measure]
        caption = f"{measure} ({name})" if name else measure
        if short_names or not any(isinstance(point.place, str) for point in own):
            blocks.append(curve_chart(caption, own, across))
            continue
        columns: Dict[str, Dict[str, str]] = {}
        for point in own:
            columns.setdefault(point.system, {})[place_name(point.place)] = f"{point.value:.4g}"
        blocks.append(side_by_side(columns, caption, across))
    return blocks


def attention(name: str, content: Any, _: Owners) -> Table:
    """How much attention stays in the current sentence, and how far it is spread out."""
    stars = {(row["b"], row["measure"]): row["stars"] for row in content["differences"]}
    columns = {
        model["name"]: {
            key: Cell(f"{value:.4f}", stars.get((model["name"], key), ""),
                      100 * value if key.startswith("share") and 0 <= value <= 1 else None)
            for key, value in model["means"].items()
            if value is not None
        }
        for model in content["models"]
    }  # fmt: skip
    return side_by_side(columns, name)
