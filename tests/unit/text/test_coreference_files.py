"""Files of other tools: antecedents and word alignments."""

import pytest

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.alignment import iterate_alignment, read_alignment
from ctxmt_fairseq.text.coreference import Antecedent, Reference, read_coreference
from tests.helpers.coreference_files import record, write_lines


def test_coreference_files_that_do_not_fit(tmp_path):
    sentences = ["A dog.", "It ran."]
    good = record(2, [0, 2], 1, [2, 5])
    (found,) = read_coreference(write_lines(tmp_path / "good", [good]), sentences)
    assert found == Reference(1, (0, 2), "it", Antecedent(0, (2, 5), True), "corenlp")
    for lines, message in (
        ([], "empty file"),
        ([record(3, [0, 2], 1, [2, 5])], ":1: expected a line from 1 to 2, found 3"),
        ([record(2, [0, 8], 1, [2, 5])], "within the 7 characters"),
        ([record(2, [2, 2], 1, [2, 5])], "within the 7 characters"),
        ([record(2, [0], 1, [2, 5])], r"expected \[start, end\]"),
        ([record(2, [True, 2], 1, [2, 5])], r"expected \[start, end\]"),
        ([record(1, [0, 1], 2, [0, 2])], "up to line 1, found 2"),
        ([record(2, [0, 2], 1, [2, 9])], "within the 6 characters"),
        ([good, good], ":2: the pronoun at .* is there twice"),
        ([good.replace("true", "1")], "expected true or false at the key 'nominal'"),
        (['{"line": 1}'], "expected the key 'pronoun'"),
    ):
        with pytest.raises(BadInput, match=message):
            read_coreference(write_lines(tmp_path / "bad", lines), sentences)


def test_alignment_files_that_do_not_fit(tmp_path):
    path, texts = write_lines(tmp_path / "good", ["0-1 0-0 1-2 0-1", ""]), (["a b", ""], ["c d e", "e"])
    files = [write_lines(tmp_path / name, text) for name, text in zip("st", texts, strict=True)]
    assert read_alignment(path, *texts) == [{0: [0, 1], 1: [2]}, {}] == list(iterate_alignment(path, *files))
    for lines, message in (
        (["0-1"], "expected 2 lines"),
        (["0-1", "", ""], "found more"),
        (["0-3", ""], ":1: expected words of 2 and 3, found 0-3"),
        (["2-0", ""], ":1: expected words of 2 and 3, found 2-0"),
        (["0:1", ""], "expected pairs such as 0-1"),
        (["-1-0", ""], "expected pairs"),
    ):
        with pytest.raises(BadInput, match=message):
            read_alignment(write_lines(tmp_path / "bad", lines), *texts)
