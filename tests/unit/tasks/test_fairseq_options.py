"""Every option of fairseq's commands with these tasks: as fairseq reads it, without meaning, or refused."""

import argparse

import pytest
from fairseq import options
from fairseq.criterions import CRITERION_REGISTRY
from fairseq.tasks import TASK_REGISTRY

import ctxmt_fairseq
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.tasks.unread_options import UNREAD, check_best_metric

ctxmt_fairseq.register()  # whichever of the two was imported first
TASKS = ("document_window", "multi_source", "metadata_context")
PARSERS = {
    "train": options.get_training_parser,
    "generate": options.get_generation_parser,
    "interactive": options.get_interactive_generation_parser,
    "validate": options.get_validation_parser,
}

# fairseq's commands, trainer, optimizers, loaders and search read them; no task does, ours or fairseq's.
AS_FAIRSEQ = """
help no_progress_bar log_interval log_format log_file aim_repo aim_run_hash tensorboard_logdir wandb_project
azureml_logging seed cpu tpu bf16 memory_efficient_bf16 fp16 memory_efficient_fp16 fp16_no_flatten_grads
fp16_init_scale fp16_scale_window fp16_scale_tolerance on_cpu_convert_precision min_loss_scale
threshold_loss_scale amp amp_batch_retries amp_init_scale amp_scale_window user_dir empty_cache_freq
all_gather_list_size quantization_config_path profile reset_logging suppress_crashes criterion tokenizer bpe
optimizer lr_scheduler scoring task num_workers skip_invalid_size_inputs_valid_test max_tokens batch_size
required_batch_size_multiple required_seq_len_multiple dataset_impl data_buffer_size train_subset valid_subset
ignore_unused_valid_subsets validate_interval validate_interval_updates validate_after_updates
fixed_validation_seed disable_validation max_tokens_valid batch_size_valid max_valid_steps curriculum
gen_subset grouped_shuffling distributed_world_size distributed_num_procs distributed_rank
distributed_backend distributed_init_method distributed_port device_id distributed_no_spawn ddp_backend
ddp_comm_hook bucket_cap_mb fix_batches_to_gpus find_unused_parameters gradient_as_bucket_view
heartbeat_timeout broadcast_buffers slowmo_momentum slowmo_base_algorithm localsgd_frequency nprocs_per_node
zero_sharding no_reshard_after_forward fp32_reduce_scatter cpu_offload use_sharded_state
not_fsdp_flatten_parameters arch max_epoch max_update stop_time_hours clip_norm sentence_avg update_freq lr
stop_min_lr use_bmuf skip_remainder_batch debug_param_names store_ema ema_decay ema_start_update
ema_seed_model ema_update_freq ema_fp32 save_dir restore_file continue_once finetune_from_model
reset_dataloader reset_lr_scheduler reset_meters reset_optimizer optimizer_overrides save_interval
save_interval_updates keep_interval_updates keep_interval_updates_pattern keep_last_epochs
keep_best_checkpoints no_save no_epoch_checkpoints no_last_checkpoints no_save_optimizer_state
best_checkpoint_metric maximize_best_checkpoint_metric patience checkpoint_suffix checkpoint_shard_count
load_checkpoint_on_all_dp_ranks path post_process quiet model_overrides
results_path beam nbest max_len_a max_len_b min_len unnormalized lenpen unkpen score_reference prefix_size
no_repeat_ngram_size sampling sampling_topk sampling_topp temperature diversity_rate print_alignment
retain_dropout retain_dropout_modules no_seed_provided buffer_size input
""".split()
# fairseq's translation task reads them, and so do ours.
AS_TRANSLATION = """
data source_lang target_lang left_pad_source left_pad_target max_source_positions max_target_positions
eval_bleu eval_bleu_args eval_bleu_detok eval_bleu_detok_args eval_tokenized_bleu eval_bleu_remove_bpe
eval_bleu_print_samples
""".split()
OURS = """
sentence_checkpoint valid_contrast valid_contrast_examples
attention_highlights attention_weight attention_layers decoding source_context
source_context_after target_context target_context_on_source context_selection keep_sentence
sample_context_size coword_dropout max_window_tokens max_sentence_tokens count_current_tokens no_separator
window_tokens batch_runs token_weights need_weight upsample context_store text_encoder metadata_fields
current_vector context_dropout context_end missing_context
""".split()
_PIPELINE = "without --pipeline-model-parallel, which is refused"
_BATCHES = "an epoch's batches are made anew, of nothing but (seed, epoch)"
WITHOUT_MEANING = {
    "fast_stat_sync": "fairseq reads it no more",
    "update_epoch_batch_itr": _BATCHES,
    "update_ordered_indices_seed": _BATCHES,
    "reuse_dataloader": _BATCHES,
    "persistent_workers": _BATCHES,
    **{
        f"pipeline_{name}": _PIPELINE
        for name in ("balance", "devices", "chunks", "checkpoint", "encoder_balance", "encoder_devices",
                     "decoder_balance", "decoder_devices")
    },
}  # fmt: skip
TABLE = {*AS_FAIRSEQ, *AS_TRANSLATION, *OURS, *WITHOUT_MEANING, *UNREAD}
DISCOUNTED = (
    *("--criterion", "context_discounted_label_smoothed_cross_entropy"),
    "--best-checkpoint-metric",
)
HIGHEST = "--maximize-best-checkpoint-metric"
OF_MODELS = {"encoder_layers_to_keep", "decoder_layers_to_keep"}


