"""Each paper's prepare.sh from the files that people download, in small, and a training on what it makes."""

import json
import subprocess

import pytest
import results

from tests.integration import downloads
from tests.integration.commands import read, run
from tests.integration.recipes import FOCUSED, GATED, MTCUE, SHORTENING, THESIS, start

CORPORA = {  # what is downloaded, paper, corpus, row
    "voita2019": (downloads.voita, FOCUSED, "voita2019", "s2to2+shift+CD"),
    "iwslt focused": (downloads.iwslt, FOCUSED, "iwslt17", "base"),
    "gated": (downloads.opus, GATED, "opensubtitles", "next"),
    "voita2018": (downloads.voita, GATED, "voita2018", "previous"),
    "mtcue": (downloads.opus, MTCUE, "opensubtitles", "MTCUE"),
    "iwslt": (downloads.iwslt, SHORTENING, "iwslt17", "grouping-2"),
    "opensubtitles": (downloads.opus, THESIS, "opensubtitles", "DE"),
    "europarl": (downloads.opus, THESIS, "europarl", "CE+gate"),
    "wmt": (downloads.wmt, THESIS, "wmt", "src1tgt0_to_tgt0"),
    "wmt-clean": (downloads.wmt, THESIS, "wmt-clean", "src0tgt0_to_tgt0"),
}
UPDATES = ("--validate-every", 2, "--max-update", 2)
TRAINING = ("--profile", "small", "--gpus", 0, "--batch-tokens", 600, *UPDATES, "--", "--num-workers", 0)


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    sizes = ("--documents", 40, "--evaluation-documents", 3, "--examples", 4)
    run("ctxmt", "demo-corpus", folder / "text", *sizes)
    return downloads.documents_of(folder / "text" / "train")


@pytest.mark.slow
@pytest.mark.parametrize("name", CORPORA)
def test_from_downloads_to_training(documents, tmp_path, monkeypatch, forked_commands, name):
    make, paper, corpus, row = CORPORA[name]
    raw = tmp_path / "down loads"
    raw.mkdir()
    make(raw, documents)
    monkeypatch.chdir(tmp_path)
    options = ("--corpus", corpus, "--target-lang", "fr", "--vocab-size", 300, "--workers", 1)
    options += ("--encoders", "discrete") if paper == MTCUE else ()
    options += ("--held-out", "0.1") if paper in (GATED, THESIS) else ()
    assert start(paper / "prepare.sh", "text/train", "text/dev", "data", "--raw", raw, *options) == 0
    texts = {split: list(zip(read(f"text/{split}.en"), read(f"text/{split}.fr"), strict=True)) for split in
             ("train", "dev", "test")}  # fmt: skip
    known = {(" ".join(a.split()), " ".join(b.split())) for pairs in documents for a, b in pairs}
    for split, pairs in texts.items():
        assert pairs and (corpus == "voita2018" or {pair for pair in pairs if all(pair)} <= known), split
    counts = json.loads((tmp_path / "text" / "train.counts.json").read_text())
    assert counts["read"] == counts["kept"] + sum(counts["left_out"].values())
    if paper == MTCUE:
        assert json.loads(read("text/train.meta.jsonl")[0])["genre"] == "Drama"
        films = [{name.split("/")[1] for name in read(f"text/{split}.docids")} for split in ("dev", "test")]
        assert films[0] <= {"100", "102"} and films[1] <= {"101", "103"}  # those of the list with a record
        assert start(paper / "train.sh", "BASE", "data", "runs/BASE", *TRAINING) == 0
    assert start(paper / "train.sh", row, "data", "runs/row", *TRAINING) == 0
    assert (tmp_path / "runs" / "row" / "checkpoints" / "checkpoint_last.pt").is_file()
    monkeypatch.setenv("DRY_RUN", "1")
    assert start(paper / "evaluate.sh", "data", "runs/row", "text/test") == 0


