"""The task ``document_window``: one encoder, context joined to the current sentence with ``<sep>``."""

from dataclasses import dataclass

from fairseq.tasks import register_task

from ctxmt_fairseq.data.context_exchange import exchange_windows, window_formats
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

    provides = ("current_segment", "target_context_sizes")

    def exchange_context(self, sample, order):
        """The batch with the context of row ``order[i]`` in row i (criterion ``context_margin``)."""
        return exchange_windows(sample, order, *window_formats(self.cfg, self.src_dict, self.tgt_dict))

    def build_dataset(self, split, source, target, documents, current, training, contexts=None):
        return DocumentWindowDataset(
            source,
            self.src_dict,
            target,
            self.tgt_dict,
            WindowBuilder(documents, self.context_options(training), self.cfg.seed),
            current=current,
            training=training,
            name=split,
            **self.dataset_options,
        )
