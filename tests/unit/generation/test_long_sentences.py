"""Sentences that are longer than the models read, and the separator's name in text: neither ends a run."""

import json
import logging

import pytest

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.generation.given_documents import GivenDocuments
from ctxmt_fairseq.generation.long_sentences import split
from ctxmt_fairseq.text.languages import joined_text
from ctxmt_fairseq.translator import Translator
from tests.helpers.probed_models import checkpoint, randomised

LIMIT = 12  # positions of the models, </s> included
SEARCH = ("--beam", "2", "--max-len-b", "6", "--cpu")
LONG = "a b c d e. f g h i j, a b c d"  # a word is a token
TEXT = ["a b", LONG, "c d", "e", LONG, "f", ""]
IDS = list("1112223")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    root = tmp_path_factory.mktemp("long")
    limits = ("--max-source-positions", str(LIMIT), "--max-target-positions", "40")
    return {
        "window": checkpoint(root / "window", "document_window", *limits),
        "rows": checkpoint(root / "rows", "multi_source", *limits),
        "vectors": checkpoint(root / "vectors", "metadata_context", *limits),
    }


def write(folder, name, lines):
    (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(folder / name)


@pytest.fixture
def translate(tmp_path, capsys):
    """``translate(model, lines, options)``: output lines and what was said; or (exit code, the message)."""

    def run(model, lines, *options, ids=IDS, current=None):
        files = [write(tmp_path, "text.en", lines), "--docids", write(tmp_path, "text.docids", ids)]
        if current:
            files += ["--current", write(tmp_path, "text.current", current)]
        out = tmp_path / "out"
        out.unlink(missing_ok=True)
        try:
            main(["translate", str(model), *files, "--output", str(out), *SEARCH, *options])
        except SystemExit as error:
            assert not out.exists()
            return error.code, capsys.readouterr().err
        lines = out.read_text(encoding="utf-8").split("\n")
        assert lines.pop() == ""
        return lines, capsys.readouterr().err

    return run


def test_room_for_what_is_not_the_sentence(tmp_path, translate, models):
    """``</s>`` may be all of a context; and a joined context that has changed places has a limit, too."""
    limits = f"--max-source-positions {LIMIT} --max-target-positions 40 --encoder-learned-pos".split()
    windows = "--source-context 1 --target-context 1 --context-end eos".split()
    model = randomised(tmp_path / "eos", "transformer", *windows, *limits)
    code, message = translate(model, ["a b c d e f g h i j a"], ids=["1"])
    assert code == 2 and "longer than the 11 tokens that the models read: " in message
    lines, _ = translate(model, ["a b c d e f g h i j a"], "--too-long", "cut", ids=["1"])
    assert lines == translate(model, ["a b c d e f g h i j"], ids=["1"])[0]
    swapped = Translator.load(models["rows"], context_selection="swapped", device="cpu")
    decoder = swapped.document_translator()
    text = decoder.fit(GivenDocuments.of([["a b c d e f g", "h i j a b c d", "e f g"]]), "error")
    batch, _ = decoder.running_of(text).batch([2], False)
    assert batch["net_input"]["src_tokens"].size(1) == 8


@pytest.mark.parametrize("kind", ["window", "rows", "vectors"])
def test_all_long_lines_are_named(models, translate, kind):
    code, message = translate(models[kind], TEXT)
    (line,) = [line for line in message.splitlines() if line.startswith("ctxmt: error")]
    assert code == 2 and f"longer than the {LIMIT} tokens that the models read" in line
    assert "text.en:2 (15), " in line and "text.en:5 (15); " in line and "--too-long cut, split" in line


@pytest.mark.parametrize("kind", ["window", "rows", "vectors"])
def test_cut_is_a_translation_of_the_first_tokens(models, translate, kind):
    found, said = translate(models[kind], TEXT, "--too-long", "cut")
    cut = [" ".join(line.split()[: LIMIT - 1]) for line in TEXT]
    assert found == translate(models[kind], cut)[0]
    assert "2 of 7 sentences are longer than" in said and "were cut: " in said
    assert "text.en:2, " in said and "text.en:5\n" in said
    longest = sum(len(line.split()) == 6 for line in found)
    assert (f"{longest} of 7 translations ended at the greatest length" in said) == bool(longest)


@pytest.mark.parametrize("kind", ["window", "rows", "vectors"])
def test_split_is_a_translation_of_the_parts_in_their_places(models, translate, kind):
    found, said = translate(models[kind], TEXT, "--too-long", "split", "--max-len-b", "20")
    halves = ["a b c d e.", "f g h i j, a b c d"]
    parts = [part for line in TEXT for part in (halves if line == LONG else [line])]
    ids = [name for name, line in zip(IDS, TEXT, strict=True) for _ in range(1 + (line == LONG))]
    single, _ = translate(models[kind], parts, "--max-len-b", "20", ids=ids)
    rest = iter(single)
    assert found == [f"{next(rest)} {next(rest)}".strip() if line == LONG else next(rest) for line in TEXT]
    assert "were split into parts: " in said


@pytest.mark.parametrize("kind", ["window", "rows"])
def test_empty_is_the_translation_of_an_empty_line(models, translate, kind):
    found, said = translate(models[kind], TEXT, "--too-long", "empty")
    assert found == translate(models[kind], ["" if line == LONG else line for line in TEXT])[0]
    assert found[1] == found[4] == "" and "were not translated: " in said


@pytest.mark.parametrize("options", [(), ("--target-context", "0")])
def test_long_context_is_left_out_of_windows_as_in_training(models, translate, options):
    """With the line's own translation as context it is cut, because it has to be translated."""
    marks = ["0" if line == LONG else "1" for line in TEXT]
    found, said = translate(models["window"], TEXT, *options, current=marks)
    assert found[1] == found[4] == "" and "longer" not in said
    if options:  # no window has it: the lines behind it begin a document, but for the line before it
        alone = translate(models["window"], TEXT[2:4], *options, ids="12")[0]
        assert found[2:4] == alone


def test_an_interrupted_split_goes_on(models, translate, tmp_path, monkeypatch):
    from ctxmt_fairseq.generation.translate_files import KeptTranslations

    keep, seen, most = KeptTranslations.translated, [], 100

    def translated(self, line, tokens, score):
        if len(seen) == most:
            raise RuntimeError("interrupted")
        seen.append(line)
        keep(self, line, tokens, score)

    monkeypatch.setattr(KeptTranslations, "translated", translated)
    whole, _ = translate(models["window"], TEXT, "--too-long", "split")
    order, most = [*seen], 4
    seen.clear()
    with pytest.raises(RuntimeError, match="interrupted"):
        translate(models["window"], TEXT, "--too-long", "split")
    most = 100
    assert translate(models["window"], TEXT, "--too-long", "split")[0] == whole
    assert sorted(seen) == sorted(order) and len(seen) == len(set(seen)) > len(TEXT)


def test_scores_of_parts_are_averaged(models, translate):
    options = ("--scores", "--max-len-b", "20")
    (found, *_), _ = translate(models["rows"], [LONG], "--too-long", "split", *options, ids="1")
    parts, _ = translate(models["rows"], ["a b c d e.", "f g h i j, a b c d"], *options, ids="11")
    scores = [float(part.split("\t")[0]) for part in parts]
    assert float(found.split("\t")[0]) == pytest.approx(sum(scores) / 2, abs=1e-4)


@pytest.mark.parametrize("way", ["cut", "split", "empty"])
def test_python_names_places_and_treats_them_alike(models, translate, caplog, way):
    documents, how = [TEXT[:3], TEXT[3:6], TEXT[6:]], {"beam": 2, "max_len_b": 6, "device": "cpu"}
    translator = Translator.load(models["window"], **how)
    with pytest.raises(BadInput, match=r": documents\[0\]\[1\] \(15\), documents\[1\]\[1\] \(15\); shorten"):
        translator.translate(documents)
    short = [["a"] * len(document) for document in documents]
    with pytest.raises(BadInput, match=r": documents\[0\]\[1\] \(15\), documents\[1\]\[1\] \(15\); shorten"):
        translator.score(documents, short)
    with pytest.raises(BadInput, match=r"40 tokens .*: translations\[1\]\[0\] \(51\); shorten"):
        translator.score(short, [short[0], ["a " * 50, "a", "a"], short[2]])
    with caplog.at_level(logging.WARNING):
        found = Translator.load(models["window"], too_long=way, **how).translate(documents)
    assert [text for document in found for text in document] == translate(
        models["window"], TEXT, "--too-long", way
    )[0]
    assert [len(document) for document in found] == [3, 3, 1]
    assert any("documents[0][1], documents[1][1]" in record.getMessage() for record in caplog.records)
    with pytest.raises(BadInput, match="too_long: expected one of error, cut, split, empty, found 'x'"):
        Translator.load(models["window"], too_long="x", **how)


def test_given_target_context_is_of_whole_lines(models, translate, tmp_path):
    given = write(tmp_path, "given", TEXT)
    options = ("--too-long", "split", "--target-context-from", given)
    code, message = translate(models["window"], TEXT, *options)
    assert code == 2 and "--target-context-from does not work with --too-long split" in message


@pytest.mark.parametrize(
    "text, size, parts",
    [
        ("One two. Three four.", 12, ["One two.", "Three four."]),
        ('He said "no." Then, she left.', 16, ['He said "no."', "Then, she left."]),
        ("one two, three four five", 16, ["one two,", "three four five"]),
        ("A. one two three four", 12, ["A. one two", "three four"]),  # not far from the middle
        ("今日は雨。明日は晴れ。", 6, ["今日は雨。", "明日は晴れ。"]),
        ("it was 1,000 of them 12:30", 20, ["it was 1,000", "of them 12:30"]),  # no number is cut
        ("यह अच्छा है। मैं खुश हूँ", 16, ["यह अच्छा है।", "मैं खुश हूँ"]),
        ("أين هو؟ لا أعرف", 10, ["أين هو؟", "لا أعرف"]),
        ("abcdefgh", 3, ["ab", "cd", "ef", "gh"]),
        ("a\u0301a\u0301a\u0301", 4, ["a\u0301", "a\u0301a\u0301"]),
        ("ab", 0, ["a", "b"]),
    ],
)
def test_where_a_text_is_split(text, size, parts):
    assert split(text, lambda part: len(part) <= size) == parts


def test_parts_are_joined_as_their_script_joins_sentences():
    assert joined_text(["One.", "", "Two."]) == "One. Two." and joined_text(["", ""]) == ""
    assert joined_text(["今日は雨。", "明日は晴れ。"]) == "今日は雨。明日は晴れ。"
    assert joined_text(["안녕 세계", "좋은 아침"]) == "안녕 세계 좋은 아침"
    assert joined_text(["สวัสดี", "ครับ"]) == "สวัสดีครับ"


SEPARATED = ["a <sep> b", "c", "<sep>", "d <mask> e<sep>f"]


@pytest.mark.parametrize("kind", ["window", "rows"])
def test_the_separator_s_name_is_text(models, translate, kind, tmp_path, capsys):
    """It is spelled out; whatever it is translated to, each line has its own translation."""
    found, said = translate(models[kind], SEPARATED, ids="1111")
    assert len(found) == 4
    assert "<sep> is read as text in 3 sentences: " in said and "text.en:1, " in said and "text.en:4" in said
    loaded = Translator.load(models[kind], device="cpu").loaded
    separator = loaded.task.source_dictionary.index("<sep>")
    assert all(separator not in loaded.encode_source(line).tolist() for line in SEPARATED)
    spelled = [line.replace("<sep>", "< s e p >") for line in SEPARATED[:3]]
    assert translate(models[kind], spelled, ids="111")[0] == found[:3]
    records = [json.dumps({"source": line, "document": 1}) for line in SEPARATED]
    path = write(tmp_path, "in.jsonl", records)
    main(["translate", str(models[kind]), path, "--json-lines", *SEARCH])
    out = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["translation"] for line in out] == found


def test_the_separator_may_join_lines(models, tmp_path, capsys):
    lines = ["The cat is asleep. <sep> It is tired.", "a <sep> b"]
    main(["translate", str(models["window"]), write(tmp_path, "x", lines), "--joined", "<sep>", *SEARCH])
    separated = capsys.readouterr()
    lines = [line.replace("<sep>", "<eos>") for line in lines]
    main(["translate", str(models["window"]), write(tmp_path, "x", lines), "--joined", "<eos>", *SEARCH])
    assert capsys.readouterr().out == separated.out and "is read as text" not in separated.err
