"""What fairseq's commands do with a batch of windows: they train and validate on it, and their generation
returns current sentences."""

import atexit
import functools
import itertools
import logging
from typing import Any, Dict, Iterable, List, Optional, Tuple

import torch
from fairseq import metrics
from fairseq.optim.amp_optimizer import AMPOptimizer
from fairseq.sequence_generator import SequenceGenerator
from fairseq.tasks.translation import EVAL_BLEU_ORDER, TranslationTask
from fairseq.utils import resolve_max_positions, strip_pad
from sacrebleu import corpus_bleu
from sacrebleu.metrics import BLEU

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.data_folder import first_folder, language_token
from ctxmt_fairseq.criterions.context_discounted import logged_sum
from ctxmt_fairseq.tasks import interactive
from ctxmt_fairseq.tasks.context_config import DECODINGS
from ctxmt_fairseq.tasks.cpu_autocast import with_bfloat16_products
from ctxmt_fairseq.tasks.search.beams import Ensemble
from ctxmt_fairseq.tasks.search.current_sentence import WindowCount
from ctxmt_fairseq.tasks.search.forced_prefix import ForcedPrefixEnsemble
from ctxmt_fairseq.tasks.search.split_translations import SplitTranslations
from ctxmt_fairseq.tasks.search.window_generator import (
    generate_current,
    remember_sentence_settings,
    show_current,
)
from ctxmt_fairseq.text.languages import bleu_tokenizer
from ctxmt_fairseq.text.symbols import SEPARATOR

logger = logging.getLogger(__name__)
# What fairseq's valid_step counts: correct n-grams, all n-grams, and the lengths of both sides.
_BLEU_PARTS = (
    [f"_bleu_counts_{order}" for order in range(EVAL_BLEU_ORDER)],
    [f"_bleu_totals_{order}" for order in range(EVAL_BLEU_ORDER)],
    ["_bleu_sys_len", "_bleu_ref_len"],
)


