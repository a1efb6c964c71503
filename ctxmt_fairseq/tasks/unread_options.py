"""Refuses options of fairseq's commands that would do nothing, or something wrong, with these tasks.

``tests/unit/tasks/test_fairseq_options.py`` has a line for every option that the commands have.
"""

import ast
import json
from argparse import ArgumentParser, Namespace
from typing import Any, Dict

import torch
from fairseq.criterions import CRITERION_REGISTRY
from fairseq.dataclass.configs import GenerationConfig
from fairseq.logging import metrics

from ctxmt_fairseq.base.directions import highest_is_best
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data.context_options import ALL, flag
from ctxmt_fairseq.tasks.decoding_task import DecodingTask
from ctxmt_fairseq.text.word_weights import CXMI, TAGS

_SPEECH = "only fairseq's two-pass speech models read it"
_REFINING = "only models that refine a translation in steps read it"
_VALID = "name the sets, as in --valid-subset valid,valid1; each is validated by itself"
_SHARDS = "every process would translate all; give each a file of whole documents, or use ctxmt translate"

# Name -> why it is refused, or what to do instead.
UNREAD = {
    "load_alignments": "no criterion reads them here; --attention-highlights teaches attention",
    "num_batch_buckets": "batches are not padded to a few sizes",
    "truncate_source": "of a window that is too long for the model the farthest context is left out, and "
    "--skip-invalid-size-inputs-valid-test leaves out sentences that are too long",
    "upsample_primary": "repeat whole documents in the training text",
    "use_plasma_view": "sentences are memory-mapped",
    "plasma_path": "sentences are memory-mapped",
    "combine_valid_subsets": _VALID,
    "num_shards": _SHARDS,
    "shard_id": _SHARDS,
    "beam_mt": _SPEECH,
    "max_len_a_mt": _SPEECH,
    "max_len_b_mt": _SPEECH,
    "lenpen_mt": _SPEECH,
    "eos_token": _SPEECH,
    "print_step": _REFINING,
    "iter_decode_eos_penalty": _REFINING,
    "iter_decode_max_iter": _REFINING,
    "iter_decode_force_max_iter": _REFINING,
    "iter_decode_with_beam": _REFINING,
    "iter_decode_with_external_reranker": _REFINING,
    "retain_iter_history": _REFINING,
    "decoding_format": _REFINING,
    "no_early_stop": "the search ends when it has --beam finished hypotheses",
    "no_beamable_mm": "only fully convolutional models read it",
    "match_source_len": "the source has context besides the sentence; see --max-len-a and --min-len",
    "diverse_beam_groups": "fairseq's search stops at an IndexError; see --diversity-rate",
    "diverse_beam_strength": "fairseq's search stops at an IndexError; see --diversity-rate",
    "replace_unk": "it needs fairseq's raw text, which these data folders do not have",
    "lm_path": "language models cannot be joined to these tasks' search",
    "lm_weight": "language models cannot be joined to these tasks' search",
    "constraints": "these tasks' search knows no constraints",
    "sacrebleu": "use --scoring sacrebleu",
    "encoder_layers_to_keep": "--encoder-layers says how many layers there are",
    "decoder_layers_to_keep": "--decoder-layers says how many layers there are",
    "write_checkpoints_asynchronously": "without iopath fairseq trains nothing, and with it no "
    "checkpoint_last.pt is written, from which a training goes on",
    "pipeline_model_parallel": "these models cannot be cut into pipelines",
    "model_parallel_size": "these models cannot be cut into parts",
}
_OF_BATCHES = {"batch_runs", "count_current_tokens"}  # these change no example
_CRITERIONS = (  # fairseq's others are about speech, classes, alignments or other kinds of models
    "cross_entropy",
    "label_smoothed_cross_entropy",
    "label_smoothed_cross_entropy_with_rdrop",
    "adaptive_loss",
)
_SCORERS = ("bleu", "sacrebleu", "chrf")
# Options that nothing reads without another one.
_NEEDED = {
    "attention_highlights": "attention_weight",
    "attention_layers": "attention_weight",
    "valid_contrast_examples": "valid_contrast",
}


