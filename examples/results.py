"""What ctxmt evaluate found in several folders, side by side, with significance and the paper's values."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Dict, List, Tuple

from recipe_running import run_script
from recipe_tables import NOTHING, Table, measured, read_tables
from recipes import Recipe
from sacrebleu import BLEU

from ctxmt_fairseq.analysis.system_names import named_paths
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.tables import aligned_table
from ctxmt_fairseq.evaluation.metrics import read_translation
from ctxmt_fairseq.evaluation.runs.results_file import RESULTS, in_words, measures, results_table
from ctxmt_fairseq.evaluation.significance.contrast import compare_contrast
from ctxmt_fairseq.evaluation.significance.measures import measure
from ctxmt_fairseq.evaluation.significance.p_values import stars
from ctxmt_fairseq.evaluation.significance.systems import compare_translations

HERE = Path(__file__).resolve().parent
Stars = Dict[Tuple[str, str], str]  # (column, row) ->
METRICS = {"bleu": "BLEU", "chrf2": "chrF2"}
GROUPS = {"disc": "Disc."}


def options(arguments: List[str]) -> Any:
    parser = argparse.ArgumentParser(
        prog="results.py",
        description=f"{__doc__} Stars: * p < .05, ** p < .01 after Holm's correction, against the first "
        "folder; McNemar's test on contrastive sets, approximate randomization for BLEU and chrF2. They are "
        "about these trained models; for systems, give ctxmt compare every seed as NAME=FILE.",
    )
    parser.add_argument("folders", nargs="+", metavar="FOLDER",
                        help="a column for each, named after it; NAME=FOLDER gives another name")  # fmt: skip
    parser.add_argument("--reference", metavar="FILE", help="of the translations: tests them, too")
    parser.add_argument("--docids", metavar="FILE", help="its document ids: documents are resampled")
    parser.add_argument("--paper", metavar="PAPER[:TABLE]",
                        help="print the values of the paper, from PAPER/recipe.py, below")  # fmt: skip
    parser.add_argument("--check", action="store_true",
                        help="hold each result against the number of its row; exit code 1: one is "
                        "farther off than the paper's own spread")  # fmt: skip
    return parser.parse_args(arguments)


def read_columns(arguments: List[str]) -> Dict[str, Tuple[Path, Any]]:
    """Name -> folder and results."""
    columns = {}
    for name, path in named_paths(arguments, _called):
        folder = Path(path)
        if name in columns:
            raise BadInput(f"{name}: two folders have this name; NAME=FOLDER gives another", folder)
        columns[name] = folder, read_results(folder)
    return columns


def _called(path: str) -> str:
    folder = Path(path)
    return folder.parent.name if folder.name == "evaluation" else folder.name


def read_results(folder: Path) -> Dict[str, Any]:
    """What ``ctxmt evaluate`` wrote to a folder."""
    path = folder / RESULTS
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
        measures(results)
    except OSError as error:
        raise BadInput(f"{error.strerror}; expected what ctxmt evaluate writes", path) from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise BadInput("expected what ctxmt evaluate writes", path) from None
    return results


def contrast_stars(columns: Dict[str, Tuple[Path, Any]]) -> Stars:
    """Of every contrastive set that all columns have with its examples."""
    found: Stars = {}
    for suite, report in next(iter(columns.values()))[1]["contrast"].items():
        paths = {name: str(folder / f"{suite}.examples.jsonl") for name, (folder, _) in columns.items()}
        if len(paths) < 2 or not all(Path(path).exists() for path in paths.values()):
            continue
        for row in compare_contrast(list(paths.items())):
            label = {"all": f"accuracy ({report['convention']})", **GROUPS}.get(row.group, row.group)
            found[row.b, f"{suite}, {label}"] = stars(row.p_holm)
    return found


def translation_stars(columns: Dict[str, Tuple[Path, Any]], reference: str, docids: Any) -> Stars:
    """Of every translation that all columns have."""
    found: Stars = {}
    for translation in next(iter(columns.values()))[1]["translations"]:
        paths = {name: folder / f"{translation}.hyp" for name, (folder, _) in columns.items()}
        if len(paths) < 2 or not all(path.exists() for path in paths.values()):
            continue
        current = Path(reference).with_suffix(".current")
        marks = current if current.exists() else None
        texts = [read_translation(path, [reference], docids, marks) for path in paths.values()]
        unit = ["document" if docids else "sentence"]
        scores = next(iter(columns.values()))[1]["translations"][translation]["scores"]
        for row in compare_translations(list(paths), texts, measured_as(scores), unit):
            found[row.b, f"{METRICS[row.metric]}, {in_words(translation)}"] = stars(row.p_holm)
    return found


def measured_as(scores: List[Dict[str, Any]]) -> List[Any]:
    """The measures of BLEU and chrF2 with the case and the tokenizer by which these were computed."""
    found = []
    for name, shown in METRICS.items():
        signature = next((str(one.get("signature")) for one in scores if one["name"] == shown), "")
        said = dict(part.partition(":")[::2] for part in signature.split("|"))
        known = [kind for kind in BLEU.TOKENIZERS if said.get("tok", "").startswith(kind)]
        found.append(measure(name, max(known, key=len, default=None), said.get("case") == "lc"))
    return found


def tables_of(paper: str) -> Dict[str, Table]:
    """Those that PAPER[:TABLE] names."""
    folder, _, wanted = paper.partition(":")
    if not (HERE / folder / "recipe.py").exists():
        raise BadInput(f"--paper {folder}: no such recipe")
    tables = read_tables(Recipe(HERE / folder).table)
    if wanted and wanted not in tables or not tables:
        raise BadInput(f"--paper {paper}: expected a table from {', '.join(tables) or 'another paper'}")
    return {wanted: tables[wanted]} if wanted else tables


def published(paper: str, names: List[str]) -> str:
    """The paper's values of the rows that the columns are named after; of all rows if there are none."""
    parts = []
    for name, table in tables_of(paper).items():
        chosen = {row: cells for row, cells in table.rows.items() if row in names} or table.rows
        rows = [[row, *cells.values()] for row, cells in chosen.items()]
        parts.append(aligned_table([[f"published, {name}", *table.columns], *rows]))
    return "\n\n".join(parts)


