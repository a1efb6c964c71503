"""Probes, curves and attention, as sections of the page."""

import math
from typing import Any, Dict, Iterator, List, Sequence, Tuple

from ctxmt_fairseq.report.blocks import Cell, Chart, Image, Line, Section, Table
from ctxmt_fairseq.report.runs import Found, Owners, Run
from ctxmt_fairseq.report.shapes import LARGEST

METRICS = ("bleu", "chrf2")
KEYS = ("measure", "value", "low", "high")  # of a point, besides what it is of and its place
NEITHER = (("", ""), ("", ""))
TICKS = 10  # more would overlap


def probe_section(runs: Sequence[Run]) -> Iterator[Section]:
    """What ``ctxmt probe`` found of each run, and the curves of all by the size of the context."""
    tables: List[Any] = []
    curves: Dict[str, List[Line]] = {}
    sizes: List[int] = []
    for run in runs:
        for path, probe in run.found.of_kind("probe"):
            name = f"{run.name}, {path.stem}"
            tables.append(_contexts(name, probe))
            if probe["top_words"]:
                tables.append(_words(name, probe))
            sizes += [row["size"] for row in probe["sizes"]]
            for key in ("cxmi", *METRICS):
                points = [(row["size"], row[key]) for row in probe["sizes"] if row.get(key) is not None]
                if points:
                    curves.setdefault(key, []).append(Line(name, sorted(points)))
    names = {"cxmi": "CXMI, bits per word", "bleu": "BLEU", "chrf2": "chrF2"}
    ticks = [(size, str(size)) for size in sorted(set(sizes))]
    charts = [
        Chart(f"{names[key]} by the size of the context", "sentences of context", names[key], lines, ticks)
        for key, lines in curves.items()
    ]
    if tables:
        note = (
            "Translations and scores with other contexts than the document's own; CXMI is what the context "
            "adds to the probability of the references, in bits per word; stars: against the document's own"
        )
        yield Section("Probes", [*charts, *tables], note)


def _contexts(name: str, probe: Dict[str, Any]) -> Table:
    metrics = [key for key in METRICS if any(row.get(key) is not None for row in probe["contexts"])]
    stars = {(row["b"], row["metric"]): row["stars"] for row in probe["comparisons"]}
    rows = []
    for row in probe["contexts"]:
        scores = [
            Cell("-" if row.get(key) is None else f"{row[key]:.2f}", stars.get((row["context"], key), ""))
            for key in metrics
        ]
        cells = [Cell(f"{row['cxmi']:+.4f}"), Cell(f"{row['bits_per_sentence']:+.3f}")]
        rows.append([Cell(row["context"]), *scores, *cells])
    return Table(["context", *metrics, "CXMI", "bits/sentence"], rows, f"{name}: {probe['text']}")


def _words(name: str, probe: Dict[str, Any]) -> Table:
    rows = [
        [Cell(row["word"]), Cell(str(row["n"])), Cell(f"{row['bits_per_word']:+.3f}")]
        for row in probe["top_words"][:10]
    ]
    return Table(["word", "n", "bits/word"], rows, f"{name}: the words that context helps most")


def curves_section(runs: Sequence[Run], shared: Found) -> Iterator[Section]:
    """Losses of the trainings, and the charts of ``ctxmt analyse``."""
    charts: List[Any] = []
    losses = []
    for run in runs:
        for subset, records in run.found.log.validations.items() if run.found.log else ():
            values = [(record.updates, record.values.get("loss", math.inf)) for record in records]
            points = [(updates, loss) for updates, loss in values if abs(loss) <= LARGEST]
            if points:
                losses.append(Line(f"{run.name}, {subset}", points))
    if losses:
        updates = [x for line in losses for x, _ in line.points]
        ticks = [(x, f"{x:,}") for x in sorted({min(updates), max(updates)})]
        charts.append(Chart("Loss of validations", "updates", "loss", losses, ticks))
    for found in (*(run.found for run in runs), shared):
        for path, content in found.of_kind("chart"):
            charts += _drawn(path.stem, content["points"])
    if charts:
        yield Section("Curves", charts, "Bands: the lowest and highest of several runs, or an interval")


