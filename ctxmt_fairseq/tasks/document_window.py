"""The task ``document_window``: one encoder, context joined to the current sentence with ``<sep>``."""

from dataclasses import dataclass

from fairseq.tasks import register_task

from ctxmt_fairseq.data.document_window_dataset import DocumentWindowDataset
from ctxmt_fairseq.data.windows import WindowBuilder
from ctxmt_fairseq.tasks.context_options import ContextConfig
from ctxmt_fairseq.tasks.context_task import ContextTask


@dataclass
class DocumentWindowConfig(ContextConfig):
    """Options of ``document_window``: those that the three tasks share."""


@register_task("document_window", dataclass=DocumentWindowConfig)
class DocumentWindowTask(ContextTask):
    """Concatenation (Tiedemann and Scherrer 2017; focused concatenation, section 2.2).

    Works with ``concat_transformer`` and with fairseq's own ``transformer``.
    """

    def build_dataset(self, split, source, target, documents, current, training):
        return DocumentWindowDataset(
            source,
            self.src_dict,
            target,
            self.tgt_dict,
            WindowBuilder(documents, self.context_options(training), self.cfg.seed),
            current=current,
            training=training,
            coword_dropout=self.cfg.coword_dropout,
            max_window_tokens=self.cfg.max_window_tokens,
            context_inputs=self.context_inputs,
            seed=self.cfg.seed,
            left_pad_source=self.cfg.left_pad_source,
            left_pad_target=self.cfg.left_pad_target,
            pad_to_multiple=self.cfg.required_seq_len_multiple,
            name=split,
        )
