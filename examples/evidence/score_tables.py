"""Tables of what systems score, and of what one has more than another."""

from typing import Dict, List, Optional, Tuple

from evidence import leads
from evidence.layout import Columns, Record, averages, means, table
from evidence.leads import Lead, Results
from evidence.systems import SEARCH, SYSTEMS

Leads = List[Optional[Lead]]
Compared = Dict[str, Tuple[Leads, Leads]]  # row -> accuracy and BLEU by seed
CLASSES = ("il", "elle", "ils", "elles")


def search_table(results: Results) -> str:
    """Candidates for the size of the first stage, by their validation loss."""
    rows = []
    for name in SEARCH:
        one = results.get((name, 1))
        if one and one["learning_curve"]:
            last, valid = one["learning_curve"][-1], one["corpus"]["valid"]
            targets = valid["tokens"]["fr"] + valid["sentences"]  # the end of each sentence, too
            sentence = last["nll"] * targets / valid["sentences"]
            rows.append([name, str(last["updates"]), f"{last['nll']:.3f}", f"{sentence:.2f}"])
            rows[-1] += means([one], {"CPU minutes": (minutes, 1)})
    return table(["search", "updates", "bits a subword", "bits a sentence", "CPU minutes"], rows)


def translation_table(results: Results) -> str:
    """Loss and scores of the held-out text."""
    columns: Columns = {
        "validation loss": (lambda one: (one["learning_curve"] or [{}])[-1].get("loss"), 3),
        "BLEU": (lambda one: leads.score(one, "BLEU"), 2),
        "chrF2": (lambda one: leads.score(one, "chrF2"), 2),
        "document BLEU": (lambda one: leads.score(one, "BLEU", "document"), 2),
        "CPU minutes": (minutes, 0),
    }
    return averages("system", results, columns)


def pronoun_table(results: Results) -> str:
    """Accuracy of the contrastive set in per cent, all and by the correct pronoun."""

    def of_class(one: Record, name: str) -> Optional[float]:
        return one["pronouns"]["document"]["phenomena"].get(name, {}).get("accuracy")

    classes: Columns = {name: (lambda one, name=name: of_class(one, name), 2) for name in CLASSES}
    columns: Columns = {"all": (accuracy, 2), **classes, "random context": (random_accuracy, 2)}
    return averages("accuracy in %", results, columns, "pronouns")


def lengths_table(results: Results) -> str:
    """BLEU by the number of words of the source sentence."""
    names = next((one["lengths"] for one in results.values() if "lengths" in one), ())
    columns: Columns = {
        f"{name} words": (lambda one, name=name: one["lengths"].get(name), 2) for name in names
    }
    return averages("BLEU of", results, columns, "lengths")


def significance_table(results: Results) -> str:
    """Each system minus the control: accuracy of the pronouns and BLEU, by seed (McNemar's test, approximate
    randomization of documents, corrected over all that stands here) and over seeds."""
    accuracies, bleu = leads.over_control(results), leads.bleu_over_control(results)
    rows = {name: [run for run in results if run[0] == name] for name in SYSTEMS}
    found = {
        name: ([accuracies[run] for run in runs if run in accuracies], [bleu.get(run) for run in runs])
        for name, runs in rows.items()
    }
    return _compared("minus control", {name: each for name, each in found.items() if any(map(any, each))})


def pairs_table(results: Results) -> str:
    """Rows that differ in one thing, and the accuracy of every system with its own context, with a random
    one, and the control's; each kind of pairs is corrected by itself."""
    between, bleu = leads.between_rows(results), leads.bleu_between_rows(results)
    pairs: Compared = {}
    for pair in leads.PAIRS:
        mine = {run: lead for run, lead in between.items() if run[:2] == pair}
        pairs[f"{pair[1]} - {pair[0]}"] = list(mine.values()), [bleu.get(run) for run in mine]
    kinds = [pairs]
    for what, found in {
        "own - random context": leads.over_random(results),
        "random context - control": leads.random_over_control(results),
    }.items():
        leads_of = {name: [lead for (row, _), lead in found.items() if row == name] for name in SYSTEMS}
        kinds.append({f"{name}: {what}": (each, []) for name, each in leads_of.items()})
    return _compared("pair", *({name: each for name, each in kind.items() if each[0]} for kind in kinds))


def _compared(title: str, *kinds: Compared) -> str:
    """Accuracy and BLEU of every row, by seed and over seeds."""
    rows = []
    for kind in kinds:
        accuracy, bleu = (leads.cells([each[place] for each in kind.values()]) for place in (0, 1))
        rows += [[name, *first, *second] for name, first, second in zip(kind, accuracy, bleu, strict=True)]
    return table([title, "accuracy by seed", "over seeds", "p", "BLEU by seed", "over seeds", "p"], rows)


def accuracy(one: Record) -> Optional[float]:
    """Of the pronouns, with the run's own context."""
    return one["pronouns"]["document"]["accuracy"]


def random_accuracy(one: Record) -> Optional[float]:
    """Of the pronouns, with a random context."""
    return one["pronouns"].get("random", {}).get("accuracy")


def minutes(one: Record) -> Optional[float]:
    """Of CPU time, for the training, where that is known."""
    return None if one["cpu_seconds"] is None else one["cpu_seconds"] / 60
