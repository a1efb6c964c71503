"""A context of your own: the sentence N lines back, without those between, as one more row."""

from typing import Tuple

from fairseq.tasks import register_task

from ctxmt_fairseq.data.context_options import Column, RowsOptions, sentences
from ctxmt_fairseq.tasks.context_config import config_of
from ctxmt_fairseq.tasks.multi_source import MultiSourceTask

Columns = Tuple[Column, ...]


class FarOptions(RowsOptions):
    """Each field is an option of ``fairseq-train`` and travels with the checkpoint."""

    far_context: int = sentences("a source sentence so many lines back")

    @property
    def columns(self) -> Tuple[Columns, Columns]:
        source, target = super().columns
        if self.far_context > self.source_context and self.context_selection not in ("absent", "reference"):
            source = (Column(target=False, offset=-self.far_context), *source)
        return source, target

    @property
    def reach(self) -> int:
        return max(super().reach, self.far_context)


FarConfig = config_of(FarOptions, "FarConfig", __name__)


@register_task("far_context", dataclass=FarConfig)
class FarContextTask(MultiSourceTask):
    """``multi_source`` with ``--far-context N``; every multi-source architecture reads it."""

    options_class = FarOptions
