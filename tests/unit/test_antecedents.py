"""Pronouns and their antecedents: what attention picks, scores of their sentences, files of other tools."""

import json
import random

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from ctxmt_fairseq.analysis.antecedents import agreement, is_noun
from ctxmt_fairseq.analysis.read_words import read_words
from ctxmt_fairseq.analysis.text_attention import AttendedSentence, ContextSentence
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.corenlp import convert_corenlp
from ctxmt_fairseq.data.alignment import read_alignment
from ctxmt_fairseq.data.annotation import AnnotatedWord, read_annotation
from ctxmt_fairseq.data.coreference import Antecedent, Reference, read_coreference
from ctxmt_fairseq.data.documents import Documents
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.significance.subsets import pronoun_subsets, translated_as
from tests.unit.probed_models import checkpoint, write_text
from tests.unit.test_text_attention import Pieces

# ---- what attention picks ----------------------------------------------------------------------------

LINES = ["A dog, a red cat .", "Birds !", "It saw it .", "You !"]


def nouns():
    words = {0: ("dog", "cat"), 1: ("Birds",), 2: (), 3: ()}
    return [
        [AnnotatedWord(w, LINES[n].index(w), LINES[n].index(w) + len(w)) for w in words[n]] for n in words
    ]


def piece(line, text):
    """The number of the first subword of a word."""
    read = read_words(LINES[line], Pieces())
    return int(np.flatnonzero(read.place == read.words.index(text))[0])


def attended(line, *strongest):
    """A sentence after the first two lines; each word's weights have their peak at (line, word), and a higher
    one at the first line's full stop."""
    own = read_words(LINES[line], Pieces())
    context = []
    for other in (0, 1):
        read = read_words(LINES[other], Pieces())
        weights = np.full((len(own.words), len(read.place)), 0.01)
        if other == 0:
            weights[:, -1] = 0.9
        for word, (at, text) in enumerate(strongest):
            if at == other:
                weights[word, piece(at, text)] = 0.05
        context.append(ContextSentence(other, False, read, weights))
    return AttendedSentence(line, own, context)


def refers(line, start, word, at, nominal=True, source="corenlp"):
    """The pronoun at a place of a line to a word of another."""
    begin = LINES[at].index(word)
    text = LINES[line][start:].split()[0]
    antecedent = Antecedent(at, (begin, begin + len(word)), nominal)
    return Reference(line, (start, start + len(text)), text.lower(), antecedent, source)


def test_agreement_with_attention_and_heuristics_by_hand():
    sentences = [attended(2, (0, "cat"), (0, "A"), (1, "Birds")), attended(3, (0, "dog,"))]
    references = [
        refers(2, 0, "a red cat", 0),  # attention is right
        refers(2, 7, "dog", 0),  # it looks at Birds
        refers(3, 0, "Birds", 1),  # it looks at the dog
    ]
    found = agreement(sentences, references, "corenlp", nouns())
    records = {(row["pronoun"], row["more_than_one_noun"]): row for row in found.records()}
    assert records["all", False] == {
        "pronoun": "all", "more_than_one_noun": False, "n": 3,
        "random": pytest.approx(100 / 3), "first": pytest.approx(100 / 3), "last": pytest.approx(100 / 3),
        "attention": pytest.approx(100 / 3),
    }  # fmt: skip
    it = records["it", True]
    assert (it["n"], it["attention"], it["first"], it["last"]) == (2, 50, 50, 0)
    assert (records["you", True]["attention"], records["you", True]["last"]) == (0, 100)
    assert not found.left_out and "it, more than one noun" in found.table()


def test_one_noun_in_the_context_is_no_evidence():
    sentence = attended(2, (0, "cat"), (0, "A"), (0, "dog,"))
    only = AttendedSentence(2, sentence.words, sentence.context[1:])
    found = agreement([only], [refers(2, 0, "Birds", 1)], "corenlp", nouns())
    (row, _) = found.records()
    assert row["n"] == 1 and row["random"] == row["first"] == row["last"] == 100
    assert not any(row["more_than_one_noun"] for row in found.records())


def test_without_annotation_attention_alone():
    found = agreement([attended(2, (0, "red"))], [refers(2, 0, "a red cat", 0)], "corenlp")
    assert found.records()[0] == {"pronoun": "all", "more_than_one_noun": False, "n": 1, "attention": 100}


