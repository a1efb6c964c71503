"""The demo corpus's contrastive sets, read back from the files: true twins, unknown to the documents."""

import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Dict, List, Tuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.corpora.demo_corpus.write import write_demo_corpus
from tests.helpers.demo_corpus_files import SPLITS, Read, read_documents, read_sets


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "corpus"
    write_demo_corpus(folder, documents=6000, evaluation_documents=50)
    return folder


def visible(example: Read, hidden: str, reach: int = 99) -> tuple:
    """What a model sees that lacks ``hidden``: a kind of context, or what is ``reach`` and more back."""
    first = max(0, example.current - reach + 1)
    source = example.source[first : example.current + 1]
    target = example.candidates[0][first:-1]
    after = example.source[example.current + 1 :]
    meta = example.meta
    if hidden == "target-previous":
        target = ()
    if hidden == "source-next":
        after = ()
    if hidden == "metadata":
        meta = ()
    candidates = tuple(sorted(candidate[-1] for candidate in example.candidates))
    return source, target, after, meta, candidates


def check_twins(entry: dict, examples: List[Read]) -> None:
    """A blind model is at exactly 50 %; the context that decides tells every twin apart."""
    assert len(examples) == entry["examples"]
    assert sorted({example.decides for example in examples}) == entry["distances"]
    groups = defaultdict(list)
    for example in examples:
        right, wrong = example.candidates
        assert right[-1] != wrong[-1] and right[:-1] == wrong[:-1]
        assert len(right) == example.current + 1 <= 4
        reach = example.decides if entry["context"] == "source-previous" else 99
        groups[example.decides, visible(example, entry["context"], reach)].append(example)
    for (distance, _), twins in groups.items():
        rights = Counter(twin.candidates[0][-1] for twin in twins)
        assert len(rights) == 2 and len(set(rights.values())) == 1
        # What differs is what decides, and nothing else.
        first, second = twins[:2]
        if len(twins) > 2:  # two twins may look alike to a blind model; pairs are side by side
            continue
        differ = [a != b for a, b in zip(first.source, second.source, strict=True)]
        expected = [False] * len(differ)
        if entry["context"] in ("source-previous", "source-next"):
            expected[first.current - distance] = True
        assert differ == expected
        target_differs = [a != b for a, b in zip(first.candidates[0], second.candidates[0], strict=True)]
        decided = [False] * first.current + [True]
        if entry["context"] in ("source-previous", "target-previous"):
            decided[first.current - distance] = True
        assert target_differs == decided
        assert (first.meta != second.meta) == (entry["context"] == "metadata")


def held_out_windows(sets: Dict[str, Tuple[dict, List[Read]]]) -> set:
    return {example.source for _, examples in sets.values() for example in examples}


def train_windows(folder: Path) -> set:
    windows = set()
    for split in SPLITS:
        for document in read_documents(folder, split):
            source = [sentence[0] for sentence in document]
            windows |= {
                tuple(source[start:end])
                for start in range(len(source))
                for end in range(start + 2, min(start + 4, len(source)) + 1)
            }
    return windows


NAMES = {
    *(f"pronoun-distance-{distance}" for distance in (1, 2, 3)),
    "lexical-choice",
    "lexical-cohesion",
    "deixis",
    "ellipsis",
    "formality",
    "formality-unseen",
    "formality-zero-shot",
    "speaker-gender",
    "addressee-gender",
    "cataphora",
}
IMPLIED = {"formality-genre", "formality-plot", "formality-previous"}


def test_every_phenomenon_of_the_design_has_its_set(corpus):
    sets = read_sets(corpus)
    assert set(sets) == NAMES
    for entry, examples in sets.values():
        check_twins(entry, examples)
        assert len(examples) == 300


def test_no_window_of_the_sets_stands_in_the_documents(corpus):
    sets = read_sets(corpus)
    assert not held_out_windows(sets) & train_windows(corpus)
    # Not even the pair of the sentence that decides and the current one, with anything around them.
    pairs = {
        (example.source[example.current - example.decides], example.source[example.current])
        for entry, examples in sets.values()
        for example in examples
        if entry["context"].endswith("-previous")
    }
    for document in read_documents(corpus, "train"):
        source = [sentence[0] for sentence in document]
        for later in range(len(source)):
            assert not any((earlier, source[later]) in pairs for earlier in source[max(0, later - 3) : later])


def words_of(text: str) -> List[str]:
    return [word.strip(".,?") for word in text.split()]


def test_every_word_of_the_sets_is_in_the_training_text(corpus):
    documents = read_documents(corpus, "train")
    for side in (0, 1):
        known = Counter(word for document in documents for line in document for word in words_of(line[side]))
        for _, examples in read_sets(corpus).values():
            for example in examples:
                texts = example.source if side == 0 else [s for c in example.candidates for s in c]
                rare = {word for text in texts for word in words_of(text) if known[word] < 5}
                assert not rare


def test_unseen_metadata_texts_are_unseen_and_the_others_seen(corpus):
    seen = {text for d in read_documents(corpus, "train") for line in d for text in line[2].values()}
    for name, (entry, examples) in read_sets(corpus).items():
        texts = {text for example in examples for _, text in example.meta}
        assert bool(texts) == (entry["context"] == "metadata")
        if name in ("formality-unseen", "formality-zero-shot"):
            assert len(texts) >= 6 and not texts & seen
        else:
            assert texts <= seen


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    examples=st.sampled_from([2, 6, 50]),
    length=st.sampled_from([None, 1, 5, 30]),
    formality=st.sampled_from(["stated", "implied"]),
)
def test_any_seed_gives_aligned_text_and_true_twins(seed, examples, length, formality):
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        written = write_demo_corpus(folder, seed, 20, 3, length, examples, formality=formality)
        sets = read_sets(folder)
        assert set(sets) == (NAMES | IMPLIED if formality == "implied" else NAMES)
        for entry, read in sets.values():
            assert len(read) == examples
            check_twins(entry, read)
        assert not held_out_windows(sets) & train_windows(folder)
        for split in written["splits"]:
            documents = read_documents(folder, split["name"])
            assert len(documents) == split["documents"]
            assert sum(map(len, documents)) == split["sentences"]
            assert all(
                len(document) == length if length else 4 <= len(document) <= 8 for document in documents
            )