def _drawn(name: str, points: Sequence[Dict[str, Any]]) -> Iterator[Any]:
    """A chart for each measure; where places have names a table."""
    measures: Dict[str, Dict[str, List[Any]]] = {}
    for point in points:
        # What a line is of, and what is drawn across, in this order.
        (_, line), (across, place), *_ = [*((k, v) for k, v in point.items() if k not in KEYS), *NEITHER]
        lines = measures.setdefault(point["measure"], {})
        lines.setdefault(str(line), []).append((across, place, point))
    for measure, lines in measures.items():
        found = [row for rows in lines.values() for row in rows]
        names = dict.fromkeys(str(place) for _, place, _ in found)
        if all(_drawable(place) for _, place, _ in found):
            ticks = [(place, f"{place:g}") for place in sorted({place for _, place, _ in found})]
            drawn = [_line(system, rows) for system, rows in lines.items()]
            shown = ticks if len(ticks) <= TICKS else [ticks[0], ticks[-1]]
            yield Chart(f"{measure} ({name})", str(found[0][0]), measure, drawn, shown)
            continue
        cells = {
            (system, str(place)): f"{point['value']:.4g}"
            for system, rows in lines.items()
            for _, place, point in rows
        }
        table = [
            [Cell(place), *(Cell(cells.get((system, place), "-")) for system in lines)] for place in names
        ]
        yield Table([str(found[0][0]), *lines], table, f"{measure} ({name})")


def _drawable(place: Any) -> bool:
    return isinstance(place, (int, float)) and abs(place) <= LARGEST


def _line(system: str, rows: Sequence[Any]) -> Line:
    rows = sorted(rows, key=lambda row: row[1])
    bands = [(point.get("low"), point.get("high")) for _, _, point in rows]
    known = [(low, high) for low, high in bands if low is not None and high is not None]
    points = [(place, point["value"]) for _, place, point in rows]
    return Line(system, points, known if len(known) == len(rows) else ())


def lengths_section(runs: Sequence[Run], shared: Found) -> Iterator[Section]:
    """Scores by the length of the source sentence."""
    charts: List[Chart] = []
    for found in (*(run.found for run in runs), shared):
        for path, content in found.of_kind("lengths"):
            charts += _lengths(path.stem, content, Owners(runs))
    if charts:
        yield Section("Length of the sentence", charts, "Bands: 95 % of bootstrap samples")


def _lengths(name: str, content: Dict[str, Any], owners: Owners) -> Iterator[Chart]:
    buckets: Dict[Tuple[int, Any], int] = {}
    for row in content["buckets"]:
        if row["sentences"]:
            buckets.setdefault((row["least"], row.get("most")), len(buckets))
    lines: Dict[str, List[Any]] = {}
    for row in content["buckets"]:
        if row["sentences"]:
            place = buckets[row["least"], row.get("most")]
            lines.setdefault(row["system"], []).append((place, row))
    if not lines:
        return
    ticks = [
        (place, f"{least}-{most}" if most is not None else f"> {least - 1}")
        for (least, most), place in buckets.items()
    ]
    yield Chart(
        f"{content['metric']} by the length of the source sentence ({name})",
        "words",
        content["metric"],
        [
            Line(
                owners.title(system),
                [(place, row["score"]) for place, row in rows],
                [(row["low"], row["high"]) for _, row in rows],
            )
            for system, rows in lines.items()
        ],
        ticks,
    )


def attention_section(runs: Sequence[Run], shared: Found) -> Iterator[Section]:
    """How much attention stays in the current sentence, and how spread out it is."""
    tables = []
    for found in (*(run.found for run in runs), shared):
        for path, content in found.of_kind("attention share"):
            models = content["models"]
            measures = list(dict.fromkeys(key for model in models for key in model["means"]))
            stars = {(row["b"], row["measure"]): row["stars"] for row in content["differences"]}
            rows = [
                [Cell(key), *(_mean(model, key, stars.get((model["name"], key), "")) for model in models)]
                for key in measures
            ]
            tables.append(Table(["", *(model["name"] for model in models)], rows, path.name))
    if tables:
        note = (
            "Share: of the attention of the current sentence's tokens, what goes to the current sentence; "
            "entropy in nats; stars: against the first model"
        )
        yield Section("Attention", tables, note)


def _mean(model: Dict[str, Any], key: str, stars: str) -> Cell:
    value = model["means"].get(key)
    if value is None:
        return Cell("-")
    return Cell(f"{value:.4f}", stars, 100 * value if key.startswith("share") and 0 <= value <= 1 else None)


def pictures_section(runs: Sequence[Run], shared: Found) -> Iterator[Section]:
    """All pictures, each with what it shows."""
    images = [
        Image(f"{name}{picture.title}", picture.data, picture.width, picture.height)
        for name, found in [*((f"{run.name}: ", run.found) for run in runs), ("", shared)]
        for picture in found.pictures
    ]
    if images:
        yield Section("Pictures", images)
