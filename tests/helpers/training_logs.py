"""Logs as fairseq-train writes them, by fairseq's own progress bars, for tests."""

import logging
from contextlib import contextmanager

from fairseq.logging import meters, progress_bar

TIME = "%(asctime)s | %(levelname)s | %(name)s | %(message)s"
OPTIONS = (
    "{'_name': None, 'distributed_world_size': %d, 'best_checkpoint_metric': '%s', "
    "'maximize_best_checkpoint_metric': %s, 'update_freq': [1], 'criterion': {'context_discount': %s}}"
)


class LogWriter:
    """Writes the lines of one ``fairseq-train``.

    Args:
        form: of fairseq's --log-format.
        head: whether lines begin with time and logger, as on stderr, or not, as in --log-file.
    """

    def __init__(self, path, form="simple", head=True):
        self.form = form
        self.handler = logging.FileHandler(path)
        self.handler.setFormatter(logging.Formatter(TIME if head else "%(message)s", "%Y-%m-%d %H:%M:%S"))

    @contextmanager
    def bar(self, epoch, prefix=None):
        logger = progress_bar.logger
        level, propagate = logger.level, logger.propagate
        logger.addHandler(self.handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
        try:
            yield progress_bar.progress_bar(range(3), self.form, 1, epoch=epoch, prefix=prefix)
        finally:
            logger.removeHandler(self.handler)
            logger.setLevel(level)
            logger.propagate = propagate

    def message(self, text, name="fairseq_cli.train"):
        record = logging.LogRecord(name, logging.INFO, "", 0, text, None, None)
        self.handler.emit(record)

    def start(self, parameters=1_234_567, devices=1, metric="loss", highest=False, discount=0.01):
        self.message(OPTIONS % (devices, metric, highest, discount))
        self.message(f"num. shared model params: {parameters:,} (num. trained: {parameters:,})")

    def inner(self, epoch, updates, loss):
        """What is logged every --log-interval."""
        with self.bar(epoch) as bar:
            for _ in bar:
                pass
            bar.log({"loss": loss, "num_updates": updates}, tag="train_inner", step=updates)

    def epoch(self, epoch, updates, wall, **values):
        watch = meters.StopwatchMeter()
        watch.sum, watch.n = wall, 1
        with self.bar(epoch) as bar:
            bar.print({**values, "num_updates": updates, "train_wall": watch, "wall": 0}, tag="train")

    def validation(self, epoch, updates, subset="valid", **values):
        with self.bar(epoch, f"valid on '{subset}' subset") as bar:
            bar.print({**values, "num_updates": updates}, tag=subset)


def write_log(path, form="simple", head=True, losses=(7.5, 6.25, 6.5), ratios=(1.2, 1.1, 1.15), **start):
    """Epochs of 100 updates and 36 s, each with a validation in the middle and one at its end."""
    writer = LogWriter(path, form, head)
    writer.start(**start)
    for epoch, (loss, ratio) in enumerate(zip(losses, ratios, strict=True), 1):
        end = 100 * epoch
        writer.inner(epoch, end - 90, loss + 3)
        values = {"current_loss": loss, "current_context_ratio": ratio}
        writer.validation(epoch, end - 50, loss=loss + 1.5, **{**values, "current_loss": loss + 1})
        writer.validation(epoch, end, loss=loss + 0.5, **values)
        writer.epoch(epoch, end, 36, loss=loss + 2)
    writer.handler.close()
    return path
