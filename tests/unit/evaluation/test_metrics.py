"""Translation scores against sacrebleu called directly, and the errors of ``ctxmt score``."""

import json
from unittest.mock import Mock
from urllib.error import URLError

import pytest
from sacrebleu import CHRF, corpus_bleu, corpus_chrf, corpus_ter

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli import main
from ctxmt_fairseq.evaluation import metrics
from ctxmt_fairseq.evaluation.metrics import join_documents, read_translation, score_translation

HYPOTHESES = [
    "The boat leaves the harbour at noon today.",
    "",
    "My sister paints a small red house.",
    "We walk along the river every single evening.",
    "The old dog sleeps under the big table.",
]
REFERENCES = [
    "The boat leaves the harbour at nine today.",
    "Nobody waves.",
    "My sister paints a little red house.",
    "We walk along the river every evening.",
    "The old dog sleeps under the table.",
]
OTHERS = [line.replace("red", "blue").replace("small", "tiny") for line in HYPOTHESES]
IDS = ["a", "a", "b", "b", "b"]


def write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


@pytest.fixture
def files(tmp_path):
    texts = {"hyp": HYPOTHESES, "ref": REFERENCES, "other": OTHERS, "ids": IDS}
    return {name: write(tmp_path / name, lines) for name, lines in texts.items()}


def run(*arguments):
    main.parser().command(["score", *arguments]).start()


def by_name(scores):
    return {(each.name, each.level): each for each in scores}


def test_scores_are_sacrebleus(files):
    scores = by_name(score_translation(read_translation(files["hyp"], [files["ref"]])))
    names = ("BLEU", "chrF1", "chrF2", "chrF3", "TER")
    assert list(scores) == [(name, "sentence") for name in names]
    assert scores["TER", "sentence"].score == corpus_ter(HYPOTHESES, [REFERENCES]).score
    assert scores["BLEU", "sentence"].score == corpus_bleu(HYPOTHESES, [REFERENCES]).score
    for beta in (1, 2, 3):
        assert (
            scores[f"chrF{beta}", "sentence"].score == corpus_chrf(HYPOTHESES, [REFERENCES], beta=beta).score
        )
    assert scores["BLEU", "sentence"].signature.startswith(
        "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:"
    )
    assert scores["chrF1", "sentence"].signature.startswith(
        "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:"
    )


@pytest.mark.parametrize("others", [[], ["other"]])
def test_characters_are_counted_once_for_all_betas_that_choose_no_reference(files, others, monkeypatch):
    translation = read_translation(files["hyp"], [files[name] for name in ["ref", *others]])
    count = Mock(side_effect=CHRF._get_match_statistics)
    monkeypatch.setattr(CHRF, "_get_match_statistics", staticmethod(count))
    scores = by_name(score_translation(translation, bootstrap=50))
    assert count.call_count == 6 * len(HYPOTHESES) * (6 if others else 1)
    for beta in (1, 2, 3):
        metric = CHRF(beta=beta)
        expected = metric.corpus_score(HYPOTHESES, translation.references, n_bootstrap=50)
        found = scores[f"chrF{beta}", "sentence"]
        assert (found.score, found.signature) == (expected.score, metric.get_signature().format())
        assert found.bootstrap_mean == pytest.approx(expected._mean, abs=1e-4)


def test_documents_and_several_references(files):
    translation = read_translation(files["hyp"], [files["ref"], files["other"]], files["ids"])
    joined = [[text[0] + (" " + text[1] if text[1] else ""), " ".join(text[2:])] for text in (
        HYPOTHESES, REFERENCES, OTHERS
    )]  # fmt: skip
    scores = by_name(score_translation(translation))
    assert scores["BLEU", "document"].score == corpus_bleu(joined[0], joined[1:]).score
    assert scores["BLEU", "sentence"].score == corpus_bleu(HYPOTHESES, [REFERENCES, OTHERS]).score
    assert scores["BLEU", "document"].score != scores["BLEU", "sentence"].score
    assert scores["BLEU", "document"].signature.startswith("nrefs:2|")


