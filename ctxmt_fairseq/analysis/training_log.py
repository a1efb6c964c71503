"""Reads the logs of fairseq-train, in the formats simple, json and tqdm."""

import io
import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from ctxmt_fairseq.base.directions import highest_is_best
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.compressed import as_damage
from ctxmt_fairseq.text.json_files import parse_json
from ctxmt_fairseq.text.text_lines import LONGEST_LINE, PathLike, open_text

NAME = "train.log"  # in a training's folder
TRAIN = "train"  # the subset whose values are averages over an epoch
UPDATES = "num_updates"

# A line is "time | LEVEL | logger | message", or the message alone in fairseq's --log-file.
_HEAD = re.compile(r"[^|]*\| [A-Z]+ \| (?P<logger>[^|]*) \| ")
_SIMPLE = re.compile(
    r"epoch (?P<epoch>\d{1,18}) \| (?:valid on '(?P<subset>[^']*)' subset \| )?(?P<values>.*)"
)
_PARAMETERS = re.compile(r"num\. shared model params: (\d[\d,]{0,23})")
_LENGTH = re.compile(r"grouped total_num_itrs = (\d{1,18})")
_OPTIONS = re.compile(r"^(?:[^|]*\| [A-Z]+ \| fairseq_cli\.train \| )?(\{'_name': .*|Namespace\(.*)")
Texts = Tuple[str, str, Dict[str, str]]  # a record as the log has it: subset, epoch, values
_NO_RECORD: Texts = ("", "", {})


@dataclass(frozen=True)
class Record:
    """Values by fairseq's names, logged after so many updates, of an epoch's training or a validation."""

    epoch: int
    updates: int
    values: Dict[str, float]


@dataclass
class TrainingLog:
    """The log of a training. If a resumed training repeated updates, only the later records count.

    Attributes:
        epochs: a record for each finished epoch.
        validations: subset -> records in the order of updates.
        parameters, epoch_updates: the model's, and how many updates a whole epoch has; None: not in the log.
        started: the day on which the training, or its last part, began; "": not in the log.
        begun: the same of a training that came after the last record, and may have been refused.
    """

    path: Path
    epochs: List[Record] = field(default_factory=list)
    validations: Dict[str, List[Record]] = field(default_factory=dict)
    parameters: Optional[int] = None
    epoch_updates: Optional[int] = None
    started: str = ""
    _options: str = ""
    begun: Dict[str, Any] = field(default_factory=dict)

    def option(self, name: str) -> Optional[str]:
        """The value of an option of the training, as text; None if the log does not have it."""
        name = re.escape(name)  # behind a bracket or a blank: a folder may be called source_context=2
        found = re.search(rf"(?<=[{{( ])(?:'{name}': |{name}=)('[^']*'|[^,)}}]+)", self._options)
        return found[1].strip("'[]") if found else None

    @property
    def criterion(self) -> Dict[str, str]:
        """The criterion's name as ``_name``, and its options, as text; empty if they are not in the log."""
        found = re.search(r"'criterion': \{([^}]*)\}", self._options)
        options = re.findall(r"'(\w+)': (.*?)(?:, (?=')|$)", found[1]) if found else []
        return {name: value.strip("'") for name, value in options}

    @property
    def loss_kind(self) -> Dict[str, str]:
        """What the unit of the loss depends on: the criterion, the target sentences of a window, the text."""
        if not self._options:
            return {}
        sentences = self.option("target_context") or "None"
        kind = {**self.criterion, "target_context": "0" if sentences == "None" else sentences}
        if data := self.option("data"):
            kind["data"] = data
        kind.pop("report_accuracy", None)
        return kind

    def number(self, name: str) -> float:
        """The value of an option, which must be a number."""
        text = self.option(name)
        value = _number(text) if text is not None else None
        if value is None:
            raise BadInput(f"expected the option {name} with a number, found {text or 'none'}", self.path)
        return value

    def validated(self, subset: str) -> List[Record]:
        """The validations on a subset; there must be some."""
        if subset not in self.validations:
            known = ", ".join(self.validations) or "none"
            raise BadInput(f"expected validations with {subset!r}, found those with: {known}", self.path)
        return self.validations[subset]

    def best(self, subset: str, metric: Optional[str] = None) -> Tuple[str, Record]:
        """The metric, and the first validation with its best value, which is the lowest of losses; without a
        metric it is that by which the training chose its best checkpoint."""
        records = self.validated(subset)
        chosen = self.option("best_checkpoint_metric") or "loss"
        metric = metric or chosen
        highest = metric == chosen and self.option("maximize_best_checkpoint_metric") == "True"
        sign = -1 if highest or highest_is_best(metric) else 1
        known = [record for record in records if metric in record.values]
        if not known:
            choices = ", ".join(records[-1].values)
            raise BadInput(f"the validations have no {metric}; choose from {choices}", self.path)
        return metric, min(known, key=lambda record: sign * record.values[metric])

    @property
    def device_hours(self) -> Optional[float]:
        """The hours of training steps in an epoch, all devices together; None without a finished epoch.

        Validation, saving and loading do not count. The mean time of an update is multiplied by the updates
        of a whole epoch, because the last epoch may be cut short.
        """
        timed = [record for record in self.epochs if "train_wall" in record.values]
        if not timed or not timed[-1].updates:
            return None
        ends = [0, *(record.updates for record in timed)]
        longest = max(end - start for start, end in zip(ends[:-1], ends[1:], strict=True))
        seconds = sum(record.values["train_wall"] for record in timed)
        devices = _number(self.option("distributed_world_size") or "1") or 1
        return seconds / timed[-1].updates * (self.epoch_updates or longest) / 3600 * devices


