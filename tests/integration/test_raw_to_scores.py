"""Raw samples of every corpus, made after its description: corpus, data folder, 20 updates, scores."""

import json
import math

import pytest
import torch

from tests.fuzz.corpus_commands import CORPUS_COMMANDS
from tests.fuzz.raw_corpora import raw_corpora
from tests.integration.commands import TASK, TINY, TRAINING, USER_DIR, read, run

COMMANDS = {
    each.name.removeprefix("corpus "): each.arguments
    for each in CORPUS_COMMANDS
    if each.inputs.startswith(("raw", "public/"))
    and not each.name.startswith(("corpus filter", "corpus films"))
}
METADATA = {  # fields that the samples' files have, with a value
    "opensubtitles": {"year": "2001", "genre": "Comedy, Drama", "country": "USA", "duration": "00:00:05,000"},
    "ted": {"genre": "lectures", "speaker": "A B", "title": "A talk & more", "keywords": "talks, culture"},
    "wmt": {"genre": "news", "origlang": "en"},
    "wmt xml": {"domain": "news", "origlang": "en"},
    "europarl": {"speaker": "President"},
    "records wmt24pp": {"domain": "news"},
}


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    folder = tmp_path_factory.mktemp("raw")
    for name, content in raw_corpora().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    for language in ("en", "fr"):
        (folder / f"text.{language}").write_text("A.\n" * 8)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_from_raw_files_to_scores(raw, tmp_path, monkeypatch, forked_commands, name):
    monkeypatch.chdir(raw)
    words = COMMANDS[name]
    source, target = (words[words.index(f"--{side}-lang") + 1] for side in ("source", "target"))
    text = tmp_path / "new"
    run("ctxmt", *(tmp_path / word if word in ("new", "marks") else word for word in words))
    languages = ("--source-lang", source, "--target-lang", target)
    splits = ("--train", text, "--valid", text)
    run("ctxmt", "preprocess", *languages, *splits, "--no-subwords", "--out", tmp_path / "data")
    described = METADATA.get(name)
    if described:
        assert any(described.items() <= json.loads(line).items() for line in read(f"{text}.meta.jsonl"))
    train = ("--save-dir", tmp_path, "--max-update", 20, "--max-tokens", 400, "--no-epoch-checkpoints")
    if name == "opensubtitles":  # MTCue, with the metadata that the subtitles themselves have
        run("ctxmt", "embed", tmp_path / "data", *splits, "--encoder", "discrete")
        task = ("--user-dir", USER_DIR, "--task", "metadata_context", "--arch", "mtcue_transformer")
        store = json.loads((tmp_path / "data" / "contexts" / "store.json").read_text())
        assert set(store["fields"]) == set(described)
        run("fairseq-train", tmp_path / "data", *task, *TINY, *TRAINING, *train)
    else:
        windows = ("--arch", "concat_transformer", "--source-context", 2, "--window-tokens", 30)
        if (
            name == "scat"
        ):  # attention is drawn to what its people marked, and the other split is a contrastive set
            windows += (
                "--target-context",
                1,
                "--attention-highlights",
                tmp_path / "marks",
                "--attention-weight",
                1,
            )
        run("fairseq-train", tmp_path / "data", *TASK, *TINY, *TRAINING, *train, *windows)
        saved = torch.load(tmp_path / "checkpoint_last.pt", weights_only=False)["task_state"]["context"]
        assert saved["window_tokens"] == 30
    more = (
        "--docids",
        f"{text}.docids",
        "--output",
        tmp_path / "hyp",
        "--cpu",
        "--beam",
        1,
        "--max-len-b",
        9,
    )
    more += ("--contexts", f"{text}.meta.jsonl") if name == "opensubtitles" else ()
    run("ctxmt", "translate", tmp_path / "checkpoint_last.pt", f"{text}.{source}", *more)
    run("ctxmt", "score", tmp_path / "hyp", f"{text}.{target}", "--json", tmp_path / "scores.json")
    if name == "scat":
        run("ctxmt", "contrast", tmp_path / "checkpoint_last.pt", raw / "raw" / "scat" / "test.en", "--cpu")
    bleu = json.loads((tmp_path / "scores.json").read_text())
    assert math.isfinite(sum(value for value in bleu.values() if isinstance(value, float)))
