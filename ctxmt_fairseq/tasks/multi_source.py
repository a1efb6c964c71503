"""The task ``multi_source``: context sentences as inputs of their own."""

from dataclasses import dataclass, field

from fairseq.tasks import register_task

from ctxmt_fairseq.data.context_exchange import exchange_rows, window_formats
from ctxmt_fairseq.data.context_format import WantedContext
from ctxmt_fairseq.data.multi_source_dataset import CONTEXT_ENTRIES, MultiSourceDataset
from ctxmt_fairseq.data.windows import WindowBuilder
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.tasks.context_options import ContextConfig
from ctxmt_fairseq.tasks.context_task import ContextTask, architecture


@dataclass
class MultiSourceConfig(ContextConfig):
    """Options of ``multi_source`` besides those that the three tasks share."""

    batch_runs: int = field(
        default=0,
        metadata={
            "help": "cut batches from runs of this many consecutive sentences, and encode each sentence of a "
            "batch once (0: batches of any sentences)"
        },
    )


@register_task("multi_source", dataclass=MultiSourceConfig)
class MultiSourceTask(ContextTask):
    """Multi-encoder and caching models: the source context stands in rows beside the current sentence.

    ``--target-context`` stands before the current sentence on the target side, as in ``document_window``;
    ``--target-context-on-source`` gives rows of target text.
    """

    provides = CONTEXT_ENTRIES

    def __init__(self, cfg, src_dict, tgt_dict):
        super().__init__(cfg, src_dict, tgt_dict)
        if cfg.batch_runs < 0:
            raise BadInput(f"--batch-runs {cfg.batch_runs}: expected a number of sentences, or 0")
        self.wanted = WantedContext(self.provides, distinct=cfg.batch_runs > 0)

    def build_model(self, cfg, from_checkpoint=False):
        model = super().build_model(cfg, from_checkpoint)
        options = self.context_options()
        beside = options.source_context, options.source_context_after, options.target_context_on_source
        if any(beside) and not self.wanted.format.names:
            raise BadInput(
                f"--arch {architecture(cfg)} reads no context in --task multi_source; expected "
                "--task document_window, or a multi-source architecture"
            )
        if self.wanted.format.joined and self.cfg.batch_runs:
            raise BadInput(
                "--batch-runs: expected a model with a row per context sentence (--context-layout rows)"
            )
        return model

    def exchange_context(self, sample, order):
        """The batch with the context of row ``order[i]`` in row i (criterion ``context_margin``)."""
        return exchange_rows(sample, order, window_formats(self.cfg, self.src_dict, self.tgt_dict)[1])

    def build_dataset(
        self, split, source, target, documents, current, training, contexts=None, distinct=None
    ):
        return MultiSourceDataset(
            source,
            self.src_dict,
            target,
            self.tgt_dict,
            WindowBuilder(documents, self.context_options(training), self.cfg.seed),
            self.wanted_of(distinct),
            current=current,
            training=training,
            batch_runs=self.cfg.batch_runs,
            name=split,
            **self.dataset_options,
        )
