"""``ctxmt translate``: the same lines whatever the layout, the batches and the interruptions."""

import contextlib
import json
import os
import signal
import subprocess
import time

import pytest

from ctxmt_fairseq.base.drafts import Lock
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.text_rows import TextFiles
from tests.integration.commands import ENVIRONMENT, USER_DIR, command, printed, read, refused, run
from tests.unit.base.test_output_files import reader

SEARCH = ("--beam", 2, "--max-len-b", 20, "--cpu")
REFERENCE = ("--context-selection", "reference")


@pytest.fixture(scope="module")
def translation(once, last, text):
    """43 lines, sentence by sentence, one document after the other."""

    def build(folder):
        run("ctxmt", "translate", last, *text, *SEARCH, "--documents-at-once", 1, "--output", folder / "out")

    return read(once("translation", build) / "out")


def test_documents_side_by_side_give_the_same_lines(translation, last, text):
    assert len(translation) == 43 and all(translation) and len(set(translation)) > 5
    done = run("ctxmt", "translate", last, *text, *SEARCH, "--documents-at-once", 16)
    assert done.stdout.splitlines() == translation
    assert "wrong number" not in done.stderr and "%|" not in done.stderr  # nothing to tell of a forced prefix


def test_blank_lines_between_documents(translation, last, corpus, tmp_path):
    sources, ids = read(corpus / "test2.en"), read(corpus / "test2.docids")
    lines, expected = [""], [""]
    for line, name in enumerate(ids):
        if line and name != ids[line - 1]:
            lines += ["", ""]
            expected += ["", ""]
        lines.append(sources[line])
        expected.append(translation[line])
    (tmp_path / "in").write_text("".join(line + "\n" for line in lines))
    done = run("ctxmt", "translate", last, tmp_path / "in", *SEARCH, "--output", tmp_path / "out")
    assert read(tmp_path / "out") == expected and "are one document" not in done.stderr
    (tmp_path / "in").write_text("\n".join(sources[:3]) + "\n")
    done = run("ctxmt", "translate", last, tmp_path / "in", *SEARCH)
    assert "in: neither --docids nor blank lines: all 3 lines are one document" in done.stderr


def test_json_lines_scores_and_context_only_lines(translation, last, corpus, tmp_path):
    context_only = {0, 3, 42}
    records = [
        {"source": source, "document": name, "current": line not in context_only, "speaker": "ž"}
        for line, (source, name) in enumerate(
            zip(read(corpus / "test2.en"), read(corpus / "test2.docids"), strict=True)
        )
    ]
    (tmp_path / "in").write_text("".join(json.dumps(record) + "\n" for record in records))
    done = run("ctxmt", "translate", last, tmp_path / "in", "--json-lines", "--scores", *SEARCH)
    found = list(map(json.loads, done.stdout.splitlines()))
    assert '"ž"' in done.stdout and all(each.pop("score") < 0 for each in found if each["current"])
    added = [{} if line in context_only else {"translation": text} for line, text in enumerate(translation)]
    assert found == [{**record, **more} for record, more in zip(records, added, strict=True)]


def test_subtitles_tables_and_prose(translation, last, corpus, tmp_path):
    """One sentence each: the translations are those of the lines."""
    sources, ids = read(corpus / "test2.en"), read(corpus / "test2.docids")
    films = {}
    for name, texts in (("in.srt", sources), ("expected", translation)):
        cues, now = [], 0
        for line, text in enumerate(texts):
            now += 60 if line and ids[line] != ids[line - 1] else 1
            second = f"00:{now // 60:02}:{now % 60:02}"
            cues.append(f"{line + 1}\n{second},000 --> {second},900\n{text}\n")
        films[name] = "\n".join(cues)
    (tmp_path / "in.srt").write_text(films["in.srt"])
    (tmp_path / "in.tsv").write_text("text\tid\n" + "".join(map("{}\t{}\n".format, sources, ids)))
    (tmp_path / "in.txt").write_text(" ".join(sources[:3]) + "\n")
    run("ctxmt", "translate", last, tmp_path / "in.srt", *SEARCH, "--output", tmp_path / "out.srt")
    assert (tmp_path / "out.srt").read_text() == films["expected"]
    columns = ("--source-column", "text", "--document-column", "id")
    done = run("ctxmt", "translate", last, tmp_path / "in.tsv", *columns, *SEARCH)
    assert [row.split("\t")[2] for row in done.stdout.splitlines()] == ["translation", *translation]
    done = run("ctxmt", "translate", last, tmp_path / "in.txt", "--split", "sentences", *SEARCH)
    assert done.stdout == " ".join(translation[:3]) + "\n" and "one document" not in done.stderr
    line = refused("ctxmt", "translate", last, tmp_path / "in.srt", "--scores", *SEARCH)
    assert line.endswith("leave out --contexts, --target-context-from, --corpus, --scores")


