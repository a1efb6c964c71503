"""Where the options of a task come from: the command line, the checkpoint, the defaults."""

from argparse import Namespace

import pytest
from fairseq.data import Dictionary

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data.context_options import ALL
from ctxmt_fairseq.data.context_options import WindowOptions as ContextOptions
from ctxmt_fairseq.tasks.document_window import DocumentWindowConfig, DocumentWindowTask
from ctxmt_fairseq.tasks.multi_source import MultiSourceConfig, MultiSourceTask


def dictionary(*words):
    result = Dictionary()
    for word in words:
        result.add_symbol(word)
    return result


def task(joined=True, **values):
    values = {"seed": 1, **values}
    return DocumentWindowTask(
        DocumentWindowConfig(**values), dictionary("a"), dictionary("a") if joined else dictionary("b")
    )


def test_no_command_has_a_flag_that_switches_off_what_a_checkpoint_says():
    """A flag is False where it is not given; such options are words, "yes" and "no"."""
    offered = [name for name, each in ALL.items() if each.how["offered"] and not each.how["training"]]
    assert offered and not [name for name in offered if isinstance(ALL[name].default, bool)]


def test_what_nobody_sets_is_the_default():
    assert DocumentWindowConfig().source_context is None
    assert task().context_options() == ContextOptions()
    assert task().options["keep_sentence"] == "current"


def test_dictionaries_get_the_symbols_they_lack():
    made = task()
    for side in (made.source_dictionary, made.target_dictionary):
        assert "<sep>" in side and "<mask>" in side


def test_options_travel_with_the_checkpoint():
    trained = task(source_context=3, target_context=2, context_selection="random", keep_sentence="first")
    evaluated = task()
    evaluated.load_state_dict(trained.state_dict())
    assert (
        evaluated.context_options()
        == trained.context_options()
        == ContextOptions(
            source_context=3, target_context=2, context_selection="random", keep_sentence="first"
        )
    )
    assert evaluated.options["keep_sentence"] == "first"
    assert evaluated.state_dict() == trained.state_dict(), "and with a checkpoint that is trained further"


def test_the_command_line_overrides_the_checkpoint_even_with_zero():
    evaluated = task(source_context=0, context_selection="document")
    evaluated.load_state_dict(
        task(source_context=3, target_context=2, context_selection="empty").state_dict()
    )
    assert evaluated.context_options() == ContextOptions(target_context=2)


@pytest.mark.parametrize(
    "given, warned",
    [
        ({}, []),
        ({"source_context": 0, "target_context": 2}, []),
        ({"source_context": 4}, ["--source-context 4: the model was trained with 3"]),
        (
            {"source_context_after": 1, "target_context": 3},
            ["--source-context-after 1", "--target-context 3"],
        ),
    ],
)
def test_more_context_than_in_training_is_warned_about(given, warned, caplog):
    evaluated = task(**given)
    for _ in range(2):  # of an ensemble once
        evaluated.load_state_dict(task(source_context=3, target_context=2).state_dict())
    assert len(caplog.records) == len(warned)
    assert all(text in record.getMessage() for text, record in zip(warned, caplog.records, strict=True))


def test_another_selection_applies_to_the_context_of_the_checkpoint():
    evaluated = task(context_selection="reference")  # takes the place of the checkpoint's source context
    evaluated.load_state_dict(task(source_context=3).state_dict())
    assert evaluated.context_options() == ContextOptions(source_context=3, context_selection="reference")


def test_validation_has_batches_of_spans_as_training_has():
    options = {"batch_runs": 4, "coword_dropout": 0.1}
    made = MultiSourceTask(MultiSourceConfig(seed=1, **options), dictionary("a"), dictionary("a"))
    training, validation = made.context_options(training=True), made.context_options()
    assert (training.batch_runs, training.coword_dropout) == (4, 0.1)
    assert (validation.batch_runs, validation.coword_dropout) == (4, 0.0)


def test_windows_without_separators_travel_with_the_checkpoint():
    trained = task(source_context=1, no_separator=True)
    assert not task().no_separator and trained.no_separator
    evaluated = task()
    evaluated.load_state_dict(trained.state_dict())
    assert evaluated.no_separator and evaluated.state_dict() == trained.state_dict()
    other = task(source_context=1).state_dict()
    assert "--no-separator: the checkpoints have " in stops(evaluated.load_state_dict, other)
    decoding = task(target_context=1)
    assert "--no-separator needs --target-context 0" in stops(decoding.load_state_dict, trained.state_dict())
    older = task(no_separator=True)
    older.load_state_dict({"context": {"source_context": 1}})  # from before the option
    assert older.no_separator


