"""The task ``multi_source``: context sentences are inputs of their own."""

from fairseq.tasks import register_task

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.checkpoints.options import arch_name
from ctxmt_fairseq.data.context_options import RowsOptions
from ctxmt_fairseq.data.multi_source_dataset import MultiSourceDataset
from ctxmt_fairseq.tasks.context_config import config_of
from ctxmt_fairseq.tasks.context_task import ContextTask

MultiSourceConfig = config_of(RowsOptions, "MultiSourceConfig", __name__)


@register_task("multi_source", dataclass=MultiSourceConfig)
class MultiSourceTask(ContextTask):
    """Multi-encoder and caching models: each source context sentence is a row beside the current sentence.

    ``--target-context`` puts target sentences before the current one, as in ``document_window``;
    ``--target-context-on-source`` gives rows of target text.
    """

    dataset_class = MultiSourceDataset
    options_class = RowsOptions
    provides = ("rows",)

    def build_model(self, cfg, from_checkpoint=False):
        model = super().build_model(cfg, from_checkpoint)
        options = self.context_options()
        beside = options.source_context, options.source_context_after, options.target_context_on_source
        if any(beside) and not self.request.format.kind:
            raise BadInput(
                f"--arch {arch_name(cfg)} reads no context in --task multi_source; choose "
                "--task document_window, or a multi-source architecture"
            )
        if self.request.format.joined and self.cfg.batch_runs:
            raise BadInput("--batch-runs needs a row for each context sentence (--context-layout rows)")
        return model
