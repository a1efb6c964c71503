"""Every architecture on real subtitles: nothing that only generated text satisfies is taken for granted."""

import json
from pathlib import Path

import pytest

from tests.integration import test_metadata_commands as metadata
from tests.integration import test_multi_source_commands as multi_source
from tests.integration.commands import TASK, TINY, TRAINING, USER_DIR, losses, printed, read, run

PUBLIC = Path(__file__).parents[3] / "shared" / "data"
SET = PUBLIC / "contrastive" / "discourse-mt-en-fr" / "anaphora.json"
SIZES = {"train": 3000, "valid": 120}  # lines, and those that end the last document
SEARCH = ("--beam", 2, "--max-len-b", 20, "--cpu")
WINDOW = ("--source-context", 1, "--target-context", 1)
ARCHITECTURES = ("concat_transformer", *multi_source.MODELS, *metadata.MODELS)

pytestmark = pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public texts are not beside this checkout")


@pytest.fixture(scope="module")
def subtitles(once):
    """A folder with the text ``valid.*``, the data folder ``data`` and its context store."""

    def build(folder):
        for split, size in SIZES.items():
            files = {
                kind: read(PUBLIC / "en-fr-subtitles" / f"{split}.{kind}") for kind in ("en", "fr", "docids")
            }
            ids = files["docids"]
            while ids[size] == ids[size - 1]:
                size += 1
            for kind, lines in files.items():
                text = "".join(line + "\n" for line in lines[:size])
                (folder / f"{split}.{kind}").write_text(text, encoding="utf-8")
        text = ("--train", folder / "train", "--valid", folder / "valid", "--test", folder / "valid")
        languages = ("--source-lang", "en", "--target-lang", "fr", "--joint", "--vocab-size", 1000)
        run("ctxmt", "preprocess", *languages, *text, "--out", folder / "data")
        run(
            "ctxmt",
            "embed",
            folder / "data",
            *text,
            "--encoder",
            "discrete",
            "--out",
            folder / "data" / "contexts",
        )

    return once("subtitles", build)


def options(arch, subtitles):
    """Task, architecture, and its size and context."""
    if arch in metadata.MODELS:
        store = ("--context-store", subtitles / "data" / "contexts")
        return "--task", "metadata_context", "--arch", arch, *TINY, *store, "--source-context", 2
    if arch == "concat_transformer":
        return *TASK, "--arch", arch, *TINY, *WINDOW
    return *multi_source.kind(arch), *multi_source.MODELS[arch]


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_from_training_to_evaluation(arch, subtitles, tmp_path):
    data, valid = subtitles / "data", subtitles / "valid"
    count = len(read(f"{valid}.en"))
    for updates in (10, 20):
        log = run(
            *("fairseq-train", data, "--user-dir", USER_DIR, *options(arch, subtitles), *TRAINING),
            *("--max-tokens", 1000, "--max-update", updates, "--save-dir", tmp_path),
            "--no-epoch-checkpoints",
        )
        assert list(losses(log.stdout)) == list(range(updates - 9, updates + 1))
    model = tmp_path / "checkpoint_last.pt"

    done = run(
        *("fairseq-generate", data, "--user-dir", USER_DIR, "--path", model, "--gen-subset", "test", *SEARCH),
        *("--num-workers", 0, "--batch-size", 16, "--remove-bpe", "sentencepiece"),
    )
    assert f"Translated {count} sentences" in done.stdout + done.stderr
    assert sorted(printed(done.stdout, "H")) == list(range(count))

    text = (f"{valid}.en", "--docids", f"{valid}.docids", "--output", tmp_path / "translated.fr")
    run("ctxmt", "translate", model, *text, *SEARCH)
    assert len(read(tmp_path / "translated.fr")) == count

    lines = read(f"{valid}.en")[:5]
    done = run(
        *("fairseq-interactive", data, "--user-dir", USER_DIR, "--path", model, *SEARCH),
        input="".join(line + "\n" for line in lines),
    )
    assert sorted(printed(done.stdout, "H")) == list(range(len(lines)))

    run("ctxmt", "average", tmp_path, "--count", 1, "--around", "last", "--output", tmp_path / "mean.pt")
    run("ctxmt", "contrast", tmp_path / "mean.pt", SET, "--cpu", "--json", tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text())["examples"] == 200
