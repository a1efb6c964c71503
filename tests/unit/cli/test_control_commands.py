"""``ctxmt control`` without a model: judging translations, settings, the picture, and refusals."""

import json
from unittest.mock import Mock, call

import pytest

from ctxmt_fairseq.cli.main import main, parser
from ctxmt_fairseq.cli.options.model import Model
from tests.helpers import shown_results
from tests.helpers.shown_results import shown

FORMAL = ["[F]Vous[/F] chantez souvent.", "[F]Votre[/F] chat dort.", "Il pleut."]
INFORMAL = ["[F]Tu[/F] chantes souvent.", "[F]Ton[/F] chat dort.", "Il pleut."]
SET = [
    {
        "source": "You were tired yesterday.",
        "attributes": {"addressee": "feminine", "formality": "formal"},
        "expected": {"addressee": ["fatiguée"], "formality": ["Vous"]},
        "wrong": {"addressee": ["fatigué"], "formality": ["Tu"]},
    },
    {
        "source": "I was tired yesterday.",
        "attributes": {"speaker": "masculine"},
        "expected": {"speaker": ["fatigué"]},
        "wrong": {"speaker": ["fatiguée"]},
    },
]


def write(path, lines):
    path.write_text("".join(line + "\n" for line in lines), "utf-8")
    return path


@pytest.fixture
def files(tmp_path):
    """Annotated references, the same without tags, and a set with expected forms."""
    texts = {"formal": FORMAL, "informal": INFORMAL, "set": list(map(json.dumps, SET))}
    for name in ("formal", "informal"):
        texts[f"{name}.plain"] = [line.replace("[F]", "").replace("[/F]", "") for line in texts[name]]
    return {name: write(tmp_path / name, lines) for name, lines in texts.items()}


@pytest.fixture
def control(capsys):
    """``control(...)`` runs the command in this process and returns what it prints."""

    def run(*arguments):
        main(["control", *map(str, arguments)])
        return capsys.readouterr().out

    return run


@pytest.fixture
def refused(refusal):
    """The one line with which the command refuses its arguments."""
    return lambda *arguments: refusal(main, ["control", *map(str, arguments)])


def hypotheses(formal, informal):
    return "--formal-hypotheses", formal, "--informal-hypotheses", informal


def references(files, **other):
    return "--formal", other.get("formal", files["formal"]), "--informal", files["informal"]


# --- models ---


@pytest.mark.parametrize("given, used", [(None, "no"), ("no", "no"), ("yes", "yes")])
def test_the_current_sentence_is_no_context_unless_asked_for(monkeypatch, given, used):
    """Also of a model that was trained with its vector; other models have no such option."""
    for reads in (True, False):
        model = Mock()
        model.loaded.reads_metadata = reads
        monkeypatch.setattr(Model, "load", lambda *_, to=model, **__: to)
        options = ["model.pt", "set.jsonl", *(["--current-vector", given] if given else [])]
        command = parser().command(["control", "attributes", *options])
        command.load()
        assert model.with_options.call_args == (call(current_vector=used) if reads else None)
        assert command.current_vector(model.loaded) == (used if reads else given)


# --- formality ---


def test_references_as_translations_are_right_and_swapped_ones_wrong(files, control, tmp_path):
    right, swapped, examples = (tmp_path / name for name in ("right.json", "swapped.json", "examples.jsonl"))
    formal, informal = files["formal.plain"], files["informal.plain"]
    outputs = ("--json", right, "--examples", examples, "--system", "references")
    control("formality", *hypotheses(formal, informal), *references(files), *outputs)
    printed = control("formality", *hypotheses(informal, formal), *references(files), "--json", swapped)
    assert "formal: translations 0.00 0 2 0 1" in " ".join(printed.split())
    results = [json.loads(path.read_text()) for path in (right, swapped)]
    assert [result["accuracy"] for result in results] == [100, 0]
    assert [result["system"] for result in results] == ["references", str(informal)]
    labels = [json.loads(line)["formality"] for line in examples.read_text().splitlines()]
    assert labels == ["formal", "formal", "neither", "informal", "informal", "neither"]


def test_several_files_count_as_one_set(files, control):
    formal, informal = files["formal.plain"], files["informal.plain"]
    twice = ("--formal", files["formal"], files["formal"], "--informal", files["informal"], files["informal"])
    translations = ("--formal-hypotheses", formal, formal, "--informal-hypotheses", informal, formal)
    printed = " ".join(control("formality", *translations, *twice).split())
    assert "formal: translations 100.00 4 0 0 2" in printed
    assert "informal: translations 50.00 2 2 0 2" in printed and "translations 100.00 50.00 75.00" in printed


def test_unspaced_phrases_are_found_inside_words(files, control, tmp_path):
    glued = write(tmp_path / "glued", ["AVous", "Votrechat", "x"])
    informal = files["informal.plain"]
    arguments = ("formality", *hypotheses(glued, informal), *references(files))
    assert "formal: translations - 0 0 0 3" in " ".join(control(*arguments).split())
    assert "formal: translations 100.00 2 0 0 1" in " ".join(control(*arguments, "--unspaced").split())


