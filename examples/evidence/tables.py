"""The tables of docs/evidence.md, from the results alone."""

import json
import statistics
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence

from evidence import leads
from evidence.leads import Results
from evidence.systems import EVALUATED, SEARCH, SYSTEMS, Run, chosen
from evidence.texts import HELP, SUBTITLES, Text

BEGIN, END = "<!-- tables: written by examples/evidence/run.sh -->", "<!-- end of tables -->"
CLASSES = ("il", "elle", "ils", "elles")
Values = Callable[[Dict[str, Any]], Optional[float]]


def read(folder: Path) -> Results:
    """Every result of the folder, by row and seed."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.[0-9]*.json"))]
    return {(record["row"], record["seed"]): record for record in records}


def rewrite(page: Path, tables: str) -> None:
    """Put tables between the page's two marks."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    page.write_text(f"{before}{BEGIN}\n{tables}\n{END}{after}", encoding="utf-8")


def text(results: Results) -> str:
    """All tables, and what is missing."""
    parts = [search_table(results)]
    for each in (SUBTITLES, *HELP.values()):
        ours = {run: one for run, one in results.items() if run[0] in EVALUATED and _text(run) == each}
        kinds = translation_table, pronoun_table, significance_table, pairs_table, context_table
        found = [table(ours) for table in (*kinds, windows_table, attention_table, consistency_table)]
        parts += [f"### {each.name}", *found] if ours else []
    missing = [f"`{row}.{seed}`" for row, seed in chosen(()) if (row, seed) not in results]
    parts.append("Missing: " + (", ".join(missing) or "nothing") + ".")
    return "\n\n".join(filter(None, parts))


def recipe_table(results: Results, rows: Sequence[str]) -> str:
    """What a paper's README shows of its rows, which are of the subtitles."""
    results = {run: one for run, one in results.items() if run[0] in EVALUATED and _text(run) == SUBTITLES}
    head = [
        "system",
        "seeds",
        "pronouns, %",
        "random context",
        "minus control",
        "BLEU",
        "minus control",
        "CPU minutes",
    ]
    accuracy, bleu = leads.over_control(results), leads.bleu_over_control(results)
    columns: List[Values] = [
        lambda one: one["pronouns"]["document"]["accuracy"],
        lambda one: one["pronouns"].get("random", {}).get("accuracy"),
        lambda one: score(one, "BLEU", "sentence"),
        lambda one: one["cpu_seconds"] / 60,
    ]
    table = []
    for name, found in _systems(results):
        if name in rows:
            *cells, scored, minutes = _row(name, found, columns, (2, 2, 2, 0))
            more = [
                ", ".join(str(values[name, one["seed"]]) for one in found if (name, one["seed"]) in values)
                for values in (accuracy, bleu)
            ]
            table.append([*cells, more[0], scored, more[1], minutes])
    return _table(head, table)


def _text(run: Run) -> Text:
    return EVALUATED[run[0]].text


def search_table(results: Results) -> str:
    """Candidates for the size of the first stage, by their validation loss."""
    rows = []
    for name in SEARCH:
        one = results.get((name, 1))
        if one and one["learning_curve"]:
            last, valid = one["learning_curve"][-1], one["corpus"]["valid"]
            sentence = last["nll"] * valid["tokens"]["fr"] / valid["sentences"]
            cells = f"{last['nll']:.3f}", f"{sentence:.2f}", f"{one['cpu_seconds'] / 60:.1f}"
            rows.append([name, str(last["updates"]), *cells])
    return _table(["search", "updates", "bits a subword", "bits a sentence", "CPU minutes"], rows)


def translation_table(results: Results) -> str:
    """Loss and scores of the held-out text."""
    head = ["system", "seeds", "validation loss", "BLEU", "chrF2", "document BLEU", "CPU minutes"]
    columns: List[Values] = [
        lambda one: one["learning_curve"][-1]["loss"] if one["learning_curve"] else None,
        lambda one: score(one, "BLEU", "sentence"),
        lambda one: score(one, "chrF2", "sentence"),
        lambda one: score(one, "BLEU", "document"),
        lambda one: one["cpu_seconds"] / 60,
    ]
    digits = (3, 2, 2, 2, 0)
    return _table(head, [_row(name, found, columns, digits) for name, found in _systems(results)])


def pronoun_table(results: Results) -> str:
    """Accuracy of the contrastive set in per cent, all and by the correct pronoun."""
    head = ["accuracy in %", "seeds", "all", *CLASSES, "random context"]
    columns: List[Values] = [lambda one: one["pronouns"]["document"]["accuracy"]]
    columns += [
        lambda one, name=name: one["pronouns"]["document"]["phenomena"].get(name, {}).get("accuracy")
        for name in CLASSES
    ]
    columns.append(lambda one: one["pronouns"].get("random", {}).get("accuracy"))
    scored = _systems(results, "pronouns")
    return _table(head, [_row(name, found, columns, (2,) * len(columns)) for name, found in scored])


def context_table(results: Results) -> str:
    """What other contexts change in the test text, translated greedily."""
    contexts = ("document", "random", "empty", "absent")
    head = ["greedy BLEU", "seeds", *contexts, "document - random", "CXMI (bits a word)"]

    def bleu(one: Dict[str, Any], name: str) -> Optional[float]:
        return next((each["bleu"] for each in one["probe"]["contexts"] if each["context"] == name), None)

    columns: List[Values] = [lambda one, name=name: bleu(one, name) for name in contexts]
    columns.append(lambda one: bleu(one, "document") - bleu(one, "random"))  # type: ignore[operator]
    columns.append(lambda one: one["probe"]["contexts"][0]["cxmi"])
    probed = _systems(results, "probe")
    return _table(head, [_row(name, found, columns, (2, 2, 2, 2, 2, 4)) for name, found in probed])


