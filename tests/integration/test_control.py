"""``ctxmt control`` through the shell: models with and without metadata, training on a few-shot setting."""

import json

import pytest

from tests.integration.commands import TINY, TRAINING, USER_DIR, read, refused, run

FORMAL = ["[F]Vous[/F] chantez souvent.", "[F]Votre[/F] chat dort.", "Il pleut."]
INFORMAL = ["[F]Tu[/F] chantes souvent.", "[F]Ton[/F] chat dort.", "Il pleut."]
SOURCE = ["You sing often.", "Your cat sleeps.", "It rains."]
SET = [
    {
        "source": "You were tired yesterday.",
        "attributes": {"addressee": "The addressee is a woman", "formality": "Formal conversation"},
        "expected": {"addressee": ["fatiguée"], "formality": ["Vous"]},
        "wrong": {"addressee": ["fatigué"], "formality": ["Tu"]},
    },
    {
        "source": "I was tired yesterday.",
        "attributes": {"speaker": "The speaker is a man"},
        "expected": {"speaker": ["fatigué"]},
        "wrong": {"speaker": ["fatiguée"]},
        "context": ["I am a man"],
    },
]
SENTENCES = {
    "addressee": {"The addressee is a woman": "I'm talking to a woman"},
    "formality": {"Formal conversation": "Formal"},
}


def write(path, lines):
    path.write_text("".join(line + "\n" for line in lines), "utf-8")
    return path


@pytest.fixture
def files(tmp_path):
    """Annotated references, the same without tags, sources, and a set with expected forms."""
    texts = {"formal": FORMAL, "informal": INFORMAL, "source": SOURCE}
    texts |= {
        f"{name}.plain": [line.replace("[F]", "").replace("[/F]", "") for line in texts[name]]
        for name in ("formal", "informal")
    }
    texts["set"] = list(map(json.dumps, SET))
    texts["sentences"] = [json.dumps(SENTENCES)]
    return {name: write(tmp_path / name, lines) for name, lines in texts.items()}


@pytest.fixture(scope="module")
def few_shot(once, corpus):
    """Few-shot settings 0, 2 and all of the demo corpus."""

    def build(folder):
        names = ("--attributes", "speaker,formality,addressee", "--counts", "0,2,all")
        done = run(
            "ctxmt", "control", "few-shot", corpus / "demo" / "train", *names, "--out", folder / "settings"
        )
        (folder / "table").write_text(done.stdout)

    return once("few_shot", build)


@pytest.fixture(scope="module")
def mtcue(once, data, few_shot, corpus):
    """A tiny MTCue trained on the setting 2, whose metadata is embedded beside the one data folder."""

    def build(folder):
        prefixes = ("--train", few_shot / "settings" / "2" / "train", "--valid", corpus / "demo" / "valid")
        run("ctxmt", "embed", data, *prefixes, "--encoder", "discrete", "--out", folder / "contexts")
        run(
            *("fairseq-train", data, "--user-dir", USER_DIR, "--task", "metadata_context", *TRAINING, *TINY),
            *("--arch", "mtcue_transformer", "--context-store", folder / "contexts", "--max-tokens", 1000),
            *("--save-dir", folder, "--max-update", 30, "--no-epoch-checkpoints", "--disable-validation"),
        )

    return once("control_mtcue", build) / "checkpoint_last.pt"


def formality(files, *options):
    references = ("--formal", files["formal"], "--informal", files["informal"])
    return run("ctxmt", "control", "formality", *options, *references)


# --- formality ---


def test_references_as_translations_are_right(files):
    plain = (files["formal.plain"], files["informal.plain"])
    done = formality(files, "--formal-hypotheses", plain[0], "--informal-hypotheses", plain[1])
    assert done.stdout.splitlines()[-1].split() == ["translations", "100.00", "100.00", "100.00"]


def test_a_model_with_metadata_is_asked_with_every_prompt(files, mtcue, tmp_path):
    result = tmp_path / "result.json"
    prompts = write(tmp_path / "prompts", ["formal\tGood day", "formal\tMadam", "informal\tHey you"])
    options = ("--prompts", prompts, "--json", result, "--cpu", "--beam", 2)
    done = formality(
        *(files, mtcue, "--source", files["source"], *options),
    )
    assert json.loads(result.read_text())["current_vector"] == "no"  # though it was trained with it
    runs = json.loads(result.read_text())["runs"]
    assert [(each["wanted"], each["prompt"]) for each in runs] == [
        *(("formal", None), ("informal", None), ("formal", "Good day"), ("formal", "Madam")),
        ("informal", "Hey you"),
    ]
    assert all(each["examples"] == 3 for each in runs)
    assert "best informal prompt: Hey you" in done.stdout and "%|" not in done.stderr


def test_a_model_without_metadata_has_no_prompts(files, sentence_level, tmp_path):
    model, result = sentence_level / "checkpoint_last.pt", tmp_path / "result.json"
    done = formality(files, model, "--source", files["source"], "--json", result, "--cpu", "--beam", 2)
    assert "reads no metadata" in done.stderr and "best" not in done.stdout
    assert [each["prompt"] for each in json.loads(result.read_text())["runs"]] == [None, None]


def test_refusals(files, sentence_level, tmp_path):
    references = ("--formal", files["formal"], "--informal", files["informal"])
    broken = write(tmp_path / "broken", [FORMAL[0], "[F]Votre chat dort.", FORMAL[2]])
    hypotheses = ("--formal-hypotheses", broken, "--informal-hypotheses", broken)
    command = ("ctxmt", "control", "formality")
    assert f"{broken}:2: [F] without [/F]" in refused(
        *command, *hypotheses, "--formal", broken, *references[2:]
    )
    model = (sentence_level / "checkpoint_last.pt", "--source", files["source"], "--cpu")
    prompts = write(tmp_path / "prompts", ["Sir"])
    assert "metadata_context" in refused(*command, *model, *references, "--prompts", prompts)


# --- attributes ---


def test_models_with_and_without_metadata(files, mtcue, sentence_level, tmp_path):
    result, examples = tmp_path / "result.json", tmp_path / "examples.jsonl"
    options = ("--cpu", "--beam", 2, "--json", result, "--examples", examples)
    done = run(
        *("ctxmt", "control", "attributes", mtcue, files["set"], "--sentences", files["sentences"], *options),
    )
    assert "no context %" in done.stdout
    content = json.loads(result.read_text())
    assert (
        content["plain"]["together"]["examples"]
        == content["together"]["examples"]
        == len(read(examples))
        == 2
    )
    plain = sentence_level / "checkpoint_last.pt"
    done = run("ctxmt", "control", "attributes", plain, files["set"], *options)
    assert "no context %" not in done.stdout and json.loads(result.read_text())["plain"] is None


# --- few-shot settings ---


def test_few_shot_settings_train_on_the_same_text(few_shot, mtcue, corpus):
    settings = few_shot / "settings"
    assert sorted(path.name for path in settings.iterdir()) == ["0", "2", "all"]
    kept = [json.loads((settings / name / "setting.json").read_text())["kept"] for name in ("0", "2", "all")]
    assert kept[0] == 0 < kept[1] < kept[2]
    for count in kept:
        assert f" {count} " in (few_shot / "table").read_text()
    written, given = (
        [json.loads(line) for line in read(folder / "train.meta.jsonl")]
        for folder in (settings / "all", corpus / "demo")
    )
    assert written == given
    assert mtcue.is_file()  # the store of the setting goes with the data folder of the whole text
