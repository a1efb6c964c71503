"""A model of lower-cased text reads "THE CAT" as "the cat", whichever command runs it."""

import io
import json
import shutil

import pytest

from ctxmt_fairseq.cli.main import main
from tests.helpers.context_stores import contents
from tests.integration.commands import TINY, TRAINING, USER_DIR, printed, read, run

CHANGES = {"lower": str.lower, "upper": str.upper}
SEARCH = ("--beam", 2, "--max-len-b", 20, "--cpu")


def ctxmt(*arguments):
    main([str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(once, corpus):
    """``text/{lower,upper}.*`` with 30 sentences, ``data`` of lower-cased text, and ``model``, which reads
    sentences as tokens and as vectors that differ if a letter does."""

    def build(root):
        demo = corpus / "demo"
        (root / "text").mkdir()
        for (name, change), language in ((each, x) for each in CHANGES.items() for x in ("en", "fr")):
            lines = [change(line) for line in read(demo / f"test.{language}")[:30]]
            (root / "text" / f"{name}.{language}").write_text("".join(line + "\n" for line in lines))
            ids = read(demo / "test.docids")[:30]
            (root / "text" / f"{name}.docids").write_text("".join(line + "\n" for line in ids))
        text = ("--train", demo / "train", "--test", root / "text" / "upper")
        languages = ("--source-lang", "en", "--target-lang", "fr")
        ctxmt("preprocess", *languages, *text, "--vocab-size", 300, "--lowercase", "--out", root / "data")
        for name in CHANGES:
            text = ("--train", demo / "train", "--test", root / "text" / name)
            ctxmt("embed", root / "data", *text, "--encoder", "discrete", "--out", root / name)
        shutil.copytree(root / "lower", root / "data" / "contexts")
        run(
            *("fairseq-train", root / "data", "--user-dir", USER_DIR, "--task", "metadata_context", *TINY),
            *("--arch", "mtcue_transformer", "--source-context", 2, "--target-context", 1, *TRAINING),
            *("--max-tokens", 800, "--save-dir", root / "model", "--max-update", 60),
            *("--no-epoch-checkpoints", "--disable-validation"),
        )

    return once("lowercase", build)


@pytest.fixture(scope="module")
def model(folder):
    return folder / "model" / "checkpoint_last.pt"


@pytest.fixture(scope="module")
def cased(folder):
    """The data folder without its text step: what differs with it shows that the step is needed."""
    copy = folder / "cased"
    if not copy.exists():
        shutil.copytree(folder / "data", copy)
        description = {**json.loads((copy / "ctxmt.json").read_text()), "text_steps": []}
        (copy / "ctxmt.json").write_text(json.dumps(description))
    return copy


def test_embed(folder):
    assert contents(folder / "upper") == contents(folder / "lower")


@pytest.fixture
def translate(folder, model, capsys):
    """``translate(name, ...)``: the lines that the command prints for ``text/name``, with their scores."""

    def run_command(name, *options):
        text = folder / "text" / name
        main(
            list(
                map(str, ["translate", model, f"{text}.en", "--docids", f"{text}.docids", *SEARCH, *options])
            )
        )
        return capsys.readouterr().out.splitlines()

    return run_command


def test_translate(translate, caplog):
    lower, upper = (translate(name, "--scores") for name in CHANGES)
    assert lower == upper and len(set(lower)) > 5
    assert not caplog.records


def test_target_context_from_a_file(translate, folder, cased, caplog):
    given = {name: ("--scores", "--target-context-from", folder / "text" / f"{name}.fr") for name in CHANGES}
    lower, upper = (translate(name, *given[name]) for name in CHANGES)
    assert lower == upper and lower != translate("lower", "--scores")
    assert not caplog.records
    assert translate("lower", *given["lower"], "--data", cased) == lower
    assert not caplog.records
    assert translate("upper", *given["upper"], "--data", cased) != upper
    messages = [record.getMessage() for record in caplog.records]
    text = folder / "text" / "upper"
    assert [message.partition(": ")[0] for message in messages] == [
        f"{text}.en, source",
        f"{text}.fr, target",
    ]
    assert all("capitals, where the vocabulary is lower-cased" in message for message in messages)


def test_corrections_of_a_post_editor(translate, folder, monkeypatch):
    found = []
    for change in CHANGES.values():
        corrections = "".join(change(line) + "\n" for line in read(folder / "text" / "lower.fr"))
        monkeypatch.setattr("sys.stdin", io.StringIO(corrections))
        found.append(translate("lower", "--target-context-from", "-"))
    assert found[0] == found[1]


def test_contrast(folder, model, cased, tmp_path, caplog, corpus):
    examples = [json.loads(line) for line in read(corpus / "demo" / "contrastive" / "formality.jsonl")]
    found = {}
    for name, change in CHANGES.items():
        lines = [json.dumps(_changed(example, change)) for example in examples]
        (tmp_path / f"{name}.jsonl").write_text("".join(line + "\n" for line in lines))
        command = ("contrast", model, tmp_path / f"{name}.jsonl", "--cpu", "--examples", tmp_path / "scores")
        ctxmt(*command)
        found[name] = [json.loads(line)["scores"] for line in read(tmp_path / "scores")]
        assert not caplog.records
    ctxmt(*command, "--data", cased)
    assert found["upper"] == found["lower"]
    assert found["upper"] != [json.loads(line)["scores"] for line in read(tmp_path / "scores")]
    assert [record.getMessage().partition(": ")[0] for record in caplog.records] == [
        "upper, source",
        "upper, target",
    ]


def _changed(record, change):
    """An example with its sentences changed; metadata and names stay."""
    text = ("source", "targets")
    return {key: _all(value, change) if key in text else value for key, value in record.items()}


def _all(value, change):
    if isinstance(value, dict):
        return {key: _all(each, change) for key, each in value.items()}
    return [_all(each, change) for each in value] if isinstance(value, list) else change(value)


def test_interactive_and_the_warning_on_stderr(folder, model, cased):
    lines = read(folder / "text" / "lower.en")[:4]
    typed = [*lines, "", *map(str.upper, lines)]
    subwords = ("--bpe", "sentencepiece", "--sentencepiece-model", folder / "data" / "spm.model")
    done = run(
        *(
            "fairseq-interactive",
            folder / "data",
            "--user-dir",
            USER_DIR,
            "--path",
            model,
            *SEARCH,
            *subwords,
        ),
        input="".join(line + "\n" for line in typed),
    )
    found = printed(done.stdout, "H")
    assert [found[line] for line in range(4)] == [found[line] for line in range(5, 9)]
    assert len({texts[0] for texts in found.values()}) > 1
    text = folder / "text" / "upper"
    done = run(
        "ctxmt", "translate", model, f"{text}.en", "--docids", f"{text}.docids", *SEARCH, "--data", cased
    )
    (line,) = [line for line in done.stderr.splitlines() if "unknown to the vocabulary" in line]
    assert f"{text}.en, source: " in line and "the likely cause: capitals" in line
