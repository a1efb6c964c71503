"""What systems are called: NAME=PATH, folders of trainings, names with "=" in them."""

from ctxmt_fairseq.analysis.system_names import named_paths


def test_names_of_systems(tmp_path):
    odd = tmp_path / "s4+CD=0.1"
    odd.mkdir()
    assert named_paths([str(odd)]) == [("s4+CD=0.1", str(odd))]
    assert named_paths([f"s4+CD=1={odd}"]) == [("s4+CD=1", str(odd))]
    assert named_paths([f"s4={odd}", "b=missing"]) == [("s4", str(odd)), ("b", "missing")]
    assert [name for name, _ in named_paths(["r/a/train.log", "r/b/evaluation", "N=x"])] == ["a", "b", "N"]
    assert [name for name, _ in named_paths(["r/a.fr", "r/a.fr"])] == ["a.fr", "a.fr"]


def test_a_path_may_say_its_own_name():
    called = {"a": "said", "b": "", "c": ""}.__getitem__
    assert named_paths(["a", "b", "x=a", "c"], called) == [("said", "a"), ("b", "b"), ("x", "a"), ("c", "c")]
