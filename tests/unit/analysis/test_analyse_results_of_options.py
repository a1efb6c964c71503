"""``ctxmt analyse results`` across annotated examples and options of trainings."""

import json
import statistics

import pytest

from tests.helpers.result_files import contrast, results, write_results
from tests.helpers.shown_results import analyse, shown, spread
from tests.helpers.training_logs import write_log

# ---- across few-shot settings ------------------------------------------------------------------------

FEW = [("MTCue", 30, 92.0), ("MTCue", 0, 80.25), ("MTCue", "all", 99.2), ("MTCue", 1, 84.0),
       ("tagging_$x", 1, 70.0), ("tagging_$x", 30, 85.0), ("tagging_$x", 30, 88.0),
       ("tagging_$x", 30, 91.0)]  # fmt: skip


def write_control(path, **changes):
    record = {"system": "MTCue", "setting": {"count": 5, "kept": 180}, "accuracy": 90.5, **changes}
    path.write_text(json.dumps(record))
    return path


def test_accuracy_by_the_number_of_annotated_examples(tmp_path, capsys):
    files = [
        write_control(tmp_path / f"{number}", system=system, setting={"count": count}, accuracy=accuracy)
        for number, (system, count, accuracy) in enumerate(FEW)
    ]
    outputs = ("--json", tmp_path / "j", "--output", tmp_path / "few.png")
    found, _ = shown(capsys, *files, "--across", "examples", *outputs)
    assert found == {
        "accuracy (%)": {
            "MTCue": {"0": "80.25", "1": "84.00", "30": "92.00", "all": "99.20"},
            "tagging_$x (3 runs)": {"0": "-", "1": "70.00 (1)", "30": spread((85, 88, 91)), "all": "-"},
        }
    }
    points = json.loads((tmp_path / "j").read_text())["points"]
    name = "annotated examples of each combination"
    assert [(point[name], point["value"], point["low"], point["high"]) for point in points[-2:]] == [
        (1, 70.0, None, None), (30, 88.0, 85.0, 91.0),
    ]  # fmt: skip
    found, _ = shown(capsys, f"mine={files[0]}", files[1], "--across", "examples")
    assert set(found["accuracy (%)"]) == {"mine", "MTCue"}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"setting": None}, "expected results across examples, found those across system"),
        ({"setting": 5}, "an object at the key 'setting'"),
        ({"setting": {}}, "the key 'count'"),
        ({"setting": {"count": -1}}, "0 or more"),
        ({"setting": {"count": "many"}}, "a whole number"),
        ({"accuracy": None}, "has no accuracy"),
        ({"system": 3}, "a string at the key 'system'"),
    ],
)
def test_other_results_of_control_are_refused(refusal, tmp_path, change, expected):
    path = write_control(tmp_path / "result.json", **change)
    line = refusal(analyse, path, "--across", "examples")
    assert str(path) in line and expected in line


def test_accuracies_without_a_setting_have_deviations_too(tmp_path, capsys):
    files = [
        write_control(tmp_path / f"{accuracy}.json", setting=None, accuracy=accuracy)
        for accuracy in (80.0, 90.0)
    ]
    found, _ = shown(capsys, *files, "--across", "system")
    assert found == {
        "accuracy (%)": {"accuracy (%) (2 runs)": {"MTCue": f"85.00 ± {statistics.stdev((80, 90)):.2f}"}}
    }


# ---- across an option of the training ----------------------------------------------------------------

DISCOUNTS = {"a": 1.0, "b": 0.0, "c": 0.01, "d": 0.01}
LOSSES = {"a": (7.0, 6.0), "b": (8.0, 8.5), "c": (5.0, 5.5), "d": (4.0, 4.5)}
ACCURACIES = {"a": [contrast(50.0)], "b": [contrast(1.0, 60.0)], "c": [contrast(70.0, 80.0)],
              "d": [contrast(90.0), contrast(0.0, 60.0, name="other")]}  # fmt: skip