def read_training_log(path: PathLike) -> TrainingLog:
    """Read a log, or ``train.log`` in a training's folder; lines that are not fairseq's own are skipped."""
    path = Path(path)
    path = path / NAME if path.is_dir() else path
    log = TrainingLog(path)
    with io.TextIOWrapper(open_text(path), encoding="utf-8", errors="replace") as lines:
        try:
            while line := lines.readline(LONGEST_LINE):  # what is longer is no line of fairseq's
                _read_line(log, line.rstrip("\n"))
        except Exception as error:
            raise as_damage(error, path) from None
    if not log.epochs and not log.validations:
        raise BadInput("expected a log of fairseq-train with a finished epoch or a validation", path)
    return log


def _read_line(log: TrainingLog, line: str) -> None:
    if options := _OPTIONS.match(line):
        log.begun = {"_options": options[1], "started": line[:10] if line[:4].isdecimal() else ""}
        return
    head = _HEAD.match(line)
    message = line[head.end() :] if head else line
    if parameters := _PARAMETERS.match(message):
        log.begun["parameters"] = int(parameters[1].replace(",", ""))
        return
    if length := _LENGTH.match(message):
        log.begun["epoch_updates"] = int(length[1])
        return
    logged = _json_record(message, log.path) if message.startswith("{") else _simple_record(message)
    subset, epoch, texts = logged
    values = {name: number for name, text in texts.items() if (number := _number(text)) is not None}
    if UPDATES not in values or not re.fullmatch(r"\d{1,18}", epoch):
        return
    vars(log).update(log.begun)
    log.begun.clear()
    record = Record(int(epoch), int(values[UPDATES]), values)
    records = log.epochs if subset == TRAIN else log.validations.setdefault(subset, [])
    while records and records[-1].updates >= record.updates:
        records.pop()
    records.append(record)


def _simple_record(message: str) -> Texts:
    found = _SIMPLE.fullmatch(message)
    if not found:
        return _NO_RECORD
    values = dict(part.split(" ", 1) for part in found["values"].split(" | ") if " " in part)
    return found["subset"] or TRAIN, found["epoch"], values


def _json_record(message: str, path: Path) -> Texts:
    """Read a record whose keys begin with the subset and "_"; records within an epoch have other keys."""
    try:
        values = parse_json(message, path)
    except BadInput:
        return _NO_RECORD
    ends = [key for key in values if key.endswith(f"_{UPDATES}")]
    if not ends or "epoch" not in values:
        return _NO_RECORD
    subset = ends[0].removesuffix(f"_{UPDATES}")
    own = {key.removeprefix(f"{subset}_"): str(value) for key, value in values.items() if key != "epoch"}
    return subset, str(values["epoch"]), own


def _number(text: str) -> Optional[float]:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
