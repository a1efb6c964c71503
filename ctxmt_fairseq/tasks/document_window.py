"""The task ``document_window``: one encoder, context joined to the current sentence with ``<sep>``."""

from dataclasses import dataclass, field, replace
from typing import Optional

from fairseq.tasks import register_task

from ctxmt_fairseq.data.context_exchange import exchange_windows, window_formats
from ctxmt_fairseq.data.document_window_dataset import DocumentWindowDataset
from ctxmt_fairseq.data.windows import WindowBuilder
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.tasks import context_options
from ctxmt_fairseq.tasks.context_options import ContextConfig
from ctxmt_fairseq.tasks.context_task import ContextTask


@dataclass
class DocumentWindowConfig(ContextConfig):
    """Options of ``document_window`` besides those that the three tasks share."""

    no_separator: Optional[bool] = field(
        default=None,
        metadata={
            "help": "nothing stands between the sentences of a source window: a flag tells them apart "
            "(--segment-positions flag), or nothing does; without --target-context"
        },
    )


@register_task("document_window", dataclass=DocumentWindowConfig)
class DocumentWindowTask(ContextTask):
    """Concatenation (Tiedemann and Scherrer 2017; focused concatenation, section 2.2).

    Works with ``concat_transformer`` and with fairseq's own ``transformer``.
    """

    defaults = {**context_options.DEFAULTS, "no_separator": False}
    provides = ("current_segment", "current_span", "target_context_sizes")

    def _check(self) -> None:
        super()._check()
        if self.no_separator and self.options["target_context"]:
            raise BadInput(
                f"--no-separator: expected --target-context 0, found {self.options['target_context']}: the "
                "sentences of target windows are told apart by separators"
            )

    @property
    def no_separator(self) -> bool:
        """Whether nothing stands between the sentences of a source window."""
        return bool(self.options["no_separator"])

    def exchange_context(self, sample, order):
        """The batch with the context of row ``order[i]`` in row i (criterion ``context_margin``)."""
        source, target = window_formats(self.cfg, self.src_dict, self.tgt_dict)
        if self.no_separator:
            source = replace(source, separator=None)
        return exchange_windows(sample, order, source, target)

    def build_dataset(
        self, split, source, target, documents, current, training, contexts=None, distinct=None
    ):
        return DocumentWindowDataset(
            source,
            self.src_dict,
            target,
            self.tgt_dict,
            WindowBuilder(documents, self.context_options(training), self.cfg.seed),
            self.wanted_of(distinct),
            current=current,
            training=training,
            name=split,
            separators=not self.no_separator,
            **self.dataset_options,
        )
