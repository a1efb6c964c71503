"""Aligns words as fast_align does (Dyer, Chahuneau and Smith 2013, "A simple, fast, and effective
reparameterization of IBM Model 2"): Thot aligns in both directions, and makes one alignment of them by
grow-diag-final-and."""

import tempfile
from pathlib import Path
from typing import Any, Iterable, Iterator, List, NamedTuple, Sequence, Set, Tuple

import numpy as np

from ctxmt_fairseq.base.extras import import_of_extra
from ctxmt_fairseq.corpora.linguistics.words import lexical_parts
from ctxmt_fairseq.text.text_lines import PathLike, lines_together

EXTRA = "align"
ITERATIONS = 5  # of expectation maximisation in each direction, as fast_align has
LONGEST = 1024  # tokens of a sentence that Thot aligns
Texts = Tuple[PathLike, PathLike]  # source and target


class Tokens(NamedTuple):
    """The tokens of a sentence that are aligned.

    Attributes:
        texts: in lower case.
        words: for each token the white-space word that it belongs to, from 0.
        size: how many white-space words the sentence has.
    """

    texts: List[str]
    words: List[int]
    size: int

    @classmethod
    def of(cls, sentence: str) -> "Tokens":
        """Split by ``lexical_parts``: a word is the same with a comma, and a comma never ties two words."""
        parts = [lexical_parts(word.lower()) for word in sentence.split()]
        words = [number for number, each in enumerate(parts) for _ in each]
        return cls([part for each in parts for part in each], words, len(parts))


class AlignedLine(NamedTuple):
    """White-space words that translate each other.

    Attributes:
        pairs: words of source and target, from 0.
        sizes: words of source and target.
        too_long: whether it has no pairs because it is too long.
    """

    pairs: List[Tuple[int, int]]
    sizes: Tuple[int, int]
    too_long: bool


def check_installed() -> Any:
    """Import Thot, or refuse to go on."""
    return import_of_extra("thot.alignment", EXTRA, "word alignment needs sil-thot")


def aligned_text(text: Texts, more: Sequence[Texts] = ()) -> Iterator[AlignedLine]:
    """Align every line of one text, as ``aligned_texts``."""
    yield from aligned_texts([text], more)[0]


def aligned_texts(texts: Sequence[Texts], more: Sequence[Texts] = ()) -> List[Iterator[AlignedLine]]:
    """Align every line of several texts, by what is learnt from all of them together.

    Args:
        texts: each two files with the same number of lines.
        more: further texts to learn from, because a small text says little about its words.
    """
    aligner = _aligner([*texts, *more])
    return [_aligned(aligner, text) for text in texts]


def _aligned(aligner: Any, text: Texts) -> Iterator[AlignedLine]:
    for source, target in _sentences([text]):
        too_long = max(len(source.texts), len(target.texts)) > LONGEST
        pairs: Set[Tuple[int, int]] = set()
        if source.texts and target.texts and not too_long:
            _, matrix = aligner.get_best_alignment(source.texts, target.texts)
            found = np.argwhere(matrix.to_numpy()).tolist()
            pairs = {(source.words[i], target.words[j]) for i, j in found}
        yield AlignedLine(sorted(pairs), (source.size, target.size), too_long)


def _sentences(texts: Iterable[Texts]) -> Iterator[Tuple[Tokens, Tokens]]:
    for source, target in texts:
        for line, translation in lines_together(source, target):
            yield Tokens.of(line), Tokens.of(translation)


def _aligner(texts: Sequence[Texts]) -> Any:
    """Learn both directions; Thot reads the tokens from files in every iteration, to save memory."""
    thot = check_installed()
    with tempfile.TemporaryDirectory(prefix="ctxmt-align-") as folder:
        files = [Path(folder, side) for side in ("source", "target")]
        number = _write_tokens(texts, files)
        directions = [_learnt(thot, order, number) for order in (files, files[::-1])]
    aligner = thot.SymmetrizedAligner(*directions)
    aligner.heuristic = thot.SymmetrizationHeuristic.GROW_DIAG_FINAL_AND
    return aligner


def _write_tokens(texts: Sequence[Texts], files: Sequence[Path]) -> int:
    """Write the pairs to learn from, and count them; pairs with an empty or too long side teach nothing."""
    number = 0
    with open(files[0], "w", encoding="utf-8") as first, open(files[1], "w", encoding="utf-8") as second:
        for pair in _sentences(texts):
            if all(0 < len(side.texts) <= LONGEST for side in pair):
                number += 1
                for stream, side in zip((first, second), pair, strict=True):
                    stream.write(" ".join(side.texts) + "\n")
    return number


def _learnt(thot: Any, files: Sequence[Path], number: int) -> Any:
    model = thot.FastAlignModel()
    model.variational_bayes = True  # as fast_align's authors advise (-v)
    if number:
        model.read_sentence_pairs(*map(str, files))
        if model.num_sentence_pairs != number:
            raise RuntimeError(f"Thot read {model.num_sentence_pairs} of {number} pairs")
        model.start_training()
        for _ in range(ITERATIONS):
            model.train()
        model.end_training()
    return model
