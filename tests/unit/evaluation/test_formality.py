"""Formality by annotated phrases: the annotation, the shared task's rule, and refusals."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.attribute_control.formal_references import (
    FORMAL,
    INFORMAL,
    AnnotatedReference,
    ContrastiveReference,
    parse_annotated,
    read_annotated,
    read_references,
)
from ctxmt_fairseq.evaluation.attribute_control.formality import FormalityRun, formality_of
from ctxmt_fairseq.evaluation.attribute_control.judging import (
    anywhere,
    in_surface_form,
    whole_words,
    words_among,
)

FORMAL_LINE = "[F]Haben Sie[/F] [F]Ihren[/F] Hut, Anna?"
INFORMAL_LINE = "[F]Hast du[/F] [F]deinen[/F] Hut, Anna?"
REFERENCE = ContrastiveReference(parse_annotated(FORMAL_LINE), parse_annotated(INFORMAL_LINE))
UNMARKED = ContrastiveReference(*[parse_annotated("Es regnet.")] * 2)


def write(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


# --- annotations ---


def test_tags_are_taken_out_and_phrases_kept():
    assert parse_annotated(FORMAL_LINE) == AnnotatedReference(
        "Haben Sie Ihren Hut, Anna?", ("Haben Sie", "Ihren")
    )
    glued = parse_annotated("je [F]t'[/F]aime, [F]toi[/F] ?")
    assert glued == AnnotatedReference("je t'aime, toi ?", ("t'", "toi"))
    assert parse_annotated("  ") == AnnotatedReference("", ())


@given(
    st.lists(st.tuples(st.text("ab ,[]F/", max_size=5), st.text("abc'", min_size=1, max_size=4)), max_size=4)
)
def test_any_annotation_is_read_back(parts):
    parts = [(text.replace("[", "("), phrase) for text, phrase in parts]
    line = "".join(f"{text}[F]{phrase}[/F]" for text, phrase in parts)
    reference = parse_annotated(line)
    assert reference.phrases == tuple(phrase for _, phrase in parts)
    assert reference.text == "".join(text + phrase for text, phrase in parts).strip()


@pytest.mark.parametrize(
    "line, expected",
    [
        ("[F]Haben Sie das?", "[F] without [/F]"),
        ("Haben Sie[/F] das?", "[/F] without [F]"),
        ("[/F]Haben Sie[F] das?", "[/F] without [F]"),
        ("[F]Haben [F]Sie[/F] das?", "[/F] before the next [F]"),
        ("[F]Haben Sie[/F][/F] das?", "[/F] without [F]"),
        ("Haben [F] [/F] das?", "a phrase between"),
    ],
)
def test_malformed_annotations_are_refused_with_file_and_line(tmp_path, line, expected):
    path = write(tmp_path / "formal.annotated.de", FORMAL_LINE, line)
    with pytest.raises(BadInput) as caught:
        read_annotated(path)
    assert str(caught.value).startswith(f"{path}:2: ") and expected in str(caught.value)


# --- the rule ---


@pytest.mark.parametrize(
    "translation, label",
    [
        ("Haben Sie einen Hut?", FORMAL),
        ("Wo haben Sie den Hut? Haben alle einen?", FORMAL),  # the words, in whatever place
        ("Ist das Ihren", FORMAL),  # one phrase is enough
        ("Haben wir einen Hut?", "neither"),  # one word of a phrase is not
        ("Was haben Sie?", "neither"),  # upper and lower case, and punctuation attached to a word
        ("Hast du deinen Hut?", INFORMAL),
        ("Hast du Ihren Hut?", "both"),
        ("", "neither"),
    ],
)
def test_labels(translation, label):
    assert formality_of(translation, REFERENCE) == label
    assert formality_of(translation, UNMARKED) == "neither"


def test_a_language_without_spaces():
    reference = ContrastiveReference(
        parse_annotated("残念に[F]思います[/F]。"), parse_annotated("残念に[F]思う[/F]。")
    )
    assert formality_of("とても残念に思います。", reference, anywhere) == FORMAL
    assert formality_of("とても残念に思います。", reference, words_among) == "neither"


WORDS = st.lists(st.sampled_from(["Sie", "du", "Ihr", "dein", "haben", "hast"]), max_size=4)


@given(st.lists(st.tuples(WORDS, st.lists(WORDS, max_size=3), st.lists(WORDS, max_size=3)), min_size=1))
def test_counts_follow_the_rule_of_the_shared_task(rows):
    labels, formal, informal, both, neither = [], 0, 0, 0, 0
    for words, formal_phrases, informal_phrases in rows:
        formal_phrases, informal_phrases = (list(filter(None, p)) for p in (formal_phrases, informal_phrases))
        reference = ContrastiveReference(
            *(AnnotatedReference("", tuple(map(" ".join, p))) for p in (formal_phrases, informal_phrases))
        )
        labels.append(formality_of(" ".join(words), reference))
        has_formal = any(all(word in words for word in phrase) for phrase in formal_phrases)
        has_informal = any(all(word in words for word in phrase) for phrase in informal_phrases)
        formal += has_formal and not has_informal
        informal += has_informal and not has_formal
        both += has_formal and has_informal
        neither += not has_formal and not has_informal
    wanted_formal, wanted_informal = (
        FormalityRun(wanted, None, [], labels).count for wanted in (FORMAL, INFORMAL)
    )
    assert vars(wanted_formal) == {"right": formal, "wrong": informal, "both": both, "neither": neither}
    assert vars(wanted_informal) == {"right": informal, "wrong": formal, "both": both, "neither": neither}
    if formal + informal:
        assert wanted_formal.accuracy == pytest.approx(100 * formal / (formal + informal))
        assert wanted_formal.accuracy + wanted_informal.accuracy == pytest.approx(100)
    else:
        assert wanted_formal.accuracy is None


@pytest.mark.parametrize(
    "phrase, text, found",
    [
        ("fatigué", "Je suis fatigué.", True),
        ("fatigué", "Je suis fatiguée.", False),
        ("fatigué", "fatiguée, fatigué", True),  # the second place
        ("fatigué", "infatigué", False),
        ("t'", "je t'aime", True),
        ("t'", "il saint'", False),
        ("suis allée", "je suis  allée", False),
        ("दे", "न दें", False),  # the vowel sign continues the word
        ("दे", "न दे।", True),
        ("Sie", "sie", False),
    ],
)
def test_whole_words(phrase, text, found):
    assert whole_words(phrase, text) == found


def test_phrases_are_found_however_their_accents_are_written():
    composed, decomposed = (unicodedata.normalize(form, "fatigué") for form in ("NFC", "NFD"))
    assert composed != decomposed
    for occurs in (whole_words, words_among, anywhere):
        rule = in_surface_form(occurs, str.lower)
        assert rule(composed.upper(), f"il est {decomposed}") and rule(decomposed, f"il est {composed}")
        assert not rule("fatigue", f"il est {decomposed}")


# --- files ---


def test_files_of_several_domains_are_one_set(tmp_path):
    formal = [write(tmp_path / f"formal.{d}", line) for d, line in enumerate([FORMAL_LINE, "Es regnet."])]
    informal = [
        write(tmp_path / f"informal.{d}", line) for d, line in enumerate([INFORMAL_LINE, "Es regnet."])
    ]
    source = [
        write(tmp_path / f"source.{d}", line) for d, line in enumerate(["Have you your hat?", "It rains."])
    ]
    references, lines = read_references(formal, informal, {"--source": source})
    assert references == [REFERENCE, UNMARKED]
    assert lines == {"--source": ["Have you your hat?", "It rains."]}


def refusal(*arguments):
    with pytest.raises(BadInput) as caught:
        read_references(*arguments)
    return str(caught.value)


def test_files_that_do_not_match_are_refused(tmp_path):
    formal = write(tmp_path / "formal", FORMAL_LINE, "Es regnet.")
    informal = write(tmp_path / "informal", INFORMAL_LINE)
    unmarked = write(tmp_path / "unmarked", "Hast du es?", "Es regnet.")
    assert refusal([formal], [informal], {}) == f"{informal}:2: ends after 1 lines, but {formal} goes on"
    assert refusal([informal], [informal], {"--source": [formal]}).startswith(
        f"{informal}:2: ends after 1 lines"
    )
    assert (
        refusal([formal], [informal, informal], {})
        == "--informal: give 1 files, as many as for --formal; found 2"
    )
    assert "--source" in refusal([formal], [formal], {"--source": []})
    assert refusal([formal], [unmarked], {}).startswith(
        f"{unmarked}: expected informal references with phrases"
    )
    empty = write(tmp_path / "empty")
    assert "has no line" in refusal([empty], [empty], {})
    assert "no such file" in refusal([tmp_path / "nowhere"], [informal], {})
