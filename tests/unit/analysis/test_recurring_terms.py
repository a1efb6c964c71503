"""Which words of a text are terms that recur in a document."""

import numpy as np

from ctxmt_fairseq.analysis.recurring_terms import recurring_terms
from ctxmt_fairseq.text.annotation import AnnotatedWord
from ctxmt_fairseq.text.documents import Documents


def terms_of(sentences, ids, **rules):
    found = recurring_terms(sentences, Documents.from_ids(ids), **rules)
    return {(term.document, term.text): term.places for term in found}


def test_a_term_stands_in_several_sentences_of_one_document():
    sentences = ["Save, save the file.", "«Save» 2024 x1 x1!", "The add-on (file)", "the Add-on: x1 2024"]
    assert terms_of(sentences, "aabb") == {
        (0, "save"): {0: [0, 1], 1: [0]},
        (1, "the"): {2: [0], 3: [0]},
        (1, "add-on"): {2: [1], 3: [1]},
    }
    assert terms_of(sentences, "aaaa", least_characters=4) == {
        (0, "save"): {0: [0, 1], 1: [0]},
        (0, "file"): {0: [3], 2: [2]},
        (0, "add-on"): {2: [1], 3: [1]},
    }
    assert terms_of(sentences, "aaaa", least_sentences=3) == {(0, "the"): {0: [2], 2: [0], 3: [0]}}
    assert terms_of(sentences, "aaaa", current=np.array([1, 0, 1, 1], bool), least_characters=4) == {
        (0, "file"): {0: [3], 2: [2]},
        (0, "add-on"): {2: [1], 3: [1]},
    }


def test_common_words_are_no_terms():
    sentences = ["the file", "the file"] * 3 + ["the page", "the page"] * 7
    ids = [str(line // 2) for line in range(20)]
    assert {word for _, word in terms_of(sentences, ids, common=0.3)} == {"file"}
    assert {word for _, word in terms_of(sentences, ids, common=0.29)} == set()  # 3 of 10 documents
    assert {word for _, word in terms_of(sentences, ids, common=1.0)} == {"the", "file", "page"}
    assert {word for _, word in terms_of(sentences[:4], ids[:4], common=0.1)} == {"the", "file"}  # two only


def test_nouns_of_annotated_text_are_terms_by_their_lemma():
    sentences = ["Close all windows/doors now", "A window closes"]
    annotation = [
        [
            AnnotatedWord("Close", 0, 5, "VERB", "close"),
            AnnotatedWord("windows", 10, 17, "NOUN", "window"),
            AnnotatedWord("doors", 18, 23, "NNS", "door"),
        ],
        [AnnotatedWord("window", 2, 8, "NOUN"), AnnotatedWord("closes", 9, 15, "VERB", "close")],
    ]
    assert terms_of(sentences, "aa", annotation=annotation) == {(0, "window"): {0: [2], 1: [1]}}
