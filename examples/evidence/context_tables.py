"""Tables of what systems make of their context."""

import math
from typing import Any, Dict, Optional

from evidence import leads
from evidence.layout import Columns, Record, averages, by_system, means, seeds, table
from evidence.leads import Results
from evidence.systems import control_of, start_of

CONTEXTS = ("document", "random", "empty", "absent")
PRONOUNS = ("it", "they")


def context_table(results: Results) -> str:
    """What other contexts change in the test text, translated greedily."""

    def bleu(one: Record, name: str) -> Optional[float]:
        return next((each["bleu"] for each in one["probe"]["contexts"] if each["context"] == name), None)

    contexts: Columns = {name: (lambda one, name=name: bleu(one, name), 2) for name in CONTEXTS}
    columns: Columns = {
        **contexts,
        "document - random": (lambda one: bleu(one, "document") - bleu(one, "random"), 2),  # type: ignore[operator]
        "CXMI (bits a word)": (lambda one: one["probe"]["contexts"][0]["cxmi"], 4),
        "CXMI (nats a sentence)": (
            lambda one: math.log(2) * one["probe"]["contexts"][0]["bits_per_sentence"],
            4,
        ),
    }
    return averages("greedy BLEU", results, columns, "probe")


def post_editing_table(results: Results) -> str:
    """Translations whose target context is the reference, as behind a translator who corrects them
    (approximate randomization of documents)."""
    columns: Columns = {
        "own translations": (lambda one: leads.score(one, "BLEU"), 2),
        "the reference": (lambda one: leads.score(one["post_editing"], "BLEU"), 2),
    }
    more, systems = leads.bleu_of_post_editing(results), by_system(results, "post_editing")
    tested = leads.cells([[more.get((name, one["seed"])) for one in ones] for name, ones in systems])
    rows = [
        [name, seeds(ones), *means(ones, columns), *cells]
        for (name, ones), cells in zip(systems, tested, strict=True)
    ]
    return table(["BLEU behind", "seeds", *columns, "reference - own, by seed", "over seeds", "p"], rows)


def windows_table(results: Results) -> str:
    """Windows of other sizes than in training: greedy BLEU, and accuracy of the pronouns."""
    found = [one["windows"] for one in results.values() if "windows" in one]
    sizes = [each["size"] + 1 for each in found[0]["sizes"]] if found else []
    columns: Dict[str, Any] = {
        f"{size}: BLEU": (lambda one, place=place: one["windows"]["sizes"][place]["bleu"], 2)
        for place, size in enumerate(sizes)
    }
    if found and "pronouns" in found[0]:
        for place, size in enumerate(sizes):
            columns[f"{size}: accuracy"] = (lambda one, place=place: one["windows"]["pronouns"][place], 2)
    return averages("window of", results, columns, "windows")


def attention_table(results: Results) -> str:
    """The part of self-attention that stays in the current sentence, and the entropy of attention in nats."""
    measures = "share, encoder", "share, decoder", "share, both", "entropy, all"
    columns: Columns = {
        name: (lambda one, name=name: one["attention"]["means"][name], 4) for name in measures
    }
    return averages("attention", results, columns, "attention")


def words_table(results: Results) -> str:
    """Attention of words to the context: on average, of pronouns, and of the words that have most."""
    rows = []
    for name, ones in by_system(results, "words"):
        columns: Columns = {
            "mean": (lambda one: one["words"]["mean"], 3),
            **{word: (lambda one, word=word: one["words"]["words"].get(word), 3) for word in PRONOUNS},
        }
        useful = [one["words"]["words"] for one in ones]
        shared = [word for word in useful[0] if all(word in each for each in useful)]
        most = sorted(shared, key=lambda word: sum(each[word] for each in useful), reverse=True)[:8]
        rows.append([name, seeds(ones), *means(ones, columns), ", ".join(most)])
    return table(["attention to the context", "seeds", "mean", *PRONOUNS, "most"], rows)


def groups_table(results: Results) -> str:
    """How many latent groups a model uses."""
    columns: Columns = {
        "groups": (lambda one: len(one["groups"]["used_in_sentences"]), 0),
        "used": (lambda one: sum(map(bool, one["groups"]["used_in_sentences"])), 0),
        "used in a sentence": (lambda one: one["groups"]["used_groups_per_sentence"], 2),
    }
    return averages("latent groups", results, columns, "groups")


def consistency_table(results: Results) -> str:
    """Pairs of a document's sentences with one term that translate it alike, in %, and what a system has
    more than the sentence-level model and the control on the same terms: by seed (approximate randomization
    of documents), and over seeds alone (Student's t)."""

    def alike(one: Record, name: str) -> Optional[float]:
        systems = one["consistency"]["systems"]
        return next((each["alike"] for each in systems if each["system"] == name), None)

    def minus(one: Record, other: str) -> Dict[str, Any]:
        pair = other, one["row"], "alike"
        found = one["consistency"]["comparisons"]
        return next((each for each in found if (each["a"], each["b"], each["metric"]) == pair), {})

    columns: Columns = {
        "system": (lambda one: alike(one, one["row"]), 2),
        "reference": (lambda one: alike(one, "reference"), 2),
    }
    systems = by_system(results, "consistency")
    rows = [[name, seeds(ones), *means(ones, columns)] for name, ones in systems]
    for simpler in (lambda name: start_of(name)[0], control_of):
        found = [list(filter(None, (minus(one, simpler(name)) for one in ones))) for name, ones in systems]
        tested = leads.alone([[(each["score_a"], each["score_b"]) for each in row] for row in found])
        for row, each_seed, cells in zip(rows, found, tested, strict=True):
            shown = (f"{each['score_b'] - each['score_a']:+.2f}{each['stars']}" for each in each_seed)
            row += [", ".join(shown), *cells]
    ends = ("by seed", "over seeds", "p")
    heads = [f"minus sentence level, {ends[0]}", *ends[1:], f"minus control, {ends[0]}", *ends[1:]]
    return table(["terms alike, in %", "seeds", *columns, *heads], rows)


def tags_table(results: Results) -> str:
    """What the document's own context adds to words with a tag, beside that of another document: each seed's
    bits a word, and their 95 % interval over documents."""

    def cell(one: Record, tag: str) -> str:
        if not (found := one["tagged_words"].get(tag)):
            return ""
        return f"{found['bits_per_word']:+.3f} ({found['low']:+.3f} .. {found['high']:+.3f})"

    systems = by_system(results, "tagged_words")
    tags = sorted({tag for _, ones in systems for one in ones for tag in one["tagged_words"]})
    rows = [
        [name, seeds(ones), *(", ".join(filter(None, (cell(one, tag) for one in ones))) for tag in tags)]
        for name, ones in systems
    ]
    return table(["bits a word, own - random context", "seeds", *tags], rows)
