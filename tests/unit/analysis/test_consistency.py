"""How alike the terms that recur in a document are translated."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.analysis.consistency import MEASURES, consistency, forms_of
from ctxmt_fairseq.analysis.consistency_report import forms
from ctxmt_fairseq.analysis.recurring_terms import recurring_terms
from ctxmt_fairseq.text.documents import Documents

TERMS = ("file", "page", "menu")
WORDS = ("datei", "dateien", "akte", "ordner", "die")


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("«Datei»,", ["datei"]),
        ("JSON-Zeichenfolge", ["json", "zeichenfolge"]),
        ("l'Image", ["image"]),
        ("e-mail", ["mail"]),
        ("de", ["de"]),
        ("d'or", ["d'or"]),
        ("—", []),
        ("3,5", ["3,5"]),
    ],
)
def test_what_is_compared_of_a_word(word, parts):
    assert forms_of(word) == parts


# ---- the measures --------------------------------------------------------------------------------------


@st.composite
def texts(draw):
    """Sentences of terms, document ids, and for two systems target sentences and links of words."""
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    ids = [f"d{number}" for number, length in enumerate(lengths) for _ in range(length)]
    sources = [draw(st.lists(st.sampled_from(TERMS), max_size=3)) for _ in ids]
    systems = []
    for _ in range(2):
        targets = [draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)) for _ in ids]
        links = [
            {
                i: draw(st.lists(st.integers(0, len(target) - 1), unique=True, max_size=2))
                for i in range(len(source))
            }
            for source, target in zip(sources, targets, strict=True)
        ]
        systems.append((targets, links))
    return ids, sources, systems


def expected(ids, sources, systems, prefix):
    """The measures of both systems by going through all pairs, and how many terms are left out."""
    chains, left_out = [], 0
    for document, term in itertools.product(dict.fromkeys(ids), TERMS):
        lines = [n for n in range(len(ids)) if ids[n] == document and term in sources[n]]
        both = []
        for targets, links in systems:
            sets = [
                {
                    targets[n][j][: prefix or None]
                    for i, word in enumerate(sources[n])
                    if word == term
                    for j in links[n][i]
                }
                for n in lines
            ]
            both.append([each for each in sets if each])
        if len(lines) > 1 and min(map(len, both)) > 1:
            chains.append(both)
        elif len(lines) > 1:
            left_out += 1
    found = []
    for number in range(2):
        pairs, main = [], []
        for both in chains:
            sets = both[number]
            pairs.append([bool(a & b) for a, b in itertools.combinations(sets, 2)])
            best = max(sum(word in each for each in sets) for word in set().union(*sets))
            main.append((best, len(sets)))
        found.append(
            {
                "alike": np.mean(sum(pairs, [])),
                "alike_by_term": np.mean([np.mean(each) for each in pairs]),
                "main": np.sum([best for best, _ in main]) / np.sum([size for _, size in main]),
                "main_by_term": np.mean([best / size for best, size in main]),
                "single": np.mean([best == size for best, size in main]),
            }
            if chains
            else None
        )
    return found, left_out


def measured(ids, sources, systems, prefix):
    documents = Documents.from_ids(ids)
    terms = recurring_terms([" ".join(words) for words in sources], documents, common=1.0)
    targets = [[" ".join(words) for words in lines] for lines, _ in systems]
    return consistency(["a", "b"], terms, targets, [links for _, links in systems], prefix)


@settings(max_examples=60, deadline=None)
@given(texts(), st.sampled_from([0, 1, 5]))
def test_measures_are_those_of_all_pairs(text, prefix):
    rows, left_out = expected(*text, prefix)
    found = measured(*text, prefix)
    assert found.left_out == left_out
    if found.terms:
        for record, row in zip(found.records(), rows, strict=True):
            assert {name: record[name] for name in MEASURES} == pytest.approx(
                {name: 100 * row[name] for name in MEASURES}
            )
    else:
        assert rows == [None, None]


@settings(max_examples=20, deadline=None)
@given(texts(), st.randoms(use_true_random=False))
def test_neither_names_nor_order_of_documents_matter(text, draw):
    ids, sources, systems = text
    order = list(dict.fromkeys(ids))
    draw.shuffle(order)
    lines = [n for name in order for n in range(len(ids)) if ids[n] == name]

    def moved(items):
        return [items[n] for n in lines]

    other = measured(
        [f"{ids[n]} anew" for n in lines],
        moved(sources),
        [(moved(targets), moved(links)) for targets, links in systems],
        5,
    )
    found = measured(*text, 5)
    assert len(other.terms) == len(found.terms) and other.left_out == found.left_out
    if found.terms:
        for one, two in zip(found.records(), other.records(), strict=True):
            assert one == pytest.approx(two)


def test_the_commonest_form_names_a_translation():
    terms = recurring_terms(["file"] * 3, Documents.from_ids("aaa"))
    targets = [["Rechnungen die", "Rechnung", "die Rechnungen"]]
    found = consistency(["a"], terms, targets, [[{0: [0, 1]}, {0: [0]}, {0: [0, 1]}]], 5)
    assert list(forms(found.translated[0][0]).items()) == [("rechnungen", 3), ("die", 2)]
