"""Where the window is built: properties, against an independent plain-Python construction."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data import window_sizes
from ctxmt_fairseq.data.context_options import SELECTIONS, ContextOptions, RowsOptions
from ctxmt_fairseq.data.windows import WindowBuilder
from ctxmt_fairseq.text.absence import EMPTY_SENTENCE, NO_SENTENCE
from ctxmt_fairseq.text.documents import Documents
from tests.helpers.window_datasets import sizes as sizes_of
from tests.helpers.window_datasets import slots

documents_lengths = st.lists(st.integers(1, 7), min_size=2, max_size=6)
sizes = st.integers(0, 4)


FOR_ANY_DOCUMENTS = [name for name in SELECTIONS if name != "shuffled"]  # this one: test_shuffling.py


@st.composite
def options(draw, selections=FOR_ANY_DOCUMENTS):
    selection = draw(st.sampled_from(selections))
    return ContextOptions(
        source_context=draw(st.integers(1, 4) if selection == "reference" else sizes),
        source_context_after=draw(sizes),
        target_context=draw(sizes),
        target_context_on_source=draw(sizes),
        context_selection=selection,
        sample_context_size=draw(st.booleans()),
    )


def rows(builder, lengths, **kwargs):
    """(line, first line of its document, one past its last, slots as lists) for every line."""
    found = slots(builder, np.arange(sum(lengths)), **kwargs)
    firsts = np.cumsum([0] + lengths)
    for line in range(sum(lengths)):
        d = int(np.searchsorted(firsts, line, side="right")) - 1
        yield line, int(firsts[d]), int(firsts[d + 1]), [role[line].tolist() for role in found]


@given(documents_lengths, options(["document", "swapped"]))
def test_every_role_holds_the_neighbours_in_order(lengths, opts):
    builder = WindowBuilder(Documents.from_lengths(lengths), opts)
    for line, start, end, (target_on_source, before, after, target_before) in rows(builder, lengths):
        for role, size in (
            (target_on_source, opts.target_context_on_source),
            (before, opts.source_context),
            (target_before, opts.target_context),
        ):
            assert len(role) == size
            present = [s for s in role if s != NO_SENTENCE]
            farthest = max(start, line - size)
            if opts.sample_context_size:
                farthest = max(farthest, line - len(present))
            assert present == list(range(farthest, line)), (
                "previous sentences of the document, farthest first"
            )
            assert role == [NO_SENTENCE] * (size - len(present)) + present
        present = [s for s in after if s != NO_SENTENCE]
        assert present == list(range(line + 1, line + 1 + len(present))), "following ones, nearest first"
        assert line + len(present) < end
        if not opts.sample_context_size:
            assert len(present) == min(opts.source_context_after, end - 1 - line)


@given(documents_lengths, options(), st.integers(0, 3))
def test_no_document_is_left_and_the_current_sentence_is_no_context(lengths, opts, epoch):
    builder = WindowBuilder(Documents.from_lengths(lengths), opts)
    for line, start, end, roles in rows(builder, lengths, epoch=epoch):
        context = [s for role in roles for s in role if s != NO_SENTENCE]
        assert all(s >= EMPTY_SENTENCE for s in context), "an index never runs below the first sentence"
        if opts.context_selection == "reference":
            assert roles[0] == [line] and roles[1:3] == [[], []]
            context = [s for s in roles[3] if s != NO_SENTENCE]
        assert line not in context
        if opts.context_selection == "absent":
            assert context == []
        elif opts.context_selection == "empty":
            assert set(context) <= {EMPTY_SENTENCE}
        elif opts.context_selection == "random":
            assert all(0 <= s < sum(lengths) and not start <= s < end for s in context)
        else:
            assert all(start <= s < end for s in context)


@given(documents_lengths, options(["empty", "random"]), st.integers(0, 3))
def test_empty_and_random_context_stand_where_real_context_would(lengths, opts, epoch):
    documents = Documents.from_lengths(lengths)
    real = ContextOptions(**{**opts.__dict__, "context_selection": "document"})
    lines = np.arange(sum(lengths))
    for ours, theirs in zip(
        slots(WindowBuilder(documents, opts), lines, epoch),
        slots(WindowBuilder(documents, real), lines, epoch),
        strict=True,
    ):
        assert ((ours == NO_SENTENCE) == (theirs == NO_SENTENCE)).all()


def test_random_context_is_uniform_over_the_other_documents_and_one_for_all_roles():
    lengths = [3, 4, 1, 2]
    opts = ContextOptions(
        source_context=2,
        source_context_after=2,
        target_context=2,
        target_context_on_source=2,
        context_selection="random",
    )
    builder = WindowBuilder(Documents.from_lengths(lengths), opts)
    counts = Counter()
    for epoch in range(3000):
        found = slots(builder, np.array([5]), epoch)
        assert found.source_before.tolist() == found.target_before.tolist() == found.target_on_source.tolist()
        counts.update(found.source_before[0].tolist() + found.source_after[0].tolist())
    del counts[NO_SENTENCE]
    assert sorted(counts) == [0, 1, 2, 7, 8, 9]
    expected = sum(counts.values()) / 6
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < 20.5  # p = 0.001


def test_sampled_sizes_are_uniform_and_keep_both_sides_aligned():
    lengths, size = [2000], 3
    opts = ContextOptions(source_context=size, target_context=size, sample_context_size=True)
    found = slots(WindowBuilder(Documents.from_lengths(lengths), opts), np.arange(size, 2000), epoch=1)
    assert (found.source_before == found.target_before).all()
    counts = np.bincount((found.source_before != NO_SENTENCE).sum(1), minlength=size + 1)
    assert (np.abs(counts - 1997 / 4) < 80).all()


def test_random_choices_depend_on_seed_epoch_and_line():
    opts = ContextOptions(
        source_context=2, target_context=2, context_selection="random", sample_context_size=True
    )
    documents, lines = Documents.from_lengths([50, 50]), np.arange(100)
    one = slots(WindowBuilder(documents, opts, seed=1), lines, 1)
    part = slots(WindowBuilder(documents, opts, seed=1), lines[[70, 3]], 1)
    assert all((whole[[70, 3]] == few).all() for whole, few in zip(one, part, strict=True))
    for seed, epoch in ((2, 1), (1, 2)):
        assert (
            slots(WindowBuilder(documents, opts, seed), lines, epoch).source_before != one.source_before
        ).any()


def plain_sizes(builder, lengths, source, target, epoch, max_source, max_target):
    """Independent: add whole distances while everything fits."""
    for line, _, _, (on_source, before, after, target_before) in rows(builder, lengths, epoch=epoch):

        def tokens(sentence, text):
            return {NO_SENTENCE: 0, EMPTY_SENTENCE: 1}.get(sentence, text[sentence])

        sums, reach = [source[line], target[line]], 0
        for distance in range(1, 6):
            more = [0, 0]
            for role, side, text, column in (
                (on_source, 0, target, -distance), (before, 0, source, -distance),
                (after, 0, source, distance - 1), (target_before, 1, target, -distance),
            ):  # fmt: skip
                if -len(role) <= column < len(role):
                    more[side] += tokens(role[column], text)
            if sums[0] + more[0] > max_source or sums[1] + more[1] > max_target:
                break
            sums = [sums[0] + more[0], sums[1] + more[1]]
            reach = distance if sum(more) else reach
        yield sums[0], sums[1], reach


@given(
    documents_lengths,
    options(),
    st.integers(0, 2),
    st.integers(1, 60),
    st.integers(1, 60),
    st.integers(0, 99),
)
def test_the_farthest_context_is_dropped_on_both_sides_until_the_window_fits(
    lengths, opts, epoch, max_source, max_target, seed
):
    n = sum(lengths)
    source, target = np.random.default_rng(seed).integers(1, 12, (2, n))
    builder = WindowBuilder(Documents.from_lengths(lengths), opts)
    found = sizes_of(builder, np.arange(n), source, target, epoch, max_source, max_target)
    expected = list(plain_sizes(builder, lengths, source, target, epoch, max_source, max_target))
    assert [tuple(map(int, row)) for row in zip(*found, strict=True)] == expected
    assert (found.source >= source).all() and (found.target >= target).all(), "the current sentence stays"
    fits = (source <= max_source) & (target <= max_target)
    assert (found.source[fits] <= max_source).all() and (found.target[fits] <= max_target).all()
    # Windows built with this reach hold exactly the sentences that were counted.
    again = slots(builder, np.arange(n), epoch, found.reach)
    for whole, kept, outermost in zip(
        slots(builder, np.arange(n), epoch), again, (True, True, False, True), strict=True
    ):
        distance = np.arange(whole.shape[1])
        distance = whole.shape[1] - distance if outermost else distance + 1
        assert (kept == np.where(distance <= found.reach[:, None], whole, NO_SENTENCE)).all()


@given(documents_lengths, options())
def test_sizes_without_target_text_count_one_token_per_target_sentence(lengths, opts):
    n = sum(lengths)
    source = np.arange(1, n + 1)
    builder = WindowBuilder(Documents.from_lengths(lengths), opts)
    ones = np.ones(n, int)
    known, unknown = sizes_of(builder, np.arange(n), source, ones), sizes_of(builder, np.arange(n), source)
    assert (known.source == unknown.source).all()
    assert (known.target == unknown.target + 1).all(), "the current target is what will be decoded"


def test_chunks_give_the_same_as_the_whole(monkeypatch):
    opts = ContextOptions(
        source_context=3,
        source_context_after=1,
        target_context=2,
        target_context_on_source=1,
        context_selection="random",
        sample_context_size=True,
    )
    builder = WindowBuilder(Documents.from_lengths([30, 1, 69]), opts)
    lengths = np.arange(1, 101)
    whole = sizes_of(builder, np.arange(100), lengths, lengths, 1, 150, 150)
    monkeypatch.setattr(window_sizes, "CHUNK", 7)
    for one, other in zip(
        whole, sizes_of(builder, np.arange(100), lengths, lengths, 1, 150, 150), strict=True
    ):
        assert one.tolist() == other.tolist() and one.dtype == other.dtype
    for empty, full in zip(sizes_of(builder, np.arange(0), lengths, lengths), whole, strict=True):
        assert empty.shape == (0,) and empty.dtype == full.dtype


@pytest.mark.parametrize("longest, kind", [(4_000, np.int16), (4_100, np.int32), (70_000, np.int32)])
def test_sizes_are_narrow_where_no_window_can_be_longer(longest, kind):
    builder = WindowBuilder(Documents.from_lengths([9]), ContextOptions(source_context=3, target_context=3))
    sizes = sizes_of(builder, np.arange(9), np.full(9, longest, np.int32), np.full(9, longest, np.int32))
    assert (sizes.source.dtype, sizes.target.dtype) == (kind, kind)
    assert sizes.source.tolist() == [min(line + 1, 4) * longest for line in range(9)] == sizes.target.tolist()


def test_reach_is_the_largest_distance_asked_for():
    assert (
        ContextOptions(
            source_context=1, source_context_after=4, target_context=2, target_context_on_source=3
        ).reach
        == 4
    )
    assert ContextOptions().reach == 0


@pytest.mark.parametrize(
    "values, named",
    [
        ({"source_context": -1}, "--source-context -1"),
        ({"target_context_on_source": 101}, "--target-context-on-source 101"),
        ({"context_selection": "nearest"}, "--context-selection nearest"),
    ],
)
def test_options_out_of_range_are_named(values, named):
    with pytest.raises(BadInput, match="expected") as caught:
        ContextOptions(**values)
    assert str(caught.value).startswith(named)


def test_random_context_needs_another_document():
    with pytest.raises(BadInput, match="at least two documents"):
        WindowBuilder(
            Documents.from_lengths([9]), ContextOptions(source_context=1, context_selection="random")
        )
    WindowBuilder(Documents.from_lengths([9]), ContextOptions(context_selection="random"))


def test_the_reference_needs_a_source_context_to_replace():
    with pytest.raises(BadInput, match="^--context-selection reference needs --source-context"):
        WindowBuilder(
            Documents.from_lengths([9]),
            ContextOptions(
                source_context_after=1,
                target_context=1,
                target_context_on_source=1,
                context_selection="reference",
            ),
        )
    WindowBuilder(
        Documents.from_lengths([9]), ContextOptions(source_context=1, context_selection="reference")
    )


def test_missing_context_may_be_an_empty_sentence():
    """As in the program of sequence shortening; what is left out for want of room stays away."""
    opts = RowsOptions(source_context=2, missing_context="empty")
    builder = WindowBuilder(Documents.from_lengths([1, 3]), opts)
    found = builder.slots(np.arange(4)).source.tolist()
    assert found == [[EMPTY_SENTENCE] * 2, [EMPTY_SENTENCE] * 2, [EMPTY_SENTENCE, 1], [1, 2]]
    near = builder.slots(np.arange(4), reach=np.ones(4)).source.tolist()
    assert near == [[NO_SENTENCE, EMPTY_SENTENCE]] * 2 + [[NO_SENTENCE, 1], [NO_SENTENCE, 2]]
