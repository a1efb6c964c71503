"""Few-shot settings: how many annotations are kept, which, and that nothing else changes."""

import json
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.attribute_control.few_shot import (
    NEVER_KEPT,
    NOT_ANNOTATED,
    combination_of,
    read_annotations,
    write_settings,
)
from ctxmt_fairseq.text.metadata_files import MetadataFiles

NAMES = ("speaker", "formality")
COUNTS = [0, 1, 5, 30, None]
SENTENCES = {("speaker",): {("f",): "I am a woman", ("m",): "I am a man"}}


def metadata(lines=200, seed=0):
    """Mostly masculine speakers; a genre on some lines, nothing at all on others."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(lines):
        row = {"genre": "Drama, Family"} if rng.random() < 0.4 else {}
        if rng.random() < 0.7:
            row["speaker"] = str(rng.choice(["m", "f"], p=[0.9, 0.1]))
        if rng.random() < 0.5:
            row["formality"] = str(rng.choice(["formal", "informal", " "]))
        rows.append(row)
    return rows


def write_prefix(folder, rows, **files):
    folder.mkdir(exist_ok=True)
    (folder / "train.meta.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for suffix, text in files.items():
        (folder / f"train.{suffix}").write_text(text)
    return str(folder / "train")


def read(folder, count):
    text = (folder / str(count) / "train.meta.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def kept_lines(rows):
    return {number for number, row in enumerate(rows) if any(combination_of(row, NAMES))}


def chosen_dropped(row):
    return {name: value for name, value in row.items() if name not in NAMES}


# --- what is kept ---


@given(
    st.lists(
        st.fixed_dictionaries({}, optional={name: st.sampled_from("ab ") for name in NAMES}), min_size=1
    ),
    st.integers(0, 9),
    st.integers(0, 99),
)
def test_as_many_lines_of_every_combination_as_asked_for_or_there_are(tmp_path_factory, rows, count, seed):
    rows += [{"speaker": "a", "formality": "b"}]
    path = tmp_path_factory.mktemp("few") / "train.meta.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    annotations = read_annotations(MetadataFiles.named(path), NAMES, seed)
    expected = Counter(combination_of(row, NAMES) for row in rows)
    expected.pop((None, None), None)
    assert annotations.sizes == expected
    kept = annotations.keeps(count)
    assert Counter(combination_of(rows[line], NAMES) for line in np.flatnonzero(kept)) == Counter(
        {key: min(size, count) for key, size in expected.items()}
    )
    assert not (kept & ~annotations.keeps(count + 1)).any()  # nested
    assert not (annotations.keeps(count + 1) & ~annotations.keeps(None)).any()
    assert (
        (annotations.ranks == NOT_ANNOTATED) == [not any(combination_of(row, NAMES)) for row in rows]
    ).all()


def test_files(tmp_path):
    rows = metadata()
    prefix = write_prefix(tmp_path / "corpus", rows, en="x\n" * 200, docids="1\n" * 200)
    settings = write_settings(prefix, NAMES, COUNTS, tmp_path / "out", seed=7)
    rows = list(MetadataFiles.beside(prefix).lines())  # without blank values
    out = tmp_path / "out"
    assert sorted(path.name for path in out.iterdir()) == ["0", "1", "30", "5", "all"]
    sizes = Counter(filter(any, (combination_of(row, NAMES) for row in rows)))
    assert len(sizes) == 8 and min(sizes.values()) < 5  # some combinations are rarer than asked for
    before = set()
    for setting, count in zip(settings, COUNTS, strict=True):
        name = setting["count"]
        assert name == ("all" if count is None else count)
        assert json.loads((out / str(name) / "setting.json").read_text()) == setting
        written = read(out, name)
        lines = kept_lines(written)
        assert before <= lines and len(lines) == setting["kept"]
        before = lines
        wanted = {key: min(size, 200 if count is None else count) for key, size in sizes.items()}
        assert Counter(combination_of(rows[line], NAMES) for line in lines) == Counter(wanted)
        assert sum(entry["kept"] for entry in setting["combinations"]) == setting["kept"]
        assert (setting["lines"], setting["annotated"], setting["seed"]) == (200, sum(sizes.values()), 7)
        for line, (old, new) in enumerate(zip(rows, written, strict=True)):
            assert new == (
                old if line in lines or not any(combination_of(old, NAMES)) else chosen_dropped(old)
            )
        for suffix in ("en", "docids"):
            link = out / str(name) / f"train.{suffix}"
            assert link.is_symlink() and link.read_text() == Path(f"{prefix}.{suffix}").read_text()
    assert read(out, "all") == rows
    assert kept_lines(read(out, 0)) == set()


def test_the_same_seed_gives_the_same_bytes_and_another_one_another_draw(tmp_path):
    prefix = write_prefix(tmp_path / "corpus", metadata())
    for out, seed in (("a", 1), ("b", 1), ("c", 2)):
        write_settings(prefix, NAMES, COUNTS, tmp_path / out, seed)
    for count in (0, 1, 5, 30, "all"):
        for file in ("train.meta.jsonl", "setting.json"):
            a, b = ((tmp_path / out / str(count) / file).read_bytes() for out in "ab")
            assert a == b
    assert read(tmp_path / "a", 1) != read(tmp_path / "c", 1)


def test_metadata_in_files_of_their_own(tmp_path):
    """The same settings as from one file of objects, and no file that the setting's would contradict."""
    rows = metadata()
    write_settings(write_prefix(tmp_path / "a", rows), NAMES, COUNTS, tmp_path / "objects")
    prefix = write_prefix(tmp_path / "b", [{k: v for k, v in row.items() if k == "genre"} for row in rows])
    for name in NAMES:
        text = "".join(row.get(name, "") + "\n" for row in rows)
        Path(f"{prefix}.meta.{name}").write_text(text, "utf-8")
    write_settings(prefix, NAMES, COUNTS, tmp_path / "files")
    for count in (0, 1, 5, 30, "all"):
        assert read(tmp_path / "files", count) == read(tmp_path / "objects", count)
        assert not list((tmp_path / "files" / str(count)).glob("*.meta.speaker"))