def windows_table(results: Results) -> str:
    """Windows of other sizes than in training: greedy BLEU, and accuracy of the pronouns."""
    scored = _systems(results, "windows")
    sizes = [each["size"] + 1 for each in scored[0][1][0]["windows"]["sizes"]] if scored else []
    columns: List[Values] = [
        lambda one, place=place: one["windows"]["sizes"][place]["bleu"] for place in range(len(sizes))
    ]
    head = ["window of", "seeds", *(f"{size}: BLEU" for size in sizes)]
    if scored and "pronouns" in scored[0][1][0]["windows"]:
        head += [f"{size}: accuracy" for size in sizes]
        columns += [lambda one, place=place: one["windows"]["pronouns"][place] for place in range(len(sizes))]
    return _table(head, [_row(name, found, columns, (2,) * len(columns)) for name, found in scored])


def attention_table(results: Results) -> str:
    """The part of self-attention that stays in the current sentence, and the entropy of attention in nats."""
    measures = "share, encoder", "share, decoder", "share, both", "entropy, all"
    columns: List[Values] = [lambda one, name=name: one["attention"]["means"][name] for name in measures]
    found = _systems(results, "attention")
    head = ["attention", "seeds", *measures]
    return _table(head, [_row(name, ones, columns, (4,) * len(columns)) for name, ones in found])


def consistency_table(results: Results) -> str:
    """Pairs of a document's sentences with one term that translate it alike, in %, and what a system has
    more than the sentence-level model on the same terms, by seed (approximate randomization of documents)."""

    def alike(one: Dict[str, Any], name: str) -> Optional[float]:
        systems = one["consistency"]["systems"]
        return next((each["alike"] for each in systems if each["system"] == name), None)

    rows = []
    for name, found in _systems(results, "consistency"):
        cells = _row(name, found, [lambda one: alike(one, one["row"])], (2,))
        leads = [
            f"{each['score_b'] - each['score_a']:+.2f}{each['stars']}"
            for one in found
            for each in one["consistency"]["comparisons"]
            if (each["b"], each["metric"]) == (name, "alike")
        ]
        rows.append(
            [*cells, ", ".join(leads), _row("", found, [lambda one: alike(one, "reference")], (2,))[-1]]
        )
    head = ["terms alike, in %", "seeds", "system", "minus sentence level, by seed", "reference"]
    return _table(head, rows)


def significance_table(results: Results) -> str:
    """Each system minus the control, by seed: accuracy of the pronouns (McNemar's test; of the mean over
    seeds a paired permutation over examples) and BLEU (approximate randomization of documents). p of seeds
    are corrected over all that stands here (Holm)."""
    accuracy, bleu = leads.over_control(results), leads.bleu_over_control(results)
    rows = []
    for name in SYSTEMS:
        seeds = [run for run in results if run[0] == name]
        translated = ", ".join(str(bleu[run]) for run in seeds if run in bleu)
        cells = leads.cells([accuracy[run] for run in seeds if run in accuracy])
        if any((*cells, translated)):
            rows.append([name, *cells, translated])
    head = ["minus control", "accuracy by seed", "mean", "p of the mean", "BLEU by seed"]
    return _table(head, rows)


def pairs_table(results: Results) -> str:
    """Rows that differ in one thing, and the accuracy of every system with its own and a random context; each
    kind of pairs is corrected by itself."""
    between, random = leads.between_rows(results), leads.over_random(results)
    bleu = leads.bleu_between_rows(results)
    rows = []
    for pair in leads.PAIRS:
        mine, translated = (
            [lead for (*names, _), lead in found.items() if tuple(names) == pair] for found in (between, bleu)
        )
        rows.append([f"{pair[1]} - {pair[0]}", *leads.cells(mine), ", ".join(map(str, translated))])
    for name in SYSTEMS:
        mine = [lead for (row, _), lead in random.items() if row == name]
        rows.append([f"{name}: own - random context", *leads.cells(mine), ""])
    head = ["pair", "accuracy by seed", "mean", "p of the mean", "BLEU by seed"]
    return _table(head, [row for row in rows if row[1]])


def score(result: Dict[str, Any], name: str, level: str) -> Optional[float]:
    """A corpus score of ``ctxmt score --json``."""
    scores = result["scores"]["scores"]
    return next((each["score"] for each in scores if (each["name"], each["level"]) == (name, level)), None)


def _systems(results: Results, part: str = "") -> List[Any]:
    """Each row that has results, with those of its seeds; with ``part``, those that have it."""
    ours = {run: one for run, one in sorted(results.items()) if not part or part in one}
    found = [(name, [one for (row, _), one in ours.items() if row == name]) for name in EVALUATED]
    return [(name, ones) for name, ones in found if ones]


def _row(
    name: str, found: Sequence[Dict[str, Any]], columns: Sequence[Values], digits: Sequence[int]
) -> List[str]:
    cells = [
        _mean([value for value in map(column, found) if value is not None], places)
        for column, places in zip(columns, digits, strict=True)
    ]
    return [name, ", ".join(str(one["seed"]) for one in found), *cells]


def _mean(values: Sequence[float], digits: int) -> str:
    """Mean and, of several, the standard deviation."""
    if not values:
        return ""
    spread = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.{digits}f}{spread}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """As Markdown; empty without rows."""
    if not rows:
        return ""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
