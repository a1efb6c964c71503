"""Moses' tokenisation and truecasing as text steps of a data folder."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacremoses import MosesDetruecaser, MosesTruecaser

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.corpora.text_steps import Moses, TextSteps
from ctxmt_fairseq.corpora.truecasing import count_forms, forms_text, read_forms, truecaser
from tests.unit.corpora.test_preprocess import read_back, write

SENTENCES = [
    "The cat sleeps in the house of Paul .",
    "The dog and the Cat sleep .",
    "Paul sleeps . The cat does not .",
    "Sleep is what the CAT likes in Paris .",
]


def truecased(forms, text):
    return truecaser(forms).truecase(text, return_str=True, use_known=True)


def detruecased(text):
    return MosesDetruecaser().detruecase(text, return_str=True)


@pytest.mark.parametrize(
    ("options", "text", "tokens"),
    [
        ({}, "It's \"fast\", isn't it?", "It &apos;s &quot; fast &quot; , isn &apos;t it ?"),
        ({"escape": False}, "Tom & Jerry's.", "Tom & Jerry 's ."),
        ({}, "A high-speed train.", "A high-speed train ."),
        ({"split_dashes": True}, "A high-speed train.", "A high @-@ speed train ."),
        ({}, "", ""),
    ],
)
def test_text_is_tokenised_and_put_together_again(options, text, tokens):
    step = Moses("en_XX", **options)
    assert step.apply(text) == tokens
    assert step.undo(tokens) == text


def test_the_language_decides():
    text = "L'été, dit-il, c'est fini."
    assert Moses("fr").apply(text) == "L&apos; été , dit-il , c&apos; est fini ."
    assert Moses("en").apply("Mr. Smith came.") == "Mr. Smith came ."
    assert Moses("fr").undo(Moses("fr").apply(text)) == text


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), st.booleans(), st.booleans())
def test_no_text_ends_a_step(text, escape, dashes):
    moses = Moses("en", escape, dashes)
    done = truecased(count_forms(SENTENCES), " ".join(moses.apply(text).split()))
    assert "\n" not in moses.undo(detruecased(done))


def test_the_case_of_first_words_is_that_within_sentences():
    forms = count_forms(SENTENCES)
    assert (
        truecased(forms, "The Cat sleeps . Paul too . Dogs sleep .")
        == "the Cat sleeps . Paul too . Dogs sleep ."
    )
    assert truecased(forms, "See THE CAT and cAT .") == "See the CAT and cat ."
    assert detruecased('the Cat sleeps . Paul too . " dogs sleep .') == (
        'The Cat sleeps . Paul too . " Dogs sleep .'
    )


def test_counts_are_read_as_they_were_written(tmp_path):
    forms = count_forms(SENTENCES)
    assert forms["cat"] == {"cat": 2, "Cat": 1, "CAT": 1} and forms["the"] == {"the": 3}
    path = tmp_path / "truecase.en"
    path.write_text(forms_text(forms), encoding="utf-8")
    assert "cat (2/4) Cat (1) CAT (1)\n" in path.read_text()
    assert read_forms(path) == forms
    theirs = MosesTruecaser()
    theirs.train([sentence.split() for sentence in SENTENCES])
    for sentence in (*SENTENCES, "CAT of the House .", "Unknown Words ."):
        assert truecased(read_forms(path), sentence) == theirs.truecase(
            sentence, return_str=True, use_known=True
        )


def test_of_several_forms_the_most_frequent_counts_after_reading(tmp_path):
    path = tmp_path / "counts"
    path.write_text("may (7/12) May (5)\n", encoding="utf-8")
    assert read_forms(path) == {"may": Counter({"may": 7, "May": 5})}
    assert truecased(read_forms(path), "May I ?") == "may I ?"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "the\n",
        "the (x/2)\n",
        "the (3/4) The\n",
        "(3/4)\n",
        "the (3/4)  The (1)\n",
        "the (3/4)The (1)\n",
        pytest.param("a" * 300_000, id="a long word"),
    ],
)
def test_files_without_counts_are_refused(tmp_path, content):
    path = tmp_path / "counts"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BadInput, match="expected|has no counts"):
        read_forms(path)


# ---- a data folder with these steps -----------------------------------------------------------------------


ENGLISH = ["The cat's asleep.", "Paul likes the cat, too.", "A well-known dog barks."]
FRENCH = ["Le chat dort.", "Paul aime le chat, aussi.", "L'ami aboie."]
CODES = "#version: 0.2\nt h\nth e</w>\nc a\nca t</w>\n"


@pytest.fixture
def text(tmp_path):
    return write(tmp_path / "train", en=ENGLISH, fr=FRENCH, docids="111")


def preprocess(text, out, *options):
    arguments = f"preprocess --source-lang en --target-lang fr --train {text} --out {out}".split()
    return main([*arguments, *map(str, options)])


def test_the_steps_of_a_folder(text, tmp_path, capsys):
    (tmp_path / "codes").write_text(CODES)
    data = tmp_path / "data"
    assert preprocess(text, data, "--moses", "--truecase", "--bpe-codes", tmp_path / "codes") == 0
    description = json.loads((data / "ctxmt.json").read_text())
    assert description["text_steps"] == [
        {"step": "moses", "escape": True, "split_dashes": False},
        {"step": "truecase", "counts": {"en": "truecase.en", "fr": "truecase.fr"}},
        {"step": "bpe", "codes": {"en": "bpe.codes", "fr": "bpe.codes"}},
    ]
    assert "the (1/1)\n" in (data / "truecase.en").read_text()
    assert read_back(data, "train", "en")[0][:4] == ["the", "cat", "&@@", "a@@"]
    source, target = (Subwords.load(data, language) for language in ("en", "fr"))
    for subwords, lines in ((source, ENGLISH), (target, FRENCH)):
        for line in lines:
            assert subwords.decode(subwords.encode(line)) == line
    test = write(tmp_path / "test", en=["The cat barks."], fr=["Le chat aboie."], docids="1")
    arguments = (
        f"preprocess --source-lang en --target-lang fr --test {test} --like {data} --out {tmp_path}/like"
    )
    assert main(arguments.split()) == 0
    assert read_back(tmp_path / "like", "test", "en")[0][:2] == ["the", "cat"]
    assert (tmp_path / "like" / "truecase.fr").read_bytes() == (data / "truecase.fr").read_bytes()


def test_counts_that_are_given(text, tmp_path):
    (tmp_path / "counts").write_text("a (9/9)\nle (9/9)\n")
    options = ("--no-subwords", "--moses", "--moses-no-escape", "--moses-split-dashes", "--truecase-counts")
    assert preprocess(text, tmp_path / "data", *options, tmp_path / "counts") == 0
    assert read_back(tmp_path / "data", "train", "en")[2][:4] == ["a", "well", "@-@", "known"]
    assert read_back(tmp_path / "data", "train", "fr")[0][0] == "le"
    moses, entry = json.loads((tmp_path / "data" / "ctxmt.json").read_text())["text_steps"]
    assert moses == {"step": "moses", "escape": False, "split_dashes": True}
    assert entry == {"step": "truecase", "counts": {"en": "truecase", "fr": "truecase"}}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--lowercase", "--truecase"), "give one of --lowercase, --truecase and --truecase-counts"),
        (("--moses-no-escape",), "need --moses"),
        (("--truecase-counts", "{text}.en"), "expected WORD (COUNT/ALL)"),
        (("--truecase-counts-source", "{text}.en"), "--truecase-counts-source with --truecase-counts-target"),
    ],
)  # fmt: skip
def test_refusals(text, tmp_path, refusal, options, words):
    options = ["--no-subwords", *(option.format(text=text) for option in options)]
    assert words in refusal(preprocess, text, tmp_path / "data", *options)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    "entry",
    [
        {"step": "moses", "escape": "yes"},
        {"step": "truecase"},
        {"step": "truecase", "counts": {"fr": "x"}},
        {"step": "truecase", "counts": {"en": "../x"}},
        {"step": "truecase", "counts": {"en": "missing"}},
    ],
)
def test_entries_that_are_refused(tmp_path, entry):
    (tmp_path / "ctxmt.json").write_text("{}")
    with pytest.raises(BadInput):
        TextSteps.of_entries([entry], tmp_path, "en")