def known(parser):
    return {action.dest: action for action in parser._actions}


@pytest.fixture(scope="module")
def every_option():
    """name -> the option's argparse action."""
    found = {}
    for make in PARSERS.values():
        found.update(known(make()))
    for task in TASKS:
        parser = argparse.ArgumentParser()
        TASK_REGISTRY[task].add_args(parser)
        found.update(known(parser))
    return found


def test_every_option_is_in_the_table_once(every_option):
    """A new option of fairseq's, or of ours, is looked at before it is in a release."""
    assert every_option.keys() ^ (TABLE - OF_MODELS) == set()
    lists = [*AS_FAIRSEQ, *AS_TRANSLATION, *OURS, *WITHOUT_MEANING, *UNREAD]
    assert len(lists) == len(TABLE)


def parsed(command, *arguments, task="document_window"):
    more = ("--arch", "transformer_tiny") if command == "train" else ()
    words = ["data", "--task", task, "--cpu", *more, *map(str, arguments)]
    return options.parse_args_and_arch(PARSERS[command](), input_args=words)


def value_of(action):
    """Words that give an option another value than the default."""
    if action.nargs == 0:
        return []
    if action.choices:
        return [next(str(choice) for choice in action.choices if choice != action.default)]
    return ["7"]


def test_unread_options_are_refused(every_option):
    for command, make in PARSERS.items():
        parser = make()
        TASK_REGISTRY["multi_source"].add_args(parser)
        for name in UNREAD.keys() & known(parser).keys():
            action = known(parser)[name]
            with pytest.raises(BadInput, match=f"^--{name.replace('_', '-')}: "):
                parsed(command, action.option_strings[0], *value_of(action), task="multi_source")
    for name in OF_MODELS:
        with pytest.raises(BadInput, match="layers says how many"):
            parsed("train", "--" + name.replace("_", "-"), "0")


def test_fairseqs_own_tasks_keep_them():
    args = parsed("train", "--truncate-source", "--upsample-primary", 2, task="translation")
    assert args.truncate_source and args.upsample_primary == 2
    assert parsed("generate", "--num-shards", 2, task="translation").num_shards == 2


def test_what_is_given_by_default_is_no_use_of_it():
    for command in PARSERS:
        for task in TASKS:
            parsed(command, task=task)
    parsed("generate", "--num-shards", 1, "--lm-weight", 0.0)
    parsed("train", "--need-weight", 5.0, "--valid-subset", "valid,train", "--count-current-tokens")
    parsed("validate", "--valid-subset", "train", "--sample-context-size")
    parsed("train", "--train-subset", "valid", "--disable-validation", "--upsample", "a=2")