def test_a_file_with_the_name_of_the_text_is_no_metadata(tmp_path):
    (tmp_path / "train").write_text('{"speaker": "masculine"}\n')
    (tmp_path / "train.meta.speaker").write_text("feminine\n")
    write_settings(str(tmp_path / "train"), ["speaker"], [None], tmp_path / "out")
    assert (tmp_path / "out/all/train.meta.jsonl").read_text() == '{"speaker": "feminine"}\n'


def test_context_only_lines_keep_nothing(tmp_path):
    rows = [{"speaker": "f"}] * 4 + [{"genre": "Drama"}]
    prefix = write_prefix(tmp_path / "corpus", rows, current="0\n1\n0\n0\n1\n")
    settings = write_settings(prefix, ["speaker"], [2, None], tmp_path / "out")
    assert [setting["kept"] for setting in settings] == [1, 1] and settings[0]["annotated"] == 4
    assert read(tmp_path / "out", "all") == [{}, {"speaker": "f"}, {}, {}, {"genre": "Drama"}]
    metadata = MetadataFiles.beside(prefix)
    ranks = read_annotations(metadata, ["speaker"], 1, f"{prefix}.current").ranks.tolist()
    assert ranks == [NEVER_KEPT, 0, NEVER_KEPT, NEVER_KEPT, NOT_ANNOTATED]


def test_other_combinations_change_nothing(tmp_path):
    rows = metadata()
    for name, kept in (("a", rows), ("b", [row if row.get("speaker") != "f" else {} for row in rows])):
        write_settings(write_prefix(tmp_path / name, kept), NAMES, [3], tmp_path / f"out-{name}")
    masculine = [
        {line for line, row in enumerate(read(tmp_path / out, 3)) if row.get("speaker") == "m"}
        for out in ("out-a", "out-b")
    ]
    assert masculine[0] == masculine[1] and masculine[0]


def test_kept_attributes_are_written_as_sentences(tmp_path):
    rows = [
        {"speaker": "f", "genre": "Drama"},
        {"speaker": "m", "formality": "formal"},
        {"formality": "formal"},
    ]
    prefix = write_prefix(tmp_path / "corpus", rows)
    write_settings(prefix, NAMES, [0, None], tmp_path / "out", sentences=SENTENCES)
    assert read(tmp_path / "out", "all") == [
        {"genre": "Drama", "speaker": "I am a woman"},
        {"formality": "formal", "speaker": "I am a man"},
        {"formality": "formal"},
    ]
    assert read(tmp_path / "out", 0) == [{"genre": "Drama"}, {}, {}]


# --- refusals ---


def refusal(tmp_path, prefix, names=("speaker",), **options):
    with pytest.raises(BadInput) as caught:
        write_settings(prefix, names, [1], tmp_path / "out", **options)
    assert not (tmp_path / "out").exists() and not list(tmp_path.glob(".out*"))  # nothing half-written
    return str(caught.value)


def test_bad_input_is_refused_and_leaves_nothing(tmp_path):
    prefix = write_prefix(tmp_path / "corpus", [{"speaker": "f"}, {"speaker": "x"}])
    path = Path(f"{prefix}.meta.jsonl")
    assert refusal(tmp_path, prefix, ["formality"]) == f"{path}: no line has the attribute 'formality'"
    assert refusal(tmp_path, prefix, sentences=SENTENCES).startswith(
        f"{path}:2: expected a sentence for 'speaker' 'x'"
    )
    assert "no metadata: expected " in refusal(tmp_path, str(tmp_path / "nowhere"))
    Path(f"{prefix}.current").write_text("1\n")
    assert "expected 2 lines, one for each sentence" in refusal(tmp_path, prefix)
    os.remove(f"{prefix}.current")
    own = Path(f"{prefix}.meta.speaker")
    own.write_text("f\nf\n")
    assert refusal(tmp_path, prefix) == f"{own}:1: the field speaker is in train.meta.jsonl too"
    own.unlink()
    for line in ('{"speaker": true}', "[]", '{"speaker": [true]}', '{"speaker": "\\ud800"}'):
        path.write_text('{"speaker": "f"}\n' + line + "\n")
        assert refusal(tmp_path, prefix).startswith(f"{path}:2: expected ")


def test_a_folder_that_is_not_empty_is_refused(tmp_path):
    prefix = write_prefix(tmp_path / "corpus", [{"speaker": "f"}])
    with pytest.raises(BadInput, match="new or empty folder"):
        write_settings(prefix, ["speaker"], [1], tmp_path / "corpus")
    (tmp_path / "empty").mkdir()
    assert write_settings(prefix, ["speaker"], [1], tmp_path / "empty")[0]["kept"] == 1