def test_files_that_hold_more_than_sentences(files, tmp_path):
    film = write(tmp_path / "a.srt", HYPOTHESES)
    for texts in ((film, [files["ref"]]), (files["hyp"], [film])):
        with pytest.raises(BadInput, match="a.srt: expected a sentence on each line, found a file"):
            read_translation(*texts)
    lines = [f"-0.1234\t{line}".strip() for line in HYPOTHESES]
    for some in (lines, ["", *lines[1:]]):  # a line that was context alone
        scored = write(tmp_path / "scored", some)
        with pytest.raises(
            BadInput, match="scored: each line begins with a score: translate without --scores"
        ):
            read_translation(scored, [files["ref"]])


@pytest.mark.parametrize(
    "wrapped", ['"{}"', "{n}. {}", "H-{n}\t-0.25\t{}", '{{"translation": "{}"}}', "{n} ||| {} ||| -2"]
)
def test_what_other_programs_write_around_a_translation_is_told(tmp_path, caplog, wrapped):
    plain = write(tmp_path / "plain", [f"Line {n} ." for n in range(11)])
    hypothesis = write(tmp_path / "hyp", [wrapped.format(f"Line {n} .", n=n) for n in range(10)] + [""])
    read_translation(plain, [plain])
    read_translation(hypothesis, [hypothesis])
    assert not caplog.text
    read_translation(hypothesis, [plain])
    assert "all lines have more than a translation" in caplog.text


@pytest.mark.parametrize("command", [["score"], ["compare", "translations", "--samples", "100"]])
def test_letters_that_look_the_same_and_are_not_are_told(tmp_path, caplog, command):
    composed, apart = write(tmp_path / "nfc", ["\u00e9"] * 2), write(tmp_path / "nfd", ["e\u0301"] * 2)
    other = write(tmp_path / "other", ["e\u0301", "a"])
    for texts, told in (((composed, apart), True), ((apart, composed), True), ((apart, apart), False)):
        caplog.clear()
        main.main([*command, *texts, *([other] if command[1:] else [])])
        assert (f"{apart}: 2 lines are not in Unicode's form NFC, as {composed} is" in caplog.text) == told


def test_context_only_lines_are_left_out(files, tmp_path):
    marks = write(tmp_path / "marks", [0, 0, 1, 0, 1])
    translation = read_translation(files["hyp"], [files["ref"]], files["ids"], marks)
    assert translation.hypotheses == [HYPOTHESES[2], HYPOTHESES[4]]
    assert translation.references == [[REFERENCES[2], REFERENCES[4]]]
    assert translation.document_lengths == [2]  # nothing of the first document is left
    assert (
        score_translation(translation)[0].score
        == corpus_bleu([HYPOTHESES[2], HYPOTHESES[4]], [[REFERENCES[2], REFERENCES[4]]]).score
    )


def test_lowercase_and_tokenize(files, tmp_path):
    upper = write(tmp_path / "upper", [line.upper() for line in REFERENCES])
    translation = read_translation(files["ref"], [upper])
    assert [round(each.score) for each in score_translation(translation, lowercase=True)] == [100] * 4 + [0]
    assert score_translation(translation)[0].score < 50
    assert "|tok:char|" in score_translation(translation, tokenize="char")[0].signature
    with pytest.raises(BadInput, match="expected a tokenizer from none, zh"):
        score_translation(translation, tokenize="words")


def test_bootstrap_is_sacrebleus_and_repeatable(files):
    translation = read_translation(files["hyp"], [files["ref"]], files["ids"])
    first, second = (score_translation(translation, bootstrap=50) for _ in range(2))
    assert first == second
    assert all("|bs:50|seed:12345|" in each.signature for each in first)
    expected = corpus_chrf(HYPOTHESES, [REFERENCES])
    assert first[2].score == expected.score
    assert 0 < first[2].confidence < 100 and 0 < first[2].bootstrap_mean < 100
    assert score_translation(translation)[0].confidence is None


def test_join_documents():
    assert join_documents(["a", "", "b", "", "c"], [3, 1, 1]) == ["a b", "", "c"]


