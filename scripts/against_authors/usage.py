"""What commands make of an imported model: they translate, decide contrastive examples, probe, train on."""

import contextlib
import io
import json
import re
import subprocess
from pathlib import Path

import torch

import ctxmt_fairseq
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.data.context_options import flag
from scripts.against_authors import comparison as c

SENTENCES = sum(c.DOCUMENTS)
# Options of the architecture that fairseq-train takes from the sizes.
_FOLLOW = re.compile(
    r"_.*|arch|no_token.*|.*(output|input)_dim|.*learned_pos|.*_normalize_before|max_.*positions|"
    r"vector_dimension|contexts_per_sample"
)


def used(path):
    """Run the commands on ``path/out``, what ``ctxmt import`` made, and say what they found. MTCue's model
    reads vectors, which ``ctxmt embed`` makes first; the other commands find them in the data folder."""
    state = torch.load(path / "out" / "checkpoint.pt", weights_only=False)
    reads_vectors = state["cfg"]["task"]["_name"] == "metadata_context"
    out, text, data = str(path / "out"), str(path / "text"), str(path / "data")
    _write_text(path)
    languages = ("--source-lang", "en", "--target-lang", "fr", "--like", out, "--out", data)
    _run("preprocess", *languages, "--train", text, "--valid", text)
    if reads_vectors:
        _run("embed", data, "--train", text, "--valid", text, "--encoder", "minilm", "--cpu")
    given = ("--cpu", "--data", data)
    search = ("--docids", f"{text}.docids", "--output", f"{text}.hyp", "--beam", "2", "--max-len-b", "9")
    metadata = ("--contexts", f"{text}.meta.jsonl") if reads_vectors else ()
    _run("translate", out, f"{text}.en", *search, *metadata, *given)
    _run("contrast", out, str(path / "set.jsonl"), "--json", str(path / "contrast.json"), *given)
    _run("probe", out, text, "--json", str(path / "probe.json"), *given)
    translated = len((path / "text.hyp").read_text().splitlines())
    decided = json.loads((path / "contrast.json").read_text())["examples"]
    first, last = _trained_on(path, state)
    assert translated == SENTENCES and last < first
    return f"translate {translated}, contrast {decided}, probe; training on: loss {first:.2f} to {last:.2f}"


def _run(*arguments):
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main([*arguments])
    assert code == 0, said.getvalue()


def _write_text(path):
    source, target = (
        [" ".join(f"w{token - 4}" for token in sentence.tolist()[:-1]) for sentence in side]
        for side in c.text()
    )
    ids = c.document_ids()
    columns = {"en": source, "fr": target, "docids": ids, "meta.jsonl": ['{"genre": "Drama"}'] * len(ids)}
    for end, column in columns.items():
        (path / f"text.{end}").write_text("".join(f"{line}\n" for line in column))
    examples = [
        {"id": str(at), "phenomenon": "word", "distance": 1, "context": "source-previous", "current": 1,
         "correct": 0, "source": source[at : at + 2],
         "targets": [target[at : at + 2], [target[at], f"{target[at + 1]} w0"]]}
        for at in range(3)
    ]  # fmt: skip
    (path / "set.jsonl").write_text("".join(f"{json.dumps(example)}\n" for example in examples))


def _trained_on(path, state):
    """The validation loss of the first and the last of some updates of fairseq-train."""
    model, context = vars(state["cfg"]["model"]), state["task_state"]["context"]
    command = [
        "fairseq-train", str(path / "data"), "--user-dir", str(Path(ctxmt_fairseq.__file__).parent),
        "--task", state["cfg"]["task"]["_name"], "--arch", model["arch"], *_flags(model), *_flags(context),
        "--finetune-from-model", str(path / "out" / "checkpoint.pt"), "--save-dir", str(path / "trained"),
        "--optimizer", "adam", "--lr", "0.003", "--max-update", "8", "--criterion", "cross_entropy", "--cpu",
        "--max-tokens", "500", "--num-workers", "0", "--log-format", "json", "--no-save",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    losses = re.findall(r'"valid_loss": "([0-9.]+)"', done.stderr + done.stdout)
    assert done.returncode == 0 and len(losses) > 1, done.stderr[-3000:]
    return float(losses[0]), float(losses[-1])


def _flags(options):
    """Options of a checkpoint as they are given to fairseq-train."""
    for name, value in options.items():
        if value is True:
            yield flag(name)
        elif type(value) in (str, int, float) and not _FOLLOW.fullmatch(name):
            yield from (flag(name), str(value))
