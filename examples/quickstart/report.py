"""The quickstart's table, report.json and accuracies.png from what the evaluation commands wrote.

python report.py sets OUT     prints the contrastive sets that text alone can answer
python report.py report OUT   writes and prints the report
"""

import json
import sys
from pathlib import Path

SYSTEMS = {"sentence": 0, "s2to2": 1, "s3to3": 2}  # name -> context sentences


def text_sets(out):
    """The sets whose examples differ in text (not in metadata), from the demo corpus's index."""
    index = json.loads((out / "text/contrastive/sets.json").read_text(encoding="utf-8"))
    return [entry for entry in index if entry["context"] != "metadata"]


def rows(out):
    """(label, distance, {system: accuracy in %, ties}) for every set and distance."""
    reports = {name: evaluated(out, name)["contrast"] for name in SYSTEMS}
    for entry in text_sets(out):
        for distance in entry["distances"]:
            cells = {}
            for system, sets in reports.items():
                tallies = sets[Path(entry["path"]).stem]["distances"]
                tally = tallies[str(distance) if str(distance) in tallies else "unknown"]
                cells[system] = {key: tally[key] for key in ("accuracy", "ties", "examples")}
            label = entry["phenomenon"].replace("-", " ")
            place = "next sentence" if distance < 0 else f"{distance} back"
            yield f"{label}, {place}", distance, cells


def evaluated(out, system):
    """What ctxmt evaluate found."""
    return json.loads((out / system / "evaluation/results.json").read_text(encoding="utf-8"))


def in_window(system, distance):
    """Whether the system's window holds the sentence that decides."""
    return 0 < distance <= SYSTEMS[system]


def report(out):
    results = [{"phenomenon": label, "distance": distance, **cells} for label, distance, cells in rows(out)]
    bleu = {name: corpus_bleu(evaluated(out, name)["translations"]["prefix"]) for name in SYSTEMS}
    (out / "report.json").write_text(json.dumps({"bleu": bleu, "accuracy": results}, indent=2) + "\n")

    print(f"{'':32}" + "".join(f"{name:>12}" for name in SYSTEMS))
    print(f"{'BLEU':32}" + "".join(f"{bleu[name]:12.1f}" for name in SYSTEMS))
    for row in results:
        cells = [
            f"{row[name]['accuracy']:.1f}{'*' if in_window(name, row['distance']) else ' '}"
            for name in SYSTEMS
        ]
        print(f"{row['phenomenon']:32}" + "".join(f"{cell:>12}" for cell in cells))
    ties = sum(row[name]["ties"] for row in results for name in SYSTEMS)
    print(f"\naccuracy in %; * the window holds the sentence that decides; {ties} ties")
    plot(results, out / "accuracies.png")
    print(f"{out / 'report.json'}\n{out / 'accuracies.png'}")


def corpus_bleu(score):
    """Corpus BLEU over sentences in the scores of a translation."""
    return next(
        entry["score"] for entry in score["scores"] if (entry["name"], entry["level"]) == ("BLEU", "sentence")
    )


def plot(results, path):
    """Bars per phenomenon and system; pale where the window lacks what decides."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(8, 6), layout="constrained")
    height = 0.8 / len(SYSTEMS)
    colours = "#9aa5b1", "#4c8bf5", "#1b4f9c"
    for place, (name, colour) in enumerate(zip(SYSTEMS, colours, strict=True)):
        for position, row in enumerate(results):
            axis.barh(
                position + (place - 1) * height,
                row[name]["accuracy"],
                height,
                color=colour,
                alpha=1.0 if in_window(name, row["distance"]) else 0.45,
            )
    axis.axvline(50, color="black", linewidth=0.8, linestyle=":")
    axis.set_yticks(range(len(results)), [row["phenomenon"] for row in results])
    axis.invert_yaxis()
    axis.set_xlim(0, 101)
    axis.set_xlabel(
        "contrastive accuracy, %\n(dotted: chance; pale: the deciding sentence is outside the window)"
    )
    handles = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in colours]
    axis.legend(handles, SYSTEMS, loc="lower right")
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    command, folder = sys.argv[1], Path(sys.argv[2])
    if command == "sets":
        print("\n".join(str(folder / "text/contrastive" / entry["path"]) for entry in text_sets(folder)))
    else:
        report(folder)