def test_standard_input_and_output(translation, last, text, corpus, tmp_path):
    sources, ids = read(corpus / "test2.en"), read(corpus / "test2.docids")
    first = [line for line, name in enumerate(ids) if name == ids[0]]
    second = [line for line, name in enumerate(ids) if name == ids[first[-1] + 1]]
    documents = ["".join(sources[line] + "\n" for line in lines) for lines in (first, second)]
    done = run("ctxmt", "translate", last, "-", *SEARCH, input="\n".join(documents))
    expected = [[translation[line] for line in lines] for lines in (first, second)]
    assert done.stdout.splitlines() == [*expected[0], "", *expected[1]]
    whole = ("ctxmt", "translate", last, "-", *text[1:], *SEARCH, "--output", "-")
    assert run(*whole, input="".join(line + "\n" for line in sources)).stdout.splitlines() == translation
    both = refused("ctxmt", "translate", last, "-", "--docids", "-")
    assert (
        both == "ctxmt: error: - is standard input, which only one option can read: give files for the others"
    )


def test_bfloat16(last, corpus, tmp_path):
    (tmp_path / "in").write_text("".join(f"{line}\n" for line in read(corpus / "test2.en")[:10]))
    options = (tmp_path / "in", *SEARCH[:-1], "--device", "cpu", "--threads", 1, "--scores")
    plain, half = (
        run("ctxmt", "translate", last, *options, *more).stdout.splitlines() for more in ((), ("--bf16",))
    )
    scores = [[float(line.split("\t")[0]) for line in lines] for lines in (plain, half)]
    assert len(half) == 10 and scores[0] != scores[1]
    assert sum(abs(one - other) < 0.05 for one, other in zip(*scores, strict=True)) > 7


def test_eight_bits(translation, last, text):
    options = (*text, *SEARCH[:-1], "--cpu", "--quantization", "int8")
    done = run("ctxmt", "translate", last, *options)
    same = [one == other for one, other in zip(done.stdout.splitlines(), translation, strict=True)]
    assert sum(same) > 20 and not done.stderr.count("Warning")
    said = refused("ctxmt", "translate", last, *options, "--bf16")
    assert said == "ctxmt: error: give --bf16 or --quantization, one of them"


def test_killed_and_resumed_gives_the_same_file(translation, last, text, tmp_path):
    output, journal = tmp_path / "out", tmp_path / "out.partial"
    arguments = ("ctxmt", "translate", last, *text, *SEARCH, "--documents-at-once", 1, "--output", output)
    process = subprocess.Popen(command(*arguments), env=ENVIRONMENT, start_new_session=True)
    while not (journal.exists() and journal.read_bytes().count(b"\n") > 8):
        assert process.poll() is None
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not output.exists()

    others = tuple(3 if argument == 2 else argument for argument in arguments)  # another beam
    before = journal.read_bytes()
    assert str(journal) in refused(*others) and "another run" in refused(*others)
    assert journal.read_bytes() == before and not output.exists()

    done = before.count(b"\n") - 1
    with open(journal, "ab") as stream:
        stream.write(b'{"line": 40, "tok')  # as if killed while writing
    run(*arguments)
    assert read(output) == translation and 8 <= done < 43
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_pipes_and_links_stay_and_a_second_run_is_told(translation, last, text, tmp_path, capsys):
    from ctxmt_fairseq.cli.main import main  # in this process: three runs in the time of one

    def translate(output):
        options = (last, *text, *SEARCH, "--documents-at-once", 16, "--output", tmp_path / output)
        return main(["translate", *map(str, options)])

    whole = "".join(line + "\n" for line in translation)
    os.mkfifo(tmp_path / "fifo")
    with reader(tmp_path / "fifo") as found:
        translate("fifo")
    assert found == [whole.encode()] and (tmp_path / "fifo").is_fifo()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real.partial").write_text('{"run": "of the first"}\n')
    with contextlib.closing(Lock(tmp_path / "real.partial")), pytest.raises(SystemExit):
        translate("link")
    assert "real.partial: another ctxmt is writing to it" in capsys.readouterr().err
    (tmp_path / "real.partial").unlink()
    translate("link")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fifo", "link", "real"]


