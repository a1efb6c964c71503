"""The rows of the table of ``ctxmt evaluate``."""

from ctxmt_fairseq.evaluation.runs.results_file import measures


def test_measures_of_a_suite_with_groups():
    tally = {"accuracy": 25.0}
    report = {
        "convention": "sum-current", "accuracy": 50.0, "phenomena": {"a": tally, "b": tally},
        "distances": {"1": tally}, "disc": 12.0, "disc_avg": None, "disc_all_d": None,
    }  # fmt: skip
    scores = [{"name": "BLEU", "level": level, "score": 1.5} for level in ("sentence", "document")]
    found = measures({"translations": {"prefix": {"scores": scores}}, "contrast": {"s": report}})
    assert found == {
        "BLEU, own context": 1.5,
        "s, accuracy (sum-current)": 50.0,
        "s, a": 25.0,
        "s, b": 25.0,
        "s, Disc.": 12.0,
    }
    same = {name: {"accuracy": number} for number, name in enumerate(["all", "Disc.", "distance 1"], 1)}
    report |= {"phenomena": same, "distances": {"1": tally, "2": tally}}
    found = measures({"translations": {}, "contrast": {"s": report}})
    assert found["s, Disc."] == 12.0 and found["s, distance 1"] == 25.0
    assert [found[f"s, phenomenon {name}"] for name in same] == [1.0, 2.0, 3.0]
