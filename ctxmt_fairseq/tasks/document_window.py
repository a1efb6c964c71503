"""The task ``document_window``: one encoder reads the context and the current sentence, joined by
``<sep>``."""

import os
from dataclasses import replace

from fairseq.tasks import register_task

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.binarised_words import SideWords
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.criterions.attention_regularisation import chosen_attentions, parse_layers, regularised
from ctxmt_fairseq.data.context_exchange import exchange_windows, window_formats
from ctxmt_fairseq.data.context_options import WindowOptions
from ctxmt_fairseq.data.document_window_dataset import DocumentWindowDataset
from ctxmt_fairseq.tasks.context_config import config_of
from ctxmt_fairseq.tasks.context_task import ContextTask
from ctxmt_fairseq.text.highlights import read_highlights

DocumentWindowConfig = config_of(WindowOptions, "DocumentWindowConfig", __name__)


@register_task("document_window", dataclass=DocumentWindowConfig)
class DocumentWindowTask(ContextTask):
    """Concatenation (Tiedemann and Scherrer 2017; focused concatenation, section 2.2).

    It works with ``concat_transformer`` and with fairseq's own ``transformer``.
    """

    dataset_class = DocumentWindowDataset
    options_class = WindowOptions
    reads_highlights = True
    provides = ("window",)

    def _check(self) -> None:
        super()._check()
        if self.no_separator and self.options["target_context"]:
            raise BadInput(
                f"--no-separator needs --target-context 0, found {self.options['target_context']}: separators"
                " tell the sentences of target windows apart"
            )
        if self.options["context_end"] == "eos" and self.cfg.decoding != "prefix":
            raise BadInput("--context-end eos needs --decoding prefix: a search stops at </s>")

    @property
    def no_separator(self) -> bool:
        """Whether the sentences of a source window follow each other without separator."""
        return bool(self.options["no_separator"])

    def exchange_context(self, sample, order):
        source, target = window_formats(self.cfg, self.src_dict, self.tgt_dict)
        if self.no_separator:
            source = replace(source, separator=None)
        return exchange_windows(sample, order, source, target)

    def build_model(self, cfg, from_checkpoint=False):
        model = super().build_model(cfg, from_checkpoint)
        if self.cfg.attention_weight and not from_checkpoint:
            if getattr(cfg, "checkpoint_activations", False):
                raise BadInput("--attention-weight does not work with --checkpoint-activations")
            chosen_attentions(model, parse_layers(self.cfg.attention_layers))
        return model

    def build_criterion(self, cfg, **from_checkpoint):
        """Make the criterion; with --attention-weight it also pulls attention towards highlights."""
        criterion = super().build_criterion(cfg, **from_checkpoint)
        return regularised(criterion, self.cfg.attention_weight, parse_layers(self.cfg.attention_layers))

    def _highlights(self, source, target, documents):
        """Read the highlights of the training text; None: their weight is 0."""
        if not self.cfg.attention_weight:
            return None
        if self.cfg.attention_highlights is None:
            raise BadInput("--attention-weight needs --attention-highlights FILE")
        folder, *more = self.cfg.data.split(os.pathsep)
        if more:
            raise BadInput("--attention-highlights needs one data folder alone, because it numbers its lines")
        sides = {
            "source": SideWords(source, self.src_dict, Subwords.load(folder, self.cfg.source_lang)),
            "target": SideWords(target, self.tgt_dict, Subwords.load(folder, self.cfg.target_lang)),
        }
        return read_highlights(
            self.cfg.attention_highlights, documents, lambda sentence: sides[sentence[0]].places(sentence[1])
        )

    def dataset_arguments(self, split, source, target, documents, training, contexts):
        return {"highlights": self._highlights(source, target, documents) if training else None}