def test_sizes_are_sampled_in_training_only():
    made = task(source_context=2, sample_context_size=True)
    assert made.context_options(training=True).sample_context_size
    assert not made.context_options().sample_context_size
    evaluated = task()
    evaluated.load_state_dict(made.state_dict())
    assert not evaluated.context_options(training=True).sample_context_size


def test_a_checkpoint_without_options_changes_nothing():
    made = task(target_context=1)
    made.load_state_dict({})
    assert made.context_options() == ContextOptions(target_context=1)


def stops(function, *args):
    """What a function says of bad input."""
    with pytest.raises(BadInput) as refused:
        function(*args)
    return str(refused.value)


def test_checkpoints_that_disagree_need_a_decision():
    states = [task(source_context=size, target_context=1).state_dict() for size in (1, 3)]
    ensemble = task()
    ensemble.load_state_dict(states[0])
    error = stops(ensemble.load_state_dict, states[1])
    assert "--source-context: the checkpoints have 1 and 3; choose" in error
    decided = task(source_context=2)
    for state in states:
        decided.load_state_dict(state)
    assert decided.context_options() == ContextOptions(source_context=2, target_context=1)


def test_checkpoints_that_agree_make_an_ensemble():
    ensemble = task()
    for _ in range(2):
        ensemble.load_state_dict(task(source_context=2).state_dict())
    assert ensemble.context_options() == ContextOptions(source_context=2)


def test_models_with_other_inputs_make_no_ensemble():
    ensemble = task()
    plain = Namespace(arch="transformer_tiny")
    segments = Namespace(arch="concat_transformer_tiny", segment_positions="learned", segment_types="context")
    for _ in range(2):
        ensemble.build_model(segments)
    assert ensemble.request.format.kind == "window"
    error = "an ensemble needs models with the same kind of context, found window and none"
    assert error in stops(ensemble.build_model, plain)
    other = task()
    other.build_model(plain)
    assert "found none and window" in stops(other.build_model, segments)


@pytest.mark.parametrize(
    "values, cause",
    [
        ({"target_context_on_source": 1}, "--target-context-on-source"),
        ({"source_context": 1, "context_selection": "reference"}, "--context-selection reference"),
        ({"source_context": 1, "context_selection": "swapped"}, "--context-selection swapped"),
    ],
)
def test_target_text_on_the_source_side_needs_a_joined_dictionary(values, cause):
    task(joined=True, **values)
    with pytest.raises(BadInput, match="needs a joined dictionary") as caught:
        task(joined=False, **values)
    assert str(caught.value).startswith(cause)
    # The same through a checkpoint that does not say its symbols.
    evaluated, saved = task(joined=False), {"context": task(joined=True, **values).options}
    assert cause in stops(evaluated.load_state_dict, saved)


@pytest.mark.parametrize(
    "values, message",
    [
        ({"keep_sentence": "last"}, "--keep-sentence last: expected one of"),
        ({"coword_dropout": 1.0}, "--coword-dropout 1.0: expected a probability"),
        ({"coword_dropout": -0.1}, "--coword-dropout -0.1: expected a probability"),
        ({"source_context": -2}, "--source-context -2: expected a number of sentences"),
        ({"context_selection": "other"}, "--context-selection other: expected one of"),
        ({"max_window_tokens": 0}, "--max-window-tokens 0: expected 1 or more"),
        ({"max_sentence_tokens": 0}, "--max-sentence-tokens 0: expected 1 or more"),
        (
            {"no_separator": True, "source_context": 1, "target_context": 2},
            "--no-separator needs --target-context 0, found 2: ",
        ),
    ],
)
def test_values_out_of_range_are_named(values, message):
    with pytest.raises(BadInput) as caught:
        task(**values)
    assert str(caught.value).startswith(message)


def test_callers_of_the_task_see_bad_input(tmp_path):
    for language in ("en", "fr"):
        (tmp_path / f"dict.{language}.txt").write_text("a 1\n")
    cfg = DocumentWindowConfig(
        data=str(tmp_path), source_lang="en", target_lang="fr", seed=1, source_context=-1
    )
    assert "--source-context -1" in stops(DocumentWindowTask.setup_task, cfg)