def test_back_translation(translation, last, text, corpus, tmp_path, monkeypatch, refusal):
    """Text in English becomes the target side of a corpus whose source side is synthetic French."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    arguments = [str(word) for word in ("translate", last, *text, *SEARCH)]
    prefix = tmp_path / "synthetic"
    assert main([*arguments, "--corpus", str(prefix), "--tag", "<BT>", "--mark", "origin=synthetic"]) == 0
    assert read(f"{prefix}.fr") == [f"<BT> {line}" for line in translation]
    rows = list(TextFiles(str(prefix), "fr", "en").pairs())  # what ctxmt preprocess and ctxmt corpus mix read
    assert [row.target for row in rows] == read(corpus / "test2.en")
    assert [row.document for row in rows] == read(corpus / "test2.docids")
    assert all(row.metadata == {"origin": "synthetic"} for row in rows)
    assert {path.name for path in tmp_path.iterdir()} == {
        f"synthetic.{end}" for end in ("fr", "en", "docids", "meta.jsonl")
    }
    (tmp_path / "synthetic.current").write_text("0\n" * 43)  # of another corpus
    (tmp_path / "real.en").symlink_to(corpus / "test2.en")
    assert main([*arguments, "--corpus", str(prefix), "--tag", "<BT>"]) == 0
    assert [row.metadata for row in TextFiles(str(prefix), "fr", "en").pairs()] == [{}] * 43
    assert not {path.name for path in tmp_path.iterdir()} & {"synthetic.current", "synthetic.meta.jsonl"}
    assert main([*arguments, "--corpus", str(tmp_path / "real"), "--mark", "origin=real"]) == 0
    assert (tmp_path / "real.en").is_symlink() and read(tmp_path / "real.fr") == translation
    (tmp_path / "other.meta.genre").write_text("drama\n" * 43)
    for more, message in (
        (("--corpus", str(tmp_path / "other")), "other.meta.genre: belongs to another corpus"),
        (("--tag", "x"), "--tag and --mark need --corpus"),
        (("--corpus", "c", "--scores"), "--corpus needs --docids; leave out --output and --scores"),
        (("--corpus", "c", "--mark", "x"), "--mark x: expected FIELD=TEXT"),
        (("--corpus", "c", "--docids", "-"), "--corpus reads --docids twice: give a file"),
    ):
        assert message in refusal(main, [*arguments, *more])


def test_given_target_context(translation, last, text, corpus):
    references = read(corpus / "test2.fr")
    arguments = ("ctxmt", "translate", last, *text, *SEARCH, "--target-context-from")
    from_file = run(*arguments, corpus / "test2.fr").stdout.splitlines()
    assert len(from_file) == 43 and from_file != translation
    ids = read(corpus / "test2.docids")
    for line in range(43):  # without context nothing can differ
        if line == 0 or ids[line] != ids[line - 1]:
            assert from_file[line] == translation[line]
    corrections = "".join(line + "\n" for line in references)
    assert run(*arguments, "-", input=corrections).stdout.splitlines() == from_file
    assert run(*arguments, "-", input="\n" * 20).stdout.splitlines() == translation  # all accepted
    assert refused(*arguments, "-", input="Un\0\n").endswith("error: -:1: expected text, found a NUL byte")


def test_window_decoding_is_that_of_fairseq_generate(translation, last, text, data):
    done = run("ctxmt", "translate", last, *text, *SEARCH, "--decoding", "window")
    assert " of 43 windows were translated with a wrong number of separators" in done.stderr
    found = done.stdout.splitlines()
    stdout = run(
        *("fairseq-generate", data, "--user-dir", USER_DIR, "--path", last, "--gen-subset", "test2"),
        *("--remove-bpe", "sentencepiece", "--num-workers", 0, *SEARCH, "--decoding", "window"),
    ).stdout
    expected = printed(stdout, "H")
    assert found == [expected[line][0] for line in range(43)]
    assert found != translation


def test_ensembles(translation, s2to2, source_only, text, last):
    (earlier,) = s2to2.glob("checkpoint_*_80.pt")
    both = run("ctxmt", "translate", f"{earlier}:{last}", *text, *SEARCH).stdout.splitlines()
    assert len(both) == 43 and both != translation
    members = f"{last}:{source_only / 'checkpoint_last.pt'}"
    assert "--target-context: the checkpoints have " in refused("ctxmt", "translate", members, *text, *SEARCH)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"docids": "a\n"}, "in.ids: expected 2 document ids"),
        ({"docids": "a\n\n"}, "in.ids:2: expected a document id"),
        ({"text": b"\xff\n\n"}, "in:1: expected UTF-8"),
        ({"model": b"no checkpoint"}, "model.pt: is no checkpoint"),
        ({"options": ("--beam", 0)}, "argument --beam: expected a whole number from 1 to 1000"),
        ({"options": REFERENCE}, "--context-selection reference needs --target-c"),
        ({"context": "only one\n"}, "context: expected 2 lines"),
        ({"options": ("--target-context-from", "context", "--decoding", "window")}, "--target-context-from"),
    ],
)
def test_bad_input_is_refused_with_one_line(last, tmp_path, monkeypatch, refusal, change, message):
    from ctxmt_fairseq.cli.main import main  # in this process: eight refusals in the time of one

    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").write_bytes(change.get("text", b"one\ntwo\n"))
    (tmp_path / "in.ids").write_text(change.get("docids", "a\na\n"))
    (tmp_path / "context").write_text(change.get("context", "un\ndeux\n"))
    (tmp_path / "model.pt").write_bytes(change.get("model", b""))
    options = ["--target-context-from", "context"] if "context" in change else change.get("options", ())
    model = "model.pt" if "model" in change else last
    before = sorted(tmp_path.iterdir())
    arguments = ["translate", model, "in", "--docids", "in.ids", "--output", "out", "--cpu", *options]
    assert refusal(main, list(map(str, arguments))).startswith("ctxmt: error: " + message)
    assert sorted(tmp_path.iterdir()) == before