def refuse_unread(args: Namespace, parser: ArgumentParser) -> None:
    """Refuse options of a command line, other than the parser's defaults, that the tasks do not read."""

    def given(name: str) -> bool:
        return getattr(args, name, None) not in (None, parser.get_default(name))

    for name, reason in UNREAD.items():
        if given(name):
            raise BadInput(f"{flag(name)}: {reason}")
    for name, needed in _NEEDED.items():
        if given(name) and not getattr(args, needed, None):
            raise BadInput(f"{flag(name)} needs {flag(needed)}")
    if getattr(args, "segment_positions", "shift") != "shift" and args.segment_shift != "avg-corpus":
        raise BadInput("--segment-shift needs --segment-positions shift")  # the default says nothing
    if given("need_weight") and args.token_weights not in (CXMI, TAGS):
        raise BadInput(f"--need-weight needs --token-weights {CXMI} or {TAGS}")
    if given("scoring") and args.scoring not in _SCORERS:
        raise BadInput(f"--scoring {args.scoring}: expected {', '.join(_SCORERS)}; see ctxmt score")
    if getattr(args, "score_reference", False) and given("print_alignment"):
        raise BadInput("--print-alignment: expected no --score-reference; see ctxmt analyse attention")
    if getattr(args, "fp16", False) and (args.cpu or not torch.cuda.is_available()):
        raise BadInput("--fp16 needs a GPU; CPUs have --amp")
    width = getattr(args, "decoder_embed_dim", None)
    shared = getattr(args, "share_all_embeddings", False) or getattr(
        args, "share_decoder_input_output_embed", False
    )
    if shared and getattr(args, "decoder_output_dim", width) != width:
        raise BadInput(f"--decoder-output-dim: expected {width}, as shared embeddings have")
    if shared and getattr(args, "adaptive_softmax_cutoff", None):
        raise BadInput(
            "--adaptive-softmax-cutoff: expected no shared embeddings, with which fairseq loads none"
        )
    criterion = getattr(args, "criterion", None)
    made_by = getattr(CRITERION_REGISTRY.get(criterion), "__module__", "")
    if made_by.startswith("fairseq.") and criterion not in _CRITERIONS:
        raise BadInput(f"--criterion {criterion}: of fairseq's, expected {', '.join(_CRITERIONS)}")
    _check_overrides(getattr(args, "model_overrides", None) or "{}")
    if "," in getattr(args, "train_subset", ""):
        raise BadInput(f"--train-subset {args.train_subset}: expected one split; join their texts")
    if getattr(args, "disable_validation", False):
        for name in ("patience", "keep_best_checkpoints"):
            if getattr(args, name, -1) > 0:
                raise BadInput(f"{flag(name)}: expected no --disable-validation")
    elif hasattr(args, "save_dir") and args.train_subset in args.valid_subset.split(","):
        # It is one dataset, which a validation would put back to the draws of the first epoch, too.
        training = {name for name, each in ALL.items() if each.how["training"]}
        changing = [name for name in ALL if name in training - _OF_BATCHES and given(name)]
        changing += ["context_selection"] * (args.context_selection in ("random", "shuffled"))
        if changing:
            raise BadInput(
                f"--valid-subset {args.valid_subset}: expected no {flag(changing[0])}, which changes the "
                f"examples of {args.train_subset}; fairseq-validate measures them as they are"
            )
    if getattr(args, "eval_bleu", False):
        _check_search(args.eval_bleu_args)


def _check_overrides(text: str) -> None:
    """Refuse ``--model-overrides`` of what the command's own options say."""
    try:
        names = {*ast.literal_eval(text)} & {*ALL}
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise BadInput(f"--model-overrides {text}: expected a dictionary, such as {{'beam': 4}}") from None
    if names:
        name = min(names)
        raise BadInput(f"--model-overrides {text}: give {flag(name)} to the command itself")


def _check_search(text: str) -> None:
    """Check ``--eval-bleu-args``, of which fairseq reads the names that it knows."""
    try:
        names = json.loads(text).keys()
    except (ValueError, AttributeError, RecursionError):
        raise BadInput(f'--eval-bleu-args {text}: expected JSON, such as {{"beam": 4}}') from None
    unknown = ", ".join(sorted(names - GenerationConfig.__dataclass_fields__.keys()))
    if unknown:
        raise BadInput(f"--eval-bleu-args: fairseq-generate has no options {unknown}")


_WITH_OPTIONS = {
    "bleu": "eval_bleu",
    "contrast_accuracy": "valid_contrast",
    **dict.fromkeys(("accuracy", "n_correct", "total"), "report_accuracy"),
    **dict.fromkeys(("context_sentence_loss", "current_context_ratio"), "target_context"),
}
_OF_TRAINING = "token_weight"  # a validation has no weights


class _Anything(Dict[str, Any]):
    """A criterion's logging output that has every entry."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> int:
        return 2 if name == "ntokens" else 1  # not sample_size: losses per token are logged, too

    def get(self, name: str, default: Any = None) -> Any:
        return self[name]


def check_best_metric(args: Namespace, parser: ArgumentParser) -> None:
    """Refuse a --best-checkpoint-metric that no validation computes, at the first of which fairseq stops, and
    one whose lowest value would be taken for the best."""
    wanted = getattr(args, "best_checkpoint_metric", None)
    if wanted is None or getattr(args, "disable_validation", False):
        return
    with metrics.aggregate(new_root=True) as found:
        try:
            CRITERION_REGISTRY[args.criterion].reduce_metrics([_Anything()])
        except Exception:  # a criterion of --user-dir may want more of its logging outputs
            return
    possible = {*found.keys(), "bleu", "contrast_accuracy"} - {_OF_TRAINING}
    possible = {name for name in possible if not name.startswith("_")}
    names = {
        name for name in possible if name not in _WITH_OPTIONS or getattr(args, _WITH_OPTIONS[name], False)
    }
    if wanted not in names and getattr(args, "valid_contrast", None):
        names.update(DecodingTask.contrastive_validation.metrics(args.valid_contrast))
    if wanted not in names:
        needs = f"; it needs {flag(_WITH_OPTIONS[wanted])}" if wanted in possible else ""
        raise BadInput(
            f"--best-checkpoint-metric {wanted}: expected one of {', '.join(sorted(names))}{needs}"
        )
    if highest_is_best(wanted) and not args.maximize_best_checkpoint_metric:
        needed = "--maximize-best-checkpoint-metric"
        raise BadInput(f"--best-checkpoint-metric {wanted} needs {needed}: the highest is the best")