def test_people_against_attention_and_a_tool():
    sentences = [attended(2, (0, "cat"), (0, "A"), (1, "Birds")), attended(3, (0, "dog,"))]
    people = [refers(2, 0, "red cat", 0, source="human"), refers(2, 7, "dog", 0, source="human"),
              refers(3, 0, "Birds", 1, source="human")]  # fmt: skip
    tool = [refers(2, 0, "dog", 0), refers(2, 7, "A dog", 0)]  # wrong, right
    found = agreement(sentences, [*people, *tool], "human", nouns())
    (both, *_) = found.confusions()
    assert both == {
        "pronoun": "all", "more_than_one_noun": False, "source": "corenlp", "n": 2,
        "attention_right_right": 0, "attention_right_wrong": 50,
        "attention_wrong_right": 50, "attention_wrong_wrong": 0,
    }  # fmt: skip
    assert found.records()[0]["n"] == 3 and "corenlp wrong" in found.table()


def test_what_does_not_count_is_counted():
    sentences = [attended(2, (0, "cat"))]
    none = Reference(2, (0, 2), "it", None, "corenlp")
    two = refers(2, 0, "A dog, a red cat", 0)
    far = Reference(2, (0, 2), "it", Antecedent(3, (0, 3), True), "corenlp")
    references = [none, two, far, refers(2, 0, "dog", 0, nominal=False), refers(3, 0, "dog", 0)]
    found = agreement(sentences, references, "corenlp", nouns())
    assert not found.judged and found.left_out == {
        "without antecedent": 1,
        "without exactly one noun in the antecedent": 1,
        "with an antecedent that the model does not read": 1,
        "with a pronoun as antecedent": 1,
        "in sentences without context": 1,
    }
    assert [is_noun(AnnotatedWord("x", 0, 1, pos)) for pos in ("NOUN", "PROPN", "NNS", "PRP", None)] == [
        True, True, True, False, False,
    ]  # fmt: skip


# ---- scores of their sentences -----------------------------------------------------------------------


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def record(line, pronoun, at, span, nominal=True, source="corenlp"):
    antecedent = None if at is None else {"line": at, "span": span, "nominal": nominal}
    return json.dumps({"line": line, "pronoun": pronoun, "antecedent": antecedent, "source": source})


@pytest.fixture
def text(tmp_path):
    """Eight lines; even ones (from 1) begin with a pronoun."""
    draw = random.Random(2)
    sources = ["a dog sleeps" if n % 2 == 0 else ("It barks" if n < 6 else "I bark") for n in range(8)]
    targets = [f"{'La Elle Le Il Les Ils Le Je'.split()[n]} mot numéro {n} est ici ." for n in range(8)]
    hypotheses = [" ".join(w for w in line.split() if draw.random() < 0.8) for line in targets]
    coreference = [
        record(2, [0, 2], 1, [2, 5]),
        record(4, [0, 2], 3, [0, 1], nominal=False),
        record(6, [0, 2], 5, [2, 5]),
        record(6, [3, 8], 6, [0, 2]),  # in its own line
        record(8, [0, 1], 7, [2, 5]),
        record(7, [0, 1], None, None),
    ]
    words = [{"words": []} for _ in range(8)]
    words[1] = {
        "words": [{"text": "Elle", "start": 0, "end": 4, "pos": "PRON", "gender": "Fem", "number": "Sing"}]
    }
    words[5] = {
        "words": [{"text": "Ils", "start": 0, "end": 3, "pos": "PRON", "gender": "Masc", "number": "Plur"}]
    }
    files = {
        "src": write_lines(tmp_path / "src", sources), "ref": write_lines(tmp_path / "ref", targets),
        "a": write_lines(tmp_path / "a", hypotheses), "b": write_lines(tmp_path / "b", targets),
        "coref": write_lines(tmp_path / "coref.jsonl", coreference),
        "align": write_lines(tmp_path / "align", ["0-0 1-1"] * 8),
        "words": write_lines(tmp_path / "words.jsonl", map(json.dumps, words)),
    }  # fmt: skip
    return files, sources, targets, hypotheses


def test_scores_of_subsets_are_sacrebleus_on_their_lines(text, tmp_path, capsys):
    files, _, targets, hypotheses = text
    arguments = (
        "compare", "pronouns", files["src"], files["ref"], files["a"], files["b"],
        "--coreference", files["coref"], "--alignment", files["align"],
        "--annotation", files["words"], "--samples", "100", "--json", str(tmp_path / "json"),
    )  # fmt: skip
    assert not main(list(arguments))
    found = {row["subset"]: row for row in json.loads((tmp_path / "json").read_text())["subsets"]}
    lines = {
        "it": [1, 3, 5], "it, nominal": [1, 5], "it, nominal, feminine": [1], "it, nominal, plural": [5],
        "I": [7], "I, nominal": [7],
    }  # fmt: skip
    assert {name: row["sentences"] for name, row in found.items()} == {k: len(v) for k, v in lines.items()}
    for name, chosen in lines.items():
        score = (
            BLEU(force=True)
            .corpus_score([hypotheses[n] for n in chosen], [[targets[n] for n in chosen]])
            .score
        )
        assert found[name]["scores"] == pytest.approx({files["a"]: score, files["b"]: 100})
    (row,) = found["it"]["comparisons"]
    assert row["difference"] == pytest.approx(100 - found["it"]["scores"][files["a"]])
    assert (found["it"]["pronouns"], found["it"]["pronominal_antecedents"]) == (3, 1)
    assert "it, nominal, feminine" in capsys.readouterr().out