@pytest.mark.slow
def test_from_downloads_to_the_table(documents, tmp_path, monkeypatch, forked_commands, capsys):
    """Focused concatenation from the files to the paper's numbers, with the scripts' vocabularies, too."""
    raw, row = tmp_path / "downloads", "s2to2+shift+CD"
    raw.mkdir()
    downloads.voita(raw, documents)
    downloads.suites(tmp_path / "suites", documents)
    monkeypatch.chdir(tmp_path)
    prepare = (FOCUSED / "prepare.sh", "text/train", "text/dev")
    options = ("--target-lang", "fr", "--workers", 1, "--lowercase", "yes")
    assert start(*prepare, "data", "--raw", raw, "--vocab-size", 300, *options) == 0
    assert start(FOCUSED / "train.sh", row, "data", f"runs/{row}", *TRAINING) == 0
    evaluate = (FOCUSED / "evaluate.sh", "data", f"runs/{row}", "text/test", "suites", "--tokenize", "none")
    assert (
        start(*evaluate, "--average", 1, "--beam", 1, "--max-len-b", 9, "--decoding", "window", "--cpu") == 0
    )
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        results.main([f"runs/{row}/evaluation", "--paper", "focused_concat:en-ru", "--check"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith(row)]
    columns = ["Deixis", "Lex-co.", "Ell-inf", "Ell-vp", "Disc.", "Disc_avg", "BLEU"]
    assert end.value.code == 1 and [line[1] for line in lines] == columns
    codes = []
    for language in ("en", "fr"):
        text = (raw / "context_agnostic" / f"{language}_train").read_text().lower()
        learned = subprocess.run(
            ("subword-nmt", "learn-bpe", "-s", "100"), input=text, capture_output=True, text=True
        )
        codes.append(tmp_path / f"codes.{language}")
        codes[-1].write_text(learned.stdout)
    program = (
        "--dictionaries",
        "separate",
        "--",
        "--bpe-codes-source",
        codes[0],
        "--bpe-codes-target",
        codes[1],
    )
    assert start(*prepare, "program", *options, *program) == 0
    assert {"dict.en.txt", "dict.fr.txt"} <= {path.name for path in (tmp_path / "program").iterdir()}


@pytest.mark.slow
def test_the_strong_model_reads_what_was_translated_back(documents, tmp_path, monkeypatch, forked_commands):
    """The README's way to table 6.10's strong rows; the model that translates back reads context."""
    raw = tmp_path / "downloads"
    raw.mkdir()
    downloads.wmt(raw, documents)
    news = [pair[1] for pair in documents[2]]
    downloads.write(raw / "news.fr", news)
    downloads.write(raw / "news.docids", ["a"] * 3 + ["b"] * (len(news) - 3))
    monkeypatch.chdir(tmp_path)
    languages = ("--source-lang", "en", "--target-lang", "fr")
    size = ("--vocab-size", 300, "--workers", 1)
    prepare = THESIS / "prepare.sh"
    assert (
        start(prepare, "text/train", "text/dev", "data", "--raw", raw, "--corpus", "wmt", *languages, *size)
        == 0
    )
    assert (
        start(prepare, "text/train", "text/dev", "back", "--source-lang", "fr", "--target-lang", "en", *size)
        == 0
    )
    assert start(THESIS / "train.sh", "src1tgt0_to_tgt0", "back", "weak/back", *TRAINING) == 0
    run(
        *("ctxmt", "translate", "weak/back/checkpoints/checkpoint_best.pt", raw / "news.fr", "--cpu"),
        *("--docids", raw / "news.docids", "--corpus", raw / "back-translated", "--max-len-b", 9),
    )
    strong = ("--raw", raw, "--corpus", "wmt-strong", *languages, *size)
    assert start(prepare, "more/train", "more/dev", "more-data", *strong) == 0
    weak, more = len(read("text/train.fr")), read("more/train.fr")
    assert more[:weak] == read("text/train.fr") and more[weak:] == news
    assert read("more/train.en")[weak:] == read(raw / "back-translated.en")
    assert read("more/train.docids")[weak:] == ["6.1/a"] * 3 + ["6.1/b"] * (len(news) - 3)
    for row in ("src0tgt0_to_tgt0", "CE+gate+pretrain+freeze"):
        assert start(THESIS / "train.sh", row, "more-data", f"strong/{row}", *TRAINING) == 0
    assert (tmp_path / "strong" / "CE+gate+pretrain+freeze" / "checkpoints" / "checkpoint_last.pt").is_file()


def test_what_is_not_there(refused):
    prepare = (THESIS / "prepare.sh", "text/train", "text/dev", "data", "--raw", "nowhere")
    assert "--corpus ted: expected one of opensubtitles, europarl, wmt, wmt-clean" in refused(
        *prepare, "--corpus", "ted"
    )
    assert "nowhere: no such folder; expected the downloaded files" in refused(*prepare, DRY_RUN="")