@pytest.fixture
def trainings(tmp_path):
    """Four, of which two differ in nothing but the seed."""
    for name, losses in LOSSES.items():
        (tmp_path / name).mkdir()
        write_log(tmp_path / name / "train.log", losses=losses, ratios=(1, 1), discount=DISCOUNTS[name])
    return tmp_path


def test_losses_accuracies_and_shares_by_context_discount(trainings, tmp_path, capsys, refusal):
    contrasts = [tmp_path / f"{name}.json" for name in ACCURACIES]
    for path, content in zip(contrasts, ACCURACIES.values(), strict=True):
        path.write_text(json.dumps(content))
    models = [{"means": {"share, both": share}} for share in (0.5, 0.75, 0.625, 0.875)]
    (tmp_path / "shares").write_text(json.dumps({"models": models, "differences": []}))
    runs = [tmp_path / "a" / "train.log", tmp_path / "b", tmp_path / "c", tmp_path / "d"]
    beside = ("--beside", *contrasts, "--beside", tmp_path / "shares")
    outputs = ("--json", tmp_path / "j", "--output", tmp_path / "sweep.png")
    found, _ = shown(capsys, *runs, "--across", "context-discount", *beside, *outputs)
    assert found == {
        "best current_loss, valid (bits per token)": {
            "trainings (2 runs)": {"0": "8.000 (1)", "0.01": "4.500 ± 0.707", "1": "6.000 (1)"}
        },
        "set, accuracy, n = 4": {"trainings": {"0.01": "90.00", "1": "50.00"}},
        "set, Disc., n = 4": {"trainings": {"0": "60.00", "0.01": "80.00"}},
        "other, Disc., n = 4": {"trainings": {"0.01": "60.00"}},
        "accuracy of 2 sets": {"trainings": {"0.01": "75.00"}},
        "attention share (%)": {
            "trainings (2 runs)": {"0": "75.00 (1)", "0.01": spread((62.5, 87.5)), "1": "50.00 (1)"}
        },
    }
    points = json.loads((tmp_path / "j").read_text())["points"]
    shares = [tuple(point.values())[1:] for point in points if point["measure"] == "attention share (%)"]
    assert shares == [("trainings", 0, 75.0, None, None), ("trainings", 0.01, 75.0, 62.5, 87.5),
                      ("trainings", 1, 50.0, None, None)]  # fmt: skip
    assert (tmp_path / "sweep.png").stat().st_size > 5000
    across = ("--across", "context_discount")
    for files, count in ((["shares"], 4), (["a.json", "b.json"], 2)):
        line = refusal(analyse, *runs[:3], *across, "--beside", *(tmp_path / name for name in files))
        assert f"--beside: give 3 files, or one of 3 models; found {count}" in line


def test_accuracies_are_found_in_the_folders_of_trainings(trainings, capsys):
    for name, accuracy in {"a": 50.0, "b": 60.0, "c": 80.0, "d": 70.0}.items():
        write_results(trainings / name, results({"prefix": accuracy / 2}, {"set": contrast(accuracy)}))
    runs = [trainings / "a", trainings / "b" / "evaluation", *(f"seeds={trainings / name}" for name in "cd")]
    across = ("--across", "context_discount", "--metrics", "set", "loss")
    found, _ = shown(capsys, *runs, *across)
    assert found == {
        "set, accuracy, n = 4": {
            "trainings": {"0": "60.00", "0.01": "-", "1": "50.00"},
            "seeds (2 runs)": {"0": "-", "0.01": spread((80, 70)), "1": "-"},
        },
        "best loss, valid (bits per token)": {
            "trainings": {"0": "8.500", "0.01": "-", "1": "6.500"},
            "seeds (2 runs)": {"0": "-", "0.01": "5.000 ± 0.707", "1": "-"},
        },
    }


def test_a_training_without_its_log_or_the_option_is_refused(trainings, refusal):
    (trainings / "x").mkdir()
    line = refusal(analyse, trainings / "x", "--across", "contexts")
    assert "x: put the training's train.log, which tells contexts, into this folder" in line
    assert "expected the option seed with a number, found none" in refusal(
        analyse, trainings / "a", "--across", "seed"
    )