def test_a_pronoun_that_stands_twice_in_a_line_puts_it_there_once():
    references = [
        Reference(4, span, "it", Antecedent(3, (0, 2), True), "x") for span in ((0, 2), (9, 11))
    ]  # fmt: skip
    (all_of_them, nominal) = pronoun_subsets(references)
    assert all_of_them.lines == nominal.lines == [4] and all_of_them.pronouns == 2


def test_the_translation_of_a_pronoun():
    source, target = "Did it, fall ?", "La voiture , elle est tombée ?"
    words = [
        AnnotatedWord("voiture", 3, 10, "NOUN", None, "Fem", "Plur"),
        AnnotatedWord("elle", 13, 17, "PRON", None, "Fem", "Sing"),
    ]
    it = Reference(0, (4, 6), "it", None, "x")
    assert translated_as(it, source, target, {1: [1, 3]}, words) == "feminine"  # the pronoun counts first
    assert translated_as(it, source, target, {1: [1]}, words) == "plural"
    assert translated_as(it, source, target, {0: [3], 1: [5]}, words) is None  # not annotated
    assert translated_as(it, source, target, {}, words) is None


# ---- files -------------------------------------------------------------------------------------------


def test_coreference_files_that_do_not_fit(tmp_path):
    sentences = ["A dog.", "It ran."]
    good = record(2, [0, 2], 1, [2, 5])
    (found,) = read_coreference(write_lines(tmp_path / "good", [good]), sentences)
    assert found == Reference(1, (0, 2), "it", Antecedent(0, (2, 5), True), "corenlp")
    for lines, message in (
        ([], "empty file"),
        ([record(3, [0, 2], 1, [2, 5])], ":1: expected a line from 1 to 2, found 3"),
        ([record(2, [0, 8], 1, [2, 5])], "within the 7 characters"),
        ([record(2, [2, 2], 1, [2, 5])], "within the 7 characters"),
        ([record(2, [0], 1, [2, 5])], r"expected \[start, end\]"),
        ([record(2, [True, 2], 1, [2, 5])], r"expected \[start, end\]"),
        ([record(1, [0, 1], 2, [0, 2])], "up to line 1, found 2"),
        ([record(2, [0, 2], 1, [2, 9])], "within the 6 characters"),
        ([good, good], ":2: the pronoun at .* stands there twice"),
        ([good.replace("true", "1")], "expected true or false at the key 'nominal'"),
        (['{"line": 1}'], "expected the key 'pronoun'"),
    ):
        with pytest.raises(BadInput, match=message):
            read_coreference(write_lines(tmp_path / "bad", lines), sentences)


def test_alignment_files_that_do_not_fit(tmp_path):
    path = write_lines(tmp_path / "good", ["0-1 0-0 1-1 0-1", ""])
    assert read_alignment(path, ["a b", ""], ["c d", "e"]) == [{0: [0, 1], 1: [1]}, {}]
    for lines, message in (
        (["0-1"], "expected 2 lines"),
        (["0-1", "", ""], "found more"),
        (["0-2", ""], ":1: expected words of 2 and 2, found 0-2"),
        (["0:1", ""], "expected pairs such as 0-1"),
        (["-1-0", ""], "expected pairs"),
    ):
        with pytest.raises(BadInput, match=message):
            read_alignment(write_lines(tmp_path / "bad", lines), ["a b", ""], ["c d", "e"])


def token(text, pos="NN"):
    return {"originalText": text, "pos": pos, "lemma": text.lower(), "index": 1}


def mention(number, first, behind, kind):
    return {"sentNum": number, "startIndex": first, "endIndex": behind, "type": kind}


def corenlp():
    """A document of four lines, of which CoreNLP does not see the empty one."""
    sentences = [
        {"tokens": [token("The", "DT"), token("dog"), token("saw", "VBD"), token("its", "PRP$"),
                    token("tail"), token(".", ".")]},
        {"tokens": [token("It", "PRP"), token("'s", "VBZ"), token("red", "JJ"), token(".", ".")]},
        {"tokens": [token("It", "PRP"), token("ran", "VBD"), token(".", ".")]},
    ]  # fmt: skip
    corefs = {
        "3": [
            mention(1, 1, 3, "NOMINAL"),
            mention(3, 1, 2, "PRONOMINAL"),
            mention(1, 4, 5, "PRONOMINAL"),
            mention(2, 1, 2, "PRONOMINAL"),
        ],
        "4": [mention(1, 4, 6, "NOMINAL")],
    }
    return {"sentences": sentences, "corefs": corefs}