class DecodingTask(TranslationTask):
    """fairseq's translation task, for batches of windows.

    Attributes:
        window_count: counts the windows that were cut to their current sentence.
        references, with_unknown: how many references generation has read; how many have unknown words.
        document: the lines that ``fairseq-interactive`` has read.
        split_translations: those that ``fairseq-generate`` or a validation with BLEU has made.
        contrastive_validation: the class of ``contrast``, which scores the sets of ``--valid-contrast``;
            ``ctxmt_fairseq.register`` hands it in.
    """

    contrastive_validation: Any = None

    def __init__(self, cfg, src_dict, tgt_dict):
        super().__init__(cfg, src_dict, tgt_dict)
        self.window_count = WindowCount()
        self.references = self.with_unknown = 0
        self.document = interactive.InteractiveDocument(self)
        self.split_translations: Dict[str, SplitTranslations] = {}
        self.contrast: Any = None
        self.contrast_accuracies: Dict[str, float] = {}

    @property
    def decoding(self) -> Optional[str]:
        """How target windows are decoded, to be said; None: they are the current sentence alone."""
        how = self.cfg.decoding
        return f"--decoding {how}: {DECODINGS[how]}" if self.decodes_windows else None

    @property
    def decodes_windows(self) -> bool:
        """Whether a target window has more than the current sentence."""
        return self.options["target_context"] > 0 or self.options.get("context_end") == "eos"

    @property
    def forced(self) -> bool:
        """Whether the target's beginning is forced: its context, and its language's token."""
        return self.cfg.decoding == "prefix" and (self.decodes_windows or len(self.target_start) > 0)

    @property
    def searches_windows(self) -> bool:
        """Whether the search makes whole target windows."""
        return self.decodes_windows and not self.forced

    @functools.cached_property
    def target_start(self) -> torch.Tensor:
        """What every target sentence begins with, a language's token (1,), or nothing (0,)."""
        folder, token = first_folder(self.cfg.data), ""
        sides = (self.cfg.source_lang, self.src_dict), (self.cfg.target_lang, self.tgt_dict)
        for language, dictionary in sides:
            token = language_token(folder, language)
            if token and token not in dictionary:
                raise BadInput(f"dict.{language}.txt lacks the language's token {token}", folder)
        return torch.tensor([self.tgt_dict.index(token)] if token else [], dtype=torch.long)

    @property
    def dependent(self) -> bool:
        """Whether the translation of a sentence depends on those before it."""
        forced = self.cfg.decoding == "prefix" and self.decodes_windows
        return forced or self.context_options().target_text_on_source

    @property
    def reach(self) -> int:
        """How many sentences behind its own the window of a sentence ends (``--keep-sentence first``)."""
        options = self.options
        return options["target_context"] if options["keep_sentence"] == "first" else 0

    def limits(self, models: Iterable[Any]) -> Tuple[int, int]:
        """How many source and target positions all models have."""
        return resolve_max_positions(self.max_positions(), *(model.max_positions() for model in models))

    def build_generator(self, models, args, *more, **kwargs):
        """Make fairseq's search, or, with ``--score-reference``, what scores references."""
        if self.decoding and not getattr(args, "score_reference", False):
            logger.info("%s", self.decoding)
            if self.dependent and self.reach:
                raise BadInput("--keep-sentence first needs --decoding window, and no target text as source")
            for name in ("print_alignment", "prefix_size"):
                if self.reach and getattr(args, name, None):
                    raise BadInput(f"--{name.replace('_', '-')}: expected --keep-sentence current")
        if self.forced and not getattr(args, "score_reference", False):
            models = ForcedPrefixEnsemble(models, self.tgt_dict.eos(), self.tgt_dict.pad())
        models = models if isinstance(models, Ensemble) else Ensemble(models)
        if self.writes_separators and not self.searches_windows:
            models.separator, models.end = self.tgt_dict.index(SEPARATOR), self.tgt_dict.eos()
        own = getattr(models.models[0], "search_class", SequenceGenerator)
        kwargs.setdefault("seq_gen_cls", own)  # not the one that aligns whole windows
        try:
            generator = super().build_generator(models, args, *more, **kwargs)
        except (AssertionError, ValueError) as error:  # options that do not go together
            raise BadInput(str(error)) from error
        remember_sentence_settings(generator, args)
        return generator

    def begin_valid_epoch(self, epoch, model):
        super().begin_valid_epoch(epoch, model)
        self.split_translations.clear()  # they are an earlier model's
        if self.contrast is not None:
            self.contrast_accuracies = self.contrast.accuracies(model)

    def _report(self) -> None:
        report = self.window_count.report(self.searches_windows)
        if report:
            logger.warning("%s", report)
        if self.with_unknown:
            logger.warning(
                "%d of %d references have words that the dictionary lacks: no translation matches these, so "
                "the score above is too low; ctxmt translate and ctxmt score compare with the text itself",
                *(self.with_unknown, self.references),
            )

    def inference_step(self, generator, models, sample, prefix_tokens=None, constraints=None):
        """Return the n-best current sentences; afterwards ``sample`` has nothing but current sentences."""
        if not self.cfg.eval_bleu:  # validation logs the number
            atexit.unregister(self._report)
            atexit.register(self._report)  # fairseq-generate calls nothing later
        if "windows" not in sample:
            return self.document.translate(generator, models, sample)
        if (self.forced or self.dependent or self.reach) and hasattr(generator, "beam_size"):
            if prefix_tokens is not None:
                raise BadInput("--prefix-size: expected no target context, or --decoding window")
            hypotheses = self._translations_of_split(generator, models, sample)
        else:
            hypotheses = generate_current(
                generator,
                models,
                sample,
                self.tgt_dict.index(SEPARATOR),
                self.window_count,
                start=0 if hasattr(generator, "beam_size") else len(self.target_start),
                prefix_tokens=prefix_tokens,
                constraints=constraints,
            )
        show_current(sample, self.src_dict, self.tgt_dict.index(SEPARATOR), self.cfg.left_pad_source)
        if sample["target"] is not None:
            self.references += len(sample["target"])
            self.with_unknown += int(sample["target"].eq(self.tgt_dict.unk()).any(1).sum())
        return hypotheses

    def _translations_of_split(self, generator, models, sample):
        """Return the n-best current sentences of a batch, after the translations before them."""
        parts = sample["parts"]
        if parts.split not in self.split_translations:
            dataset = self.datasets[parts.split]
            self.split_translations[parts.split] = SplitTranslations(self, dataset, models)
        return self.split_translations[parts.split].translate(
            *(generator, models, parts.lines.tolist(), sample["net_input"]["src_tokens"].numel()),
            self.window_count,
        )

    def _inference_with_bleu(self, generator, sample, model):
        """Count for BLEU what users read: text without pieces, in the words that the language's tokenizer of
        sacrebleu finds. What the dictionary lacks matches nothing."""
        sample = dict(sample)  # a copy: fairseq keeps the first batch for workers that have run out of data
        found = self.inference_step(generator, [model], sample)
        ours = [self._text(best[0]["tokens"], "UNKNOWNTOKENINHYP") for best in found]
        references = [self._text(tokens, "UNKNOWNTOKENINREF") for tokens in sample["target"]]
        if self.cfg.eval_bleu_print_samples:
            logger.info("example hypothesis: %s\nexample reference: %s", ours[0], references[0])
        tokenize = bleu_tokenizer(self.cfg.target_lang) or BLEU.TOKENIZER_DEFAULT
        if self.cfg.eval_tokenized_bleu:
            tokenize = "none"
        return corpus_bleu(ours, [references], tokenize=tokenize, force=True)

    @functools.cached_property
    def _pieces(self) -> Optional[interactive.FolderPieces]:
        return interactive.FolderPieces.of(self.cfg)

    def _text(self, tokens: torch.Tensor, unknown: str) -> str:
        tokens = strip_pad(tokens, self.tgt_dict.pad()).int().cpu()
        text = self.tgt_dict.string(tokens, self.cfg.eval_bleu_remove_bpe, unk_string=unknown)
        text = self.tokenizer.decode(self._pieces.decode(text) if self._pieces else text)
        return self.tokenizer.target.surface(text)

    def train_step(self, sample, model, criterion, optimizer, *args, **kwargs):
        if isinstance(optimizer, AMPOptimizer) and next(model.parameters()).is_cpu:
            criterion = with_bfloat16_products(model, criterion)
        return super().train_step(sample, model, criterion, optimizer, *args, **kwargs)

    def valid_step(self, sample, model, criterion):
        check_targets(sample["target"])
        before = self.window_count.mismatched
        loss, sample_size, logging_output = super().valid_step(sample, model, criterion)
        if self.cfg.eval_bleu:
            logging_output["separator_mismatches"] = self.window_count.mismatched - before
        return loss, sample_size, logging_output

    def reduce_metrics(self, logging_outputs, criterion):
        if any("_bleu_sys_len" in log for log in logging_outputs):
            log_bleu(logging_outputs)
            metrics.log_scalar_sum(
                "separator_mismatches", logged_sum(logging_outputs, "separator_mismatches")
            )
        if not criterion.training:
            for name, accuracy in self.contrast_accuracies.items():
                metrics.log_scalar(name, accuracy, round=2)
        super(TranslationTask, self).reduce_metrics(logging_outputs, criterion)

    def build_tokenizer(self, args):
        """Give ``fairseq-interactive`` and ``-generate`` the text steps, and the tokenizer that they name."""
        return interactive.SteppedTokenizer(self.cfg, super().build_tokenizer(args))

    def build_bpe(self, args):
        """Give them what ``--bpe`` names, or else the SentencePiece models of the data folder."""
        return super().build_bpe(args) or interactive.FolderPieces.of(self.cfg)

    def get_interactive_tokens_and_lengths(self, lines, encode_fn):
        self.document.typed.extend(lines)
        return super().get_interactive_tokens_and_lengths(lines, encode_fn)

    def build_dataset_for_inference(self, src_tokens, src_lengths, constraints=None):
        """Read lines of ``fairseq-interactive``: sentences of a document, which an empty line ends."""
        return interactive.OneByOneDataset(
            src_tokens, src_lengths, self.src_dict, tgt_dict=self.tgt_dict, constraints=constraints
        )


def log_bleu(logging_outputs: List[Dict[str, Any]]) -> None:
    """Log the counts that BLEU is made of, summed, and BLEU of their sums over all batches.

    fairseq leaves out a batch whose translations are all empty, but its references count for the brevity
    penalty.
    """
    for name in itertools.chain(*_BLEU_PARTS):
        metrics.log_scalar_sum(name, logged_sum(logging_outputs, name))

    def score(meters: Dict[str, Any]) -> float:
        correct, total, (ours, references) = ([meters[name].sum for name in names] for names in _BLEU_PARTS)
        found = BLEU.compute_bleu(correct, total, int(ours), int(references), smooth_method="exp")
        return round(found.score, 2)

    metrics.log_derived("bleu", score)


def check_targets(target: Any) -> None:
    """Refuse sentences without translations."""
    if target is None:
        raise BadInput("training and validation need target sentences, and this split has none")
