"""What fairseq's commands do with a batch of windows: they train and validate on it, and their generation
returns current sentences."""

import atexit
import logging
from typing import Any, Dict

from fairseq import metrics
from fairseq.optim.amp_optimizer import AMPOptimizer
from fairseq.tasks.translation import TranslationTask

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.tasks.cpu_autocast import with_bfloat16_products
from ctxmt_fairseq.tasks.interactive import (
    FolderPieces,
    InteractiveDocument,
    OneByOneDataset,
    SteppedTokenizer,
)
from ctxmt_fairseq.tasks.search.beams import Ensemble
from ctxmt_fairseq.tasks.search.current_sentence import WindowCount
from ctxmt_fairseq.tasks.search.window_generator import generate_current, remember_length_limit, show_current
from ctxmt_fairseq.text.symbols import SEPARATOR

logger = logging.getLogger(__name__)


class DecodingTask(TranslationTask):
    """fairseq's translation task, for batches of windows.

    Attributes:
        window_count: counts the windows that were cut to their current sentence.
        references, with_unknown: how many references generation has read; how many have unknown words.
        document: the lines that ``fairseq-interactive`` has read.
    """

    def __init__(self, cfg, src_dict, tgt_dict):
        super().__init__(cfg, src_dict, tgt_dict)
        self.window_count = WindowCount()
        self.references = self.with_unknown = 0
        self.document = InteractiveDocument(self)

    @property
    def options(self) -> Dict[str, Any]:
        """The options that are saved in a checkpoint, with the values in use."""
        raise NotImplementedError

    @property
    def keep_sentence(self) -> str:
        """Which sentence of a decoded window is the translation."""
        return self.options["keep_sentence"]

    def build_generator(self, models, args, *more, **kwargs):
        models = models if isinstance(models, Ensemble) else Ensemble(models)
        generator = super().build_generator(models, args, *more, **kwargs)
        remember_length_limit(generator, args)
        return generator

    def _report(self) -> None:
        if self.window_count.windows and self.options["target_context"]:
            logger.warning("%s", self.window_count)
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
        hypotheses = generate_current(
            generator,
            models,
            sample,
            self.tgt_dict.index(SEPARATOR),
            self.window_count,
            self.keep_sentence,
            prefix_tokens=prefix_tokens,
            constraints=constraints,
        )
        show_current(
            sample,
            self.src_dict,
            self.tgt_dict.index(SEPARATOR),
            self.keep_sentence,
            self.cfg.left_pad_source,
        )
        if sample["target"] is not None:
            self.references += len(sample["target"])
            self.with_unknown += int(sample["target"].eq(self.tgt_dict.unk()).any(1).sum())
        return hypotheses

    def _inference_with_bleu(self, generator, sample, model):
        # A copy, because fairseq keeps the first batch for workers that have run out of data.
        return super()._inference_with_bleu(generator, dict(sample), model)

    def train_step(self, sample, model, criterion, optimizer, *args, **kwargs):
        _check_targets(sample)
        if isinstance(optimizer, AMPOptimizer) and next(model.parameters()).is_cpu:
            criterion = with_bfloat16_products(model, criterion)
        return super().train_step(sample, model, criterion, optimizer, *args, **kwargs)

    def valid_step(self, sample, model, criterion):
        _check_targets(sample)
        before = self.window_count.mismatched
        loss, sample_size, logging_output = super().valid_step(sample, model, criterion)
        if self.cfg.eval_bleu:
            logging_output["separator_mismatches"] = self.window_count.mismatched - before
        return loss, sample_size, logging_output

    def reduce_metrics(self, logging_outputs, criterion):
        super().reduce_metrics(logging_outputs, criterion)
        totals = [log["_bleu_totals_0"] for log in logging_outputs if "_bleu_totals_0" in log]
        if totals and not sum(totals):  # else fairseq logs no BLEU, and --best-checkpoint-metric bleu dies
            metrics.log_scalar("bleu", 0.0)
        if any("separator_mismatches" in log for log in logging_outputs):
            mismatches = sum(log.get("separator_mismatches", 0) for log in logging_outputs)
            metrics.log_scalar_sum("separator_mismatches", mismatches)

    def build_tokenizer(self, args):
        """Give ``fairseq-interactive`` and ``-generate`` the text steps, and the tokenizer that they name."""
        return SteppedTokenizer(self.cfg, super().build_tokenizer(args))

    def build_bpe(self, args):
        """Give them what ``--bpe`` names, or else the SentencePiece models of the data folder."""
        return super().build_bpe(args) or FolderPieces.of(self.cfg)

    def build_dataset_for_inference(self, src_tokens, src_lengths, constraints=None):
        """Read lines of ``fairseq-interactive``: consecutive sentences of a document, which an empty line
        ends."""
        return OneByOneDataset(
            src_tokens, src_lengths, self.src_dict, tgt_dict=self.tgt_dict, constraints=constraints
        )


def _check_targets(sample: Dict[str, Any]) -> None:
    """Refuse sentences without translations."""
    if sample["target"] is None:
        raise BadInput("training and validation need target sentences, and this split has none")