TEXT = ["The dog saw its tail.", "", "It's red.", "It ran.", "Who?"]


def test_what_corenlp_found(tmp_path, capsys):
    write_lines(tmp_path / "text", TEXT)
    write_lines(tmp_path / "ids", "aaaab")
    other = {"sentences": [{"tokens": [token("Who", "WP"), token("?", ".")]}], "corefs": {}}
    for name, content in (("1.json", corenlp()), ("2.json", other)):
        (tmp_path / name).write_text(json.dumps(content))
    assert not main([
        "corpus", "corenlp", str(tmp_path / "1.json"), str(tmp_path / "2.json"),
        "--text", str(tmp_path / "text"), "--docids", str(tmp_path / "ids"), "--out", str(tmp_path / "out"),
    ])  # fmt: skip
    assert capsys.readouterr().out == "2 pronouns with an antecedent in a line before, 1 of them nominal\n"
    assert read_coreference(tmp_path / "out.coref.jsonl", TEXT) == [
        Reference(2, (0, 2), "it", Antecedent(0, (0, 7), True), "corenlp"),
        Reference(3, (0, 2), "it", Antecedent(2, (0, 2), False), "corenlp"),  # the nearest line
    ]
    words = read_annotation(tmp_path / "out.words.jsonl", TEXT)
    assert [word.text for word in words[0] if is_noun(word)] == ["dog", "tail"] and words[1] == []
    assert (words[2][1].text, words[2][1].start, words[2][1].pos) == ("'s", 2, "VBZ")


def test_corenlp_of_another_text(tmp_path):
    path = tmp_path / "1.json"

    def refused(content, message, lengths=(4,)):
        path.write_text(json.dumps(content))
        with pytest.raises(BadInput, match=message):
            convert_corenlp([path], TEXT[: sum(lengths)], Documents.from_lengths(lengths))

    refused(corenlp(), "expected 2 files", (4, 1))
    refused(corenlp(), "expected 4 sentences, the document's lines, found 3", (5,))
    spoilt = corenlp()
    spoilt["sentences"][1]["tokens"][2]["originalText"] = "blue"
    refused(spoilt, "expected the text of line 3, found 'blue'")
    for bad in (mention(4, 1, 2, "NOMINAL"), mention(2, 1, 9, "NOMINAL"), mention(2, 2, 2, "NOMINAL")):
        spoilt = corenlp()
        spoilt["corefs"]["4"] = [bad]
        refused(spoilt, "expected a mention within the text")
    refused({**corenlp(), "corefs": {"1": 2}}, "expected a list of mentions")


# ---- the command -------------------------------------------------------------------------------------


def test_antecedents_of_a_model(tmp_path, capsys):
    model = checkpoint(tmp_path / "model", "multi_source", arch="gated_context_transformer")
    sources = ["a b c", "d e", "f g", "h", "i j", "a", "b d", "c", "e", "f", "g", "h", "i"]
    text = write_text(tmp_path, en=sources)  # documents of 4, 1, 3 and 5 lines
    coreference = write_lines(
        tmp_path / "coref",
        [record(2, [0, 1], 1, [4, 5]), record(3, [0, 1], 2, [0, 1]), record(5, [0, 1], 4, [0, 1])],
    )
    words = [
        {
            "words": [
                {"text": w, "start": 2 * at, "end": 2 * at + 1, "pos": "NOUN"}
                for at, w in enumerate(line.split())
            ]
        }
        for line in sources
    ]
    annotation = write_lines(tmp_path / "words", map(json.dumps, words))
    command = ["analyse", "antecedents", str(model), text, "--cpu", "--coreference", coreference]
    assert not main([*command, "--annotation", annotation, "--json", str(tmp_path / "json")])
    found = json.loads((tmp_path / "json").read_text())
    assert found["agreement"][0]["n"] == 2 and found["left_out"] == {"in sentences without context": 1}
    assert found["agreement"][0]["random"] == pytest.approx(100 * (1 / 3 + 1 / 5) / 2)
    assert found["agreement"][0]["attention"] in (0, 50, 100)
    printed = capsys.readouterr().out
    assert "left out: 1 in sentences without context" in printed and "more than one noun" in printed
    with pytest.raises(SystemExit):
        main([*command, "--truth", "human"])
    assert "--truth: expected one of the sources corenlp" in capsys.readouterr().err