@pytest.mark.parametrize(
    "command, arguments, message",
    [
        ("train", ("--fp16",), "--fp16 needs a GPU"),
        ("generate", ("--memory-efficient-fp16",), "--fp16 needs a GPU"),
        ("train", ("--train-subset", "train,valid"), "--train-subset train,valid: expected one split"),
        ("train", ("--disable-validation", "--patience", 3), "--patience: expected no --disable-validation"),
        (
            "train",
            ("--disable-validation", "--keep-best-checkpoints", 3),
            "--keep-best-checkpoints: expected",
        ),
        (
            "train",
            ("--share-all-embeddings", "--decoder-output-dim", 64),
            "--decoder-output-dim: expected 128",
        ),
        (
            "train",
            ("--best-checkpoint-metric", "bleu"),
            "--best-checkpoint-metric bleu: expected one of loss, nll_loss, ppl; it needs --eval-bleu",
        ),
        (
            "train",
            ("--best-checkpoint-metric", "accuracy", "--criterion", "label_smoothed_cross_entropy"),
            "expected one of loss, nll_loss, ppl; it needs --report-accuracy",
        ),
        ("train", ("--best-checkpoint-metric", "chrf", "--eval-bleu"), "expected one of bleu, loss, "),
        ("train", ("--best-checkpoint-metric", "contrast_accuracy"), "it needs --valid-contrast"),
        ("train", ("--best-checkpoint-metric", "bleu", "--eval-bleu"), f"bleu needs {HIGHEST}: the highest"),
        ("train", (*DISCOUNTED, "context_sentence_loss"), "it needs --target-context"),
        ("train", (*DISCOUNTED, "token_weight"), "expected one of current_loss, current_sentence_loss, loss"),
        (
            "train",
            ("--valid-contrast", "no-such-set", "--best-checkpoint-metric", "contrast_accuracy_x"),
            "no-such-set: no such file or folder",
        ),
        ("train", ("--attention-highlights", "marks"), "--attention-highlights needs --attention-weight"),
        ("train", ("--attention-layers", "encoder:2"), "--attention-layers needs --attention-weight"),
        (
            "train",
            ("--arch", "concat_transformer", "--segment-shift", "8"),
            "--segment-shift needs --segment-positions shift",
        ),
        ("train", ("--valid-contrast-examples", 40), "--valid-contrast-examples needs --valid-contrast"),
        ("train", ("--need-weight", 2), "--need-weight needs --token-weights cxmi or tags"),
        (
            "train",
            ("--need-weight", 2, "--token-weights", "pronoun=3"),
            "--need-weight needs --token-weights",
        ),
        ("train", ("--valid-subset", "valid,train", "--upsample", "a=2"), "expected no --upsample, which"),
        ("train", ("--valid-subset", "train", "--context-selection", "random"), "no --context-selection"),
        ("train", ("--eval-bleu", "--eval-bleu-args", "{"), "--eval-bleu-args {: expected JSON, such as"),
        ("train", ("--eval-bleu", "--eval-bleu-args", "[1]"), "expected JSON, such as"),
        ("train", ("--eval-bleu", "--eval-bleu-args", '{"beem": 4}'), "has no options beem"),
        (
            "train",
            ("--share-decoder-input-output-embed", "--adaptive-softmax-cutoff", "50,100"),
            "--adaptive-softmax-cutoff: expected no shared embeddings",
        ),
        *(
            ("train", ("--criterion", name), f"--criterion {name}: of fairseq's, expected cross_entropy,")
            for name in ("label_smoothed_cross_entropy_with_alignment", "nat_loss", "masked_lm", "model")
        ),
        ("generate", ("--model-overrides", "{'source_context': 0}"), "give --source-context to the command"),
        ("generate", ("--model-overrides", "{'beam'"), "expected a dictionary, such as {'beam': 4}"),
        ("generate", ("--scoring", "wer"), "--scoring wer: expected bleu, sacrebleu, chrf"),
        ("generate", ("--score-reference", "--print-alignment"), "--print-alignment: expected no"),
    ],
)
def test_options_that_cannot_be_together(command, arguments, message):
    with pytest.raises(BadInput, match=message):
        parsed(command, *arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ("bleu", "--eval-bleu", HIGHEST),
        ("ppl",),
        ("current_context_ratio", *DISCOUNTED[:2], "--target-context", "1"),
        ("accuracy", "--criterion", "label_smoothed_cross_entropy", "--report-accuracy", HIGHEST),
        ("chrf", "--disable-validation"),
        ("contrast_accuracy", "--valid-contrast", "a-set", HIGHEST),
    ],
)
def test_metrics_that_a_validation_computes(arguments):
    args = parsed("train", "--best-checkpoint-metric", *arguments)
    assert args.best_checkpoint_metric == arguments[0]


def test_a_criterion_whose_metrics_cannot_be_told(monkeypatch):
    class Other:
        def reduce_metrics(outputs):
            raise TypeError

    monkeypatch.setitem(CRITERION_REGISTRY, "cross_entropy", Other)
    args = argparse.Namespace(best_checkpoint_metric="f1", criterion="cross_entropy")
    check_best_metric(args, argparse.ArgumentParser())
