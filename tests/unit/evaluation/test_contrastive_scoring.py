"""Scores of contrastive candidates against a plain computation, one (source, candidate) pair at a time."""

import random

import numpy as np
import pytest
import torch
from fairseq.data import Dictionary

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.evaluation.contrastive_scoring import CandidateWindows, score_candidates
from ctxmt_fairseq.evaluation.contrastive_sets import Candidate, ContrastiveExample, Convention
from ctxmt_fairseq.generation.forced_scoring import _distinct_places
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.tasks.document_window import DocumentWindowConfig, DocumentWindowTask
from ctxmt_fairseq.text.symbols import SEPARATOR
from tests.helpers.concat_models import make
from tests.unit.tasks.test_forced_prefix import SIZES

WORDS = "abcdefgh"


def loaded_models(members=1, model=None, **options):
    dictionary = Dictionary()
    for word in WORDS:
        dictionary.add_symbol(word)
    config = DocumentWindowConfig(seed=1, required_seq_len_multiple=1, **options)
    task = DocumentWindowTask(config, dictionary, dictionary)
    models = [make(task, **{**SIZES, **(model or {})}, seed=seed) for seed in range(1, members + 1)]
    for one in models:
        task.request.adopt(one, "concat_transformer_tiny")
    return LoadedModels(models, task, torch.device("cpu"), Subwords(), Subwords())


def example(source_before, source, candidates, source_after=()):
    """Candidates are (target context, current sentence)."""
    made = tuple(Candidate(tuple(before), current) for before, current in candidates)
    return ContrastiveExample("x", tuple(source_before), source, tuple(source_after), made, 0, "", None)


def examples(count=6, seed=0):
    """Random examples whose contexts have 0 to 3 sentences, some with fewer on the target side."""
    draw = random.Random(seed)

    def text():
        return " ".join(draw.choice(WORDS) for _ in range(draw.randrange(1, 6)))

    made = []
    for number in range(count):
        before = [text() for _ in range(number % 4)]
        targets = [text() for _ in range(max(0, len(before) - number % 2))]
        candidates = [(targets, text()) for _ in range(2 + number % 2)]
        made.append(example(before, text(), candidates, [text()]))
    return made


def plain(loaded, source, target, context, **inputs):
    """Sums and token counts of the current sentence and the window, from sentences (lists of texts)."""
    dictionary = loaded.task.target_dictionary

    def window(sentences):
        tokens = f" {SEPARATOR} ".join(sentences).split()
        return [dictionary.index(token) for token in tokens] + [dictionary.eos()]

    src, tgt = torch.tensor([window(source)]), torch.tensor(window(target))
    previous = torch.cat([tgt[-1:], tgt[:-1]])[None]
    probabilities = 0
    for model in loaded.models:
        wanted = {"context": inputs} if loaded.task.request.format.kind else {}
        with torch.no_grad():
            found = model(src, torch.tensor([src.size(1)]), previous, **wanted)
            if model.decoder.adaptive_softmax is None:
                found = found[0][0].double().softmax(-1)
            else:
                found = model.decoder.adaptive_softmax.get_log_prob(found[0], None)[0].double().exp()
        probabilities = probabilities + found
    scores = (probabilities / len(loaded.models)).log()[torch.arange(len(tgt)), tgt]
    begin = sum(len(sentence.split()) + 1 for sentence in target[:context])
    return scores[begin:].sum(), len(tgt) - begin, scores.sum(), len(tgt)


def check(scores, loaded, made, windows):
    """``windows(example, candidate)``: source and target sentences, as one would write them down."""
    for row, one in zip(scores, made, strict=True):
        assert len(row) == len(one.candidates)
        for score, candidate in zip(row, one.candidates, strict=True):
            source, target, segment = windows(one, candidate)
            inputs = {
                "current_segment": torch.tensor([segment]),
                "target_context_sizes": torch.tensor([len(target) - 1]),
            }
            expected = plain(loaded, source, target, len(target) - 1, **inputs)
            assert score.current_sum == pytest.approx(float(expected[0]), abs=1e-4)
            assert score.window_sum == pytest.approx(float(expected[2]), abs=1e-4)
            assert (score.current_tokens, score.window_tokens) == (expected[1], expected[3])
            assert score.value(Convention("mean", "current")) == score.current_sum / score.current_tokens
            assert score.value(Convention("sum", "window")) == score.window_sum


def s2to2(one, candidate):
    """Two previous sentences at most on each side; a side that has fewer gets empty ones."""
    depth = min(2, max(len(one.source_before), len(candidate.before)))

    def side(before, current):
        context = ([""] * depth + list(before))[len(before) :][-depth:] if depth else []
        return [*context, current]

    source = side(one.source_before, one.source)
    return source, side(candidate.before, candidate.current), len(source) - 1


@pytest.mark.parametrize(
    ("members", "model"),
    [
        (1, {}),
        (2, {"segment_positions": "shift", "segment_shift": "avg-sequence"}),
        (2, {"segment_positions": "learned", "segment_types": "context"}),
        (1, {"arch": "transformer", "encoder_learned_pos": True, "decoder_learned_pos": True}),
        (1, {"arch": "transformer", "adaptive_softmax_cutoff": "5,9", "adaptive_softmax_dropout": 0.0}),
    ],
)
def test_scores_are_those_of_plain_teacher_forcing(members, model):
    loaded = loaded_models(members, model, source_context=2, target_context=2)
    made = examples()
    check(score_candidates(loaded, made), loaded, made, s2to2)