def check(paper: str, columns: Dict[str, Tuple[Path, Any]]) -> Tuple[str, bool]:
    """Each published number beside the result of the column of this name; whether none is too far off."""
    (table,) = tables_of(paper).values()
    lines, near = [["row", "what", "published", "found", "difference", "at most", ""]], True
    for row in (row for row in table.rows if row in columns):
        for what, path in table.measures.items():
            found, text = measured(columns[row][1], path), table.rows[row][what]
            if found is None or text == NOTHING:
                continue
            difference, most = found - float(text), table.tolerance(row, what)
            verdict = "" if most is None else "near" if abs(difference) <= most else "far"
            near = near and verdict != "far"
            digits = len(text.partition(".")[2])
            numbers = [f"{found:.{digits}f}", f"{difference:+.{digits}f}"]
            at_most = "unknown" if most is None else f"{most:.{digits}f}"
            lines.append([row, what, text, *numbers, at_most, verdict])
    if len(lines) == 1:
        raise BadInput(
            f"--check: {', '.join(columns)} have nothing of {paper}; name folders after its rows, ROW=FOLDER"
        )
    return aligned_table(lines), near


def main(arguments: List[str]) -> None:
    args = options(arguments)
    columns = read_columns(args.folders)
    found = contrast_stars(columns)
    if args.reference:
        found.update(translation_stars(columns, args.reference, args.docids))
    print(results_table({name: results for name, (_, results) in columns.items()}, found))
    if args.check:
        if ":" not in (args.paper or ""):
            raise BadInput("--check needs --paper PAPER:TABLE")
        text, near = check(args.paper, columns)
        print("\n" + text)
        sys.exit(0 if near else 1)
    if args.paper:
        print("\n" + published(args.paper, list(columns)))


if __name__ == "__main__":
    sys.exit(run_script(main, sys.argv[1:]))
