"""Kept encoder states while documents are translated: nothing is encoded twice, and nothing changes."""

import functools
import itertools
from argparse import Namespace

import numpy as np
import pytest
import torch

from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.data.context_options import SELECTIONS
from ctxmt_fairseq.evaluation.contrastive_scoring import score_candidates
from ctxmt_fairseq.generation.document_translation import DocumentTranslator
from ctxmt_fairseq.generation.forced_scoring import TranslationScorer
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.models.blocks.sentence_cache import SentenceCache
from ctxmt_fairseq.models.caching_transformer import CachingEncoder
from ctxmt_fairseq.tasks.multi_source import MultiSourceConfig, MultiSourceTask
from ctxmt_fairseq.text.documents import Documents
from tests.helpers.random_models import arguments
from tests.helpers.window_datasets import VOCABULARY, sentences
from tests.unit.evaluation.test_contrastive_scoring import example

DOCUMENTS = (5, 1, 3)
SOURCES, TARGETS = sentences(sum(DOCUMENTS), 4), sentences(sum(DOCUMENTS), 210)


def translator(cached, shortening="none", **options):
    task = MultiSourceTask(
        MultiSourceConfig(seed=1, required_seq_len_multiple=1, **options), VOCABULARY, VOCABULARY
    )
    torch.manual_seed(1)
    model = task.build_model(
        arguments("caching_transformer_tiny", share_all_embeddings=True, shortening=shortening)
    ).eval()
    for parameter in model.parameters():
        if parameter.dim() == 1:
            torch.nn.init.normal_(parameter, 0.5, 0.3)
    loaded = LoadedModels([model], task, torch.device("cpu"), Subwords(), Subwords())
    made = DocumentTranslator(loaded, Namespace(beam=2, max_len_a=0, max_len_b=4), width=2)
    if not cached:
        made.caching = []
    return made


def translate(made, targets=None):
    """Line -> tokens and score of the best hypothesis."""
    documents = Documents.from_lengths(DOCUMENTS)
    running = made.running(list(SOURCES), documents, targets and list(targets))
    best = {line: nbest[0] for line, nbest in made.translate(running, range(len(SOURCES)))}
    return {line: (best[line]["tokens"].tolist(), float(best[line]["score"])) for line in sorted(best)}


@functools.cache
def translations(cached, **options):
    """The same, made once."""
    targets = TARGETS if options["context_selection"] == "reference" else None
    return translate(translator(cached, **options), targets)


# Which sentences are kept is decided before they are shortened, for source and target sentences alike.
KINDS = [
    kind if kind[0] == "document" or kind[1:] == ("group", 1) else pytest.param(*kind, marks=pytest.mark.slow)
    for kind in itertools.product(SELECTIONS, ("none", "group"), (0, 1))
]


@pytest.mark.parametrize(("selection", "shortening", "target_rows"), KINDS)
def test_kept_states_change_no_translation(selection, shortening, target_rows):
    window = {"source_context": 2, "target_context_on_source": target_rows}
    options = {"shortening": shortening, "context_selection": selection, **window}
    kept, anew = (translations(cached, **options) for cached in (True, False))
    assert list(kept) == list(range(len(SOURCES)))
    for line, (tokens, score) in anew.items():
        assert kept[line][0] == tokens
        assert kept[line][1] == pytest.approx(score, abs=1e-5)
    if selection != "document":
        plain = translations(True, **{**options, "context_selection": "document"})
        assert any(plain[line] != kept[line] for line in kept), "the context is read"


@pytest.mark.parametrize("target_rows", [0, 1], ids=["source rows", "source and target rows"])
def test_each_sentence_of_a_document_is_encoded_once(target_rows, monkeypatch):
    rows = {True: 0, False: 0}
    embed = CachingEncoder.forward_embedding

    def counted(self, tokens, *args):
        rows[self.sentence_cache is not None] += len(tokens)
        return embed(self, tokens, *args)

    monkeypatch.setattr(CachingEncoder, "forward_embedding", counted)
    for cached in (True, False):
        translate(translator(cached, source_context=2, target_context_on_source=target_rows))
    followed = sum(DOCUMENTS) - len(DOCUMENTS)  # sentences that are the next one's target context
    nothing = 1  # stands in for the context of a batch that has none
    assert rows[True] == sum(DOCUMENTS) + target_rows * (followed + nothing)
    assert rows[False] > 1.5 * rows[True]


def test_the_states_used_longest_ago_are_dropped_but_never_those_of_the_batch():
    cache = SentenceCache(capacity=3)
    states = torch.arange(5 * 4 * 2.0).view(5, 4, 2)
    sizes = np.array([4, 1, 2, 4, 3])
    cache.store(range(5), states, sizes.tolist())
    found, missing = cache.gather([0, 4, 2, 1])
    for row, key in enumerate([0, 4, 2, 1]):
        assert torch.equal(found[row, ~missing[row]], states[key, : sizes[key]])
    assert cache.missing(range(5)) == [3]
    cache.gather([1])
    assert cache.missing(range(5)) == [0, 3]


@pytest.mark.parametrize(
    ("batch_runs", "cached", "unique"), [(0, False, False), (4, False, True), (0, True, True)]
)
def test_batches_hold_a_sentence_once_where_spans_share_it_or_its_states_are_kept(batch_runs, cached, unique):
    made = translator(cached, source_context=1, batch_runs=batch_runs)
    running = made.running(SOURCES, Documents.from_lengths(DOCUMENTS))
    assert running.dataset.unique_sentences is unique
    batch, _ = running.batch([0, 1], forced=False)
    assert (batch["windows"]["sizes"].keys is not None) is cached


def test_states_that_a_translation_keeps_are_not_those_of_sentences_scored_later():
    made = translator(True, source_context=1, batch_runs=4)
    words = [([], "w3"), ([], "w4 w5")]
    examples = [example([f"w{number} w{2 * number}"], f"w{number + 9}", words) for number in range(9)]

    def scores():
        found = score_candidates(made.loaded, examples, max_tokens=8)
        scorer = TranslationScorer(SOURCES, TARGETS, Documents.from_lengths(DOCUMENTS), max_tokens=1)
        given = [float(score.window.sum()) for score in scorer.scores(made.loaded)]
        return given + [score.current_sum for candidates in found for score in candidates]

    before = scores()
    translate(made)
    assert scores() == pytest.approx(before, abs=1e-5)
