"""A subword model is a file like any other: where it is damaged, that is one line, not the end of all."""

import os
import random

import pytest

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.subwords import Subwords, train_subwords

SENTENCES = [f"the {animal}s sleep in house {number}" for animal in ("cat", "dog") for number in range(50)]
# Of all blocks, because of the table of what characters are normalised to.
CHARACTERS = ["".join(map(chr, range(start, start + 300))) for start in range(32, 0x3000, 300)]


def damaged(model, rng):
    changed = bytearray(model)
    for _ in range(rng.choice([1, 2, 8])):
        at = rng.randrange(len(changed))
        if rng.random() < 0.7:
            changed[at] ^= 1 << rng.randrange(8)
        else:
            del changed[at : at + rng.choice([1, 4, 30])]
    return bytes(changed)


def ended(path):
    """How a process of its own ends that uses the model: its exit code, or minus the signal's number."""
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        code = 1
        try:
            subwords = Subwords(path)
            for text in [*SENTENCES[:3], *CHARACTERS]:
                subwords.decode(subwords.encode(text))
            code = 0
        except BadInput as error:
            code = 2 if str(path) in str(error) else 1
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_damaged_models(tmp_path, kind):
    model = train_subwords(SENTENCES, 30, kind, normalization="nmt_nfkc")  # with a table, most of the file
    path = tmp_path / "spm.model"
    codes = []
    for number in range(150):
        path.write_bytes(damaged(model, random.Random(number)))
        codes.append(ended(path))
    assert set(codes) == {0, 2}