def test_command(files, tmp_path, capsys):
    out = tmp_path / "scores.json"
    run(
        files["hyp"],
        files["ref"],
        files["other"],
        "--docids",
        files["ids"],
        "--json",
        str(out),
        "--bootstrap",
        "20",
    )
    printed = capsys.readouterr().out
    result = json.loads(out.read_text())
    assert {key: result[key] for key in ("sentences", "documents", "references", "empty_hypotheses")} == {
        "sentences": 5,
        "documents": 2,
        "references": 2,
        "empty_hypotheses": 1,
    }
    assert [(each["name"], each["level"]) for each in result["scores"]] == [
        ("BLEU", "sentence"),
        ("chrF1", "sentence"),
        ("chrF2", "sentence"),
        ("chrF3", "sentence"),
        ("TER", "sentence"),
        ("BLEU", "document"),
    ]
    for each in result["scores"]:
        assert f"{each['score']:.2f}" in printed and each["signature"] in printed
    assert "5 sentences, 1 of them translated as empty" in printed
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hyp", "ids", "other", "ref", "scores.json"]


@pytest.mark.parametrize(
    "name, lines, arguments, expected",
    [
        ("ref", REFERENCES[:4], [], "/ref: expected 5 lines, as in "),
        ("ref", REFERENCES[:4], [], "found 4"),
        ("ids", IDS[:3], ["--docids", "ids"], "/ids: expected 5 document ids, one per sentence, found 3"),
        ("ids", ["a", "", "b", "b", "b"], ["--docids", "ids"], "/ids:2: expected a document id"),
        ("marks", [1, 1, 2, 1, 1], ["--current", "marks"], "/marks:3: expected 0 or 1, found '2'"),
        ("marks", [1], ["--current", "marks"], "/marks: expected 5 lines, one for each sentence, found 1"),
        ("marks", [0] * 5, ["--current", "marks"], "/marks: expected at least one line marked 1"),
        ("hyp", [], [], "/hyp: expected translations, found an empty file"),
        ("ref", REFERENCES, ["--bootstrap", "1"], "--bootstrap 1: give 2 samples or more"),
    ],
)
def test_bad_input(files, tmp_path, name, lines, arguments, expected):
    write(tmp_path / name, lines)
    arguments = [str(tmp_path / each) if each in ("ids", "marks") else each for each in arguments]
    with pytest.raises(BadInput) as caught:
        run(files["hyp"], files["ref"], *arguments)
    assert expected in str(caught.value) and "\n" not in str(caught.value)


def test_bad_input_ends_the_command_with_one_line(files, refusal):
    assert (
        refusal(main.main, ["score", files["hyp"], files["hyp"] + ".none"])
        == f"ctxmt: error: {files['hyp']}.none: no such file"
    )
    assert main.main(["score", files["hyp"], files["ref"]]) == 0


def test_unwritable_json(files, tmp_path):
    with pytest.raises(BadInput, match="cannot be written"):
        run(files["hyp"], files["ref"], "--json", str(tmp_path / "none" / "scores.json"))


@pytest.mark.parametrize("error", [URLError("no network"), SystemExit(1), TimeoutError()])
def test_a_tokenizer_that_wants_the_network(monkeypatch, tmp_path, error):
    monkeypatch.setattr("sacrebleu.tokenizers.tokenizer_spm.SACREBLEU_DIR", str(tmp_path))
    monkeypatch.setattr("urllib.request.urlopen", Mock(side_effect=error))
    with pytest.raises(BadInput, match="'flores200' needs a model that sacrebleu cannot get: .*13a, intl"):
        metrics.bleu("flores200")


def test_tokenized_text_is_told_in_our_own_words(tmp_path, capfd, caplog):
    hyp, ref = (write(tmp_path / name, [f"line {at} ." for at in range(100)]) for name in ("hyp", "ref"))
    run(str(hyp), str(ref))
    told = capfd.readouterr().err
    assert told.startswith("ctxmt: warning: 100 translations end with ' .'") and "--tokenize none" in told
    assert "force" not in told + caplog.text  # sacrebleu's advice
    run(str(hyp), str(ref), "--tokenize", "none")
    assert capfd.readouterr().err == ""