def test_candidates_of_an_example_have_the_same_context():
    """Also where the models have no room for it with one of them."""
    limits = {"max_source_positions": 12, "max_target_positions": 12}
    loaded = loaded_models(model=limits, source_context=1, target_context=1)
    one = example(["a b c"], "d e", [(["a b c d e"], "f g h a b"), (["a b c d e"], "f g h a b c")])
    other = example(["a b c"], "d e", [(["a b c d e"], "f g h a b"), (["a b c d e"], "f g h a")])
    (short, long), rows = CandidateWindows(loaded, [one, other]).rows
    assert short[0] == long[0] and len(short[1]) == 6 and len(long[1]) == 7
    assert [len(target) for _, target in rows] == [12, 11] and rows[0][0] != short[0]
    source, target = (
        example([], "a " * 12, [([], "a"), ([], "b")]),
        example([], "a", [([], "a " * 12), ([], "b")]),
    )
    for long in (source, target):
        with pytest.raises(BadInput, match="example x: a sentence is too long; the models read at most 12"):
            CandidateWindows(loaded, [one, long])


def test_following_context_and_no_context():
    made = examples()
    loaded = loaded_models(source_context_after=1)
    after = score_candidates(loaded, made)
    check(after, loaded, made, lambda one, c: ([one.source, *one.source_after], [c.current], 0))
    loaded = loaded_models()
    alone = score_candidates(loaded, made)
    check(alone, loaded, made, lambda one, c: ([one.source], [c.current], 0))
    assert alone != after


def test_batches_change_nothing_and_duplicates_are_identical():
    loaded = loaded_models(source_context=1, target_context=1)
    made = examples(12)
    together, single = (score_candidates(loaded, made, max_tokens) for max_tokens in (4000, 1))
    for ours, theirs in zip(sum(together, []), sum(single, []), strict=True):
        assert ours.window_sum == pytest.approx(theirs.window_sum, abs=1e-5)

    # Twins that differ in what the window does not hold, among others of many lengths.
    twins = [example([far, "a b"], "c d", [(["e", "f"], "g h"), (["e", "f"], "h")]) for far in ("c", "d e f")]
    scores = score_candidates(loaded, [twins[0], *made, twins[1]])
    assert scores[0] == scores[-1]
    assert len({window for row in CandidateWindows(loaded, twins).rows for window in row}) == 2


@pytest.mark.parametrize("selection", ["random", "empty", "absent"])
def test_other_contexts(selection):
    loaded = loaded_models(source_context=1, target_context=1, context_selection=selection)
    made = examples(4)
    scores = score_candidates(loaded, made)
    assert [len(row) for row in scores] == [len(one.candidates) for one in made]
    if selection == "absent":
        check(scores, loaded, made, lambda one, c: ([one.source], [c.current], 0))


def test_what_candidates_have_in_common_is_computed_once():
    rows = np.array([0, 0, 0, 1, 1])
    tokens = [[2, 5, 6, 7], [2, 5, 6, 8, 9], [2, 5, 4], [2, 5, 6], [2, 5, 6]]
    previous = np.array([row + [1] * (5 - len(row)) for row in tokens])
    place, numbers = _distinct_places(rows, previous, previous != 1)
    prefixes = {}
    for row, text in enumerate(tokens):
        for step in range(len(text)):
            prefixes.setdefault((int(rows[row]), *text[: step + 1]), []).append(int(numbers[row, step]))
    assert place.sum() == len(prefixes) == 4 + 2 + 1 + 3
    assert all(len(set(found)) == 1 for found in prefixes.values())
    assert sorted(found[0] for found in prefixes.values()) == list(range(len(prefixes)))


def test_candidates_of_an_example_share_their_random_context():
    """Else the accuracy would be that of candidates after different contexts. It is another example's."""
    loaded = loaded_models(source_context=2, target_context=1, context_selection="random")
    words = iter(f"{a} {b}" for a in WORDS for b in WORDS)
    made = [  # no sentence occurs twice
        example(
            [next(words), next(words)],
            next(words),
            [([f"{a} h h", f"{a} h"], f"{a} g{' g' * n}") for n in range(3)],
        )
        for a in WORDS[:6]
    ]
    drawn = set()
    for one, row in zip(made, CandidateWindows(loaded, made).rows, strict=True):
        assert len({source for source, _ in row}) == 1 and len({target for _, target in row}) == 3
        separator = loaded.task.target_dictionary.index(SEPARATOR)
        assert len({target[: target.index(separator)] for _, target in row}) == 1
        text = loaded.task.source_dictionary.string(torch.tensor(row[0][0][0])).split(f" {SEPARATOR} ")
        assert text[-1] == one.source and not {*one.source_before, one.source} & {*text[:-1]}
        drawn.add(tuple(text[:-1]))
    assert len(drawn) == len(made)
    with pytest.raises(BadInput, match="--context-selection random needs at least two examples"):
        score_candidates(loaded, made[:1])


def test_contexts_of_a_contrastive_set_are_not_shuffled():
    loaded = loaded_models(source_context=1, context_selection="shuffled")
    with pytest.raises(BadInput, match="--context-selection shuffled"):
        score_candidates(loaded, examples())
