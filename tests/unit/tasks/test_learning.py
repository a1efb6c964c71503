"""A window model learns what only the previous sentence can tell; a sentence model stays at exactly 50 %.

The smallest version of the demo corpus's learning test: words whose translation depends on the sentence
before, on the source side or on the target side.
"""

import argparse

import numpy as np
import pytest
import torch
from fairseq.data import Dictionary
from fairseq.models import build_model

from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.criterions.context_discounted import ContextDiscountedCriterion
from ctxmt_fairseq.evaluation.contrastive_report import contrastive_report
from ctxmt_fairseq.evaluation.contrastive_scoring import score_candidates
from ctxmt_fairseq.evaluation.contrastive_sets import (
    Candidate,
    ContrastiveExample,
    ContrastiveSet,
    Convention,
)
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.tasks.document_window import DocumentWindowConfig, DocumentWindowTask
from ctxmt_fairseq.tasks.search.running_document import Sentences
from ctxmt_fairseq.text.documents import Documents

THINGS = {"house": "la", "car": "la", "book": "le", "train": "le"}  # the pronoun that each thing takes
FILLERS = ["here", "there", "now", "then"]


def task_with(context):
    dictionary = Dictionary()
    for word in [*THINGS, *FILLERS, "it", "la", "le", "greet", "tu", "vous"]:
        dictionary.add_symbol(word)
    cfg = DocumentWindowConfig(
        data="",
        source_lang="en",
        target_lang="fr",
        source_context=context,
        target_context=context,
        seed=1,
        train_subset="train",
        dataset_impl=None,
        required_seq_len_multiple=1,
    )
    return DocumentWindowTask(cfg, dictionary, dictionary)


def documents(count):
    """(source, target) documents of two sentences: a thing and "it", or a greeting and another greeting."""
    random = np.random.default_rng(1)
    for _ in range(count):
        fillers = random.choice(FILLERS, 2)
        if random.random() < 0.5:
            thing = random.choice(list(THINGS))
            yield (
                [f"{thing} {fillers[0]}", f"it {fillers[1]}"],
                [f"{thing} {fillers[0]}", f"{THINGS[thing]} {fillers[1]}"],
            )
        else:
            form = random.choice(["tu", "vous"])
            yield [f"greet {filler}" for filler in fillers], [f"{form} {filler}" for filler in fillers]


def twins():
    """Pairs of examples that only the previous source (or target) sentence tells apart."""
    for filler in FILLERS:
        for right, thing in enumerate(["car", "train"]):
            yield example("pronoun", f"{thing} here", f"{thing} here", f"it {filler}", ["la", "le"], right)
        for right, form in enumerate(["tu", "vous"]):
            yield example("deixis", "greet here", f"{form} here", f"greet {filler}", ["tu", "vous"], right)


def example(phenomenon, source_before, target_before, source, words, right):
    filler = source.split()[1]
    candidates = tuple(Candidate((target_before,), f"{word} {filler}") for word in words)
    name = f"{phenomenon}-{filler}-{right}"
    return ContrastiveExample(name, (source_before,), source, (), candidates, right, phenomenon, 1)


def train(task, updates):
    torch.manual_seed(1)
    args = argparse.Namespace(
        arch="concat_transformer_tiny",
        encoder_embed_dim=32,
        encoder_ffn_embed_dim=64,
        share_all_embeddings=True,
        segment_positions="shift",
        segment_shift=4,
        dropout=0.0,
        max_source_positions=64,
        max_target_positions=64,
    )
    model = build_model(args, task)
    criterion = ContextDiscountedCriterion(task, False, 0.1, context_discount=0.1)
    pairs = list(documents(400))
    encode = task.source_dictionary.encode_line
    dataset = task.build_dataset(
        "train",
        *(Sentences(encode(text).long() for pair in pairs for text in pair[side]) for side in (0, 1)),
        Documents.from_lengths([2] * len(pairs)),
        current=None,
        training=True,
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    batches = []
    for epoch in range(1, updates + 1):
        if not batches:
            dataset.set_epoch(epoch)
            batches = list(dataset.batch_by_size(dataset.ordered_indices(), max_sentences=100))
        batch = dataset.collater([dataset[int(index)] for index in batches.pop()])
        loss, sample_size, _ = criterion(model, batch)
        optimizer.zero_grad()
        (loss / sample_size).backward()
        optimizer.step()
    return model.eval()


def accuracies(model, task):
    words = Subwords(None)
    loaded = LoadedModels([model], task, torch.device("cpu"), words, words)
    examples = tuple(twins())
    suite = ContrastiveSet("twins", "jsonl", examples, Convention("sum", "current"))
    report = contrastive_report(suite, score_candidates(loaded, examples)).chosen
    return {name: tally["accuracy"] for name, tally in report["phenomena"].items()}


def test_a_window_answers_both_phenomena():
    task = task_with(context=1)
    assert min(accuracies(train(task, 250), task).values()) >= 95


@pytest.mark.parametrize("updates", [0, 100])
def test_a_sentence_model_scores_exactly_half(updates):
    task = task_with(context=0)
    assert accuracies(train(task, updates), task) == {"pronoun": 50.0, "deixis": 50.0}