def test_formality_refuses_what_does_not_fit(files, refused, tmp_path):
    translations = hypotheses(files["formal.plain"], files["informal.plain"])
    broken = write(tmp_path / "broken", [FORMAL[0], "[F]Votre chat dort.", FORMAL[2]])
    short = write(tmp_path / "short", FORMAL[:2])
    either = "give either MODEL or --formal-hypotheses and --informal-hypotheses"
    for arguments, expected in (
        ((*translations, *references(files, formal=broken)), f"{broken}:2: [F] without [/F]"),
        ((*translations, *references(files, formal=short)), f"{short}:3: ends after 2 lines"),
        ((*hypotheses(short, short), *references(files)), f"{short}:3: ends after 2 lines"),
        (references(files), either),
        ((*translations[:2], *references(files)), either),
        (("model.pt", *translations, *references(files)), either),
        (("model.pt", *references(files)), "--source"),
        ((*translations, *references(files), "--source", files["formal"]), "--source"),
        ((*translations, *references(files), "--prompts", files["set"]), "--prompts: give a MODEL"),
        ((*translations, *references(files), "--setting", files["set"]), "expected JSON"),
        ((*translations, *references(files), "--json", tmp_path / "no" / "where"), "cannot be written"),
    ):
        assert expected in refused("formality", *arguments)


# --- attributes ---


def test_translations_are_judged_by_attribute(files, control, tmp_path):
    translations = write(tmp_path / "translations", ["Tu étais fatiguée hier.", "J'étais fatigué hier."])
    result = tmp_path / "result.json"
    control("attributes", "--hypotheses", translations, files["set"], "--json", result)
    content = json.loads(result.read_text())
    accuracies = {name: count["accuracy"] for name, count in content["attributes"].items()}
    assert accuracies == {"addressee": 100, "formality": 0, "speaker": 100}
    assert content["accuracy"] == pytest.approx(200 / 3) and content["together"]["right"] == 1
    assert content["plain"] is None


def test_attributes_refuses_what_does_not_fit(files, refused, tmp_path):
    short = write(tmp_path / "short", ["Tu étais fatiguée hier."])
    assert f"{short}:2: ends after 1 lines" in refused("attributes", "--hypotheses", short, files["set"])
    assert "give either MODEL or --hypotheses" in refused("attributes", files["set"])
    both = ("attributes", "model.pt", files["set"], "--hypotheses", short)
    assert "give either MODEL or --hypotheses" in refused(*both)
    sentences = ("attributes", "--hypotheses", short, files["set"], "--sentences", files["set"])
    assert "--sentences needs a MODEL" in refused(*sentences)


# --- few-shot settings and the picture ---


@pytest.fixture
def settings(tmp_path, control):
    rows = [{"speaker": name} for name in "fmmmmm"] + [{}]
    write(tmp_path / "train.meta.jsonl", map(json.dumps, rows))
    out = tmp_path / "settings"
    table = control(
        *("few-shot", tmp_path / "train", "--attributes", "speaker", "--counts", "0,2,all", "--out", out),
    )
    assert [line.split() for line in table.splitlines()[2:]] == [
        ["0", "0", "2", "2", "0.00", "7"],
        ["2", "3", "2", "1", "50.00", "7"],
        ["all", "6", "2", "2", "100.00", "7"],
    ]
    return out


def test_accuracy_is_drawn_against_the_setting(files, settings, control, capsys, tmp_path, refusal):
    results = []
    lines = {"0": "Tu étais fatigué hier.", "2": "Tu étais fatiguée hier.", "all": "Vous étiez fatiguée."}
    for name, line in lines.items():
        translations = write(tmp_path / f"{name}.fr", [line, "J'étais fatigué hier."])
        results.append(tmp_path / f"{name}.json")
        control(
            *("attributes", "--hypotheses", translations, files["set"], "--json", results[-1]),
            *("--setting", settings / name / "setting.json", "--system", "demo"),
        )
    across = ("--across", "examples", "--output", tmp_path / "curve.png")
    found, _ = shown(capsys, *results, *across)
    assert found == {"accuracy (%)": {"demo": {"0": "33.33", "2": "66.67", "all": "100.00"}}}
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert ".png" in refusal(shown_results.analyse, *results, *across[:-1], tmp_path / "curve.pdf")
    setting = settings / "2" / "setting.json"
    assert "setting.json: expected what ctxmt evaluate" in refusal(shown_results.analyse, setting, *across)


def test_sentences_replace_the_kept_attributes(tmp_path, control, refused):
    write(tmp_path / "train.meta.jsonl", ['{"speaker": "f"}', "{}"])
    sentences = write(tmp_path / "sentences.json", ['{"speaker": {"f": "I am a woman"}}'])
    options = ("few-shot", tmp_path / "train", "--counts", 1, "--sentences", sentences)
    control(*options, "--attributes", "speaker", "--out", tmp_path / "out")
    written = (tmp_path / "out" / "1" / "train.meta.jsonl").read_text()
    assert written == '{"speaker": "I am a woman"}\n{}\n'
    assert "some for 'speaker'" in refused(*options, "--attributes", "formality", "--out", tmp_path / "other")


@pytest.mark.parametrize(
    "change",
    [("--counts", ""), ("--counts", "1,x"), ("--counts", "1,1"), ("--counts", "-1"), ("--counts", "1,,5")]
    + [("--counts", "9" * 5000)]
    + [("--attributes", "speaker,speaker"), ("--attributes", ",")],
)
def test_few_shot_refuses_other_choices(tmp_path, refused, change):
    write(tmp_path / "train.meta.jsonl", ['{"speaker": "f"}'])
    options = {"--counts": "1", "--attributes": "speaker", "--out": tmp_path / "out", **dict([change])}
    arguments = [f"{name}={value}" for name, value in options.items()]
    assert change[0] in refused("few-shot", tmp_path / "train", *arguments)
    assert not (tmp_path / "out").exists()
