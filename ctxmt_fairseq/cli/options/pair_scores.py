"""What the steps share that score the pairs of a corpus."""

import itertools
import os
from pathlib import Path
from typing import Any, Callable, ClassVar, Iterator, List, Tuple

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input, Output
from ctxmt_fairseq.cli.options.device import Device
from ctxmt_fairseq.cli.options.user_folder import UserDir
from ctxmt_fairseq.corpora.corpus_command import OfCorpus

# What scores do not depend on, or what has a stamp.
_UNLIKE = ("prefix", "output", "max_tokens", "cpu", "device", "threads")


class ScoredPairs(OfCorpus):
    """Scores of a corpus' pairs in a file, whose ``columns`` follow the hash; the first names the scores."""

    columns: ClassVar[Tuple[str, ...]]

    output: Output = option("what to write; an interrupted run is resumed", flag="--scores")
    max_tokens: int = option("padded target tokens in a batch", 4000)
    hardware: Device
    code: UserDir

    def scorer(self) -> Callable:
        """What scores pairs: a ``Score`` of ``write_scores``."""
        raise NotImplementedError

    def run(self) -> None:
        from ctxmt_fairseq.corpora.transforms.pair_scores import write_scores

        files, kind = self.text_files(ids_optional=True), self.columns[0]
        texts = [str(files.path(language)) for language in self.languages]
        made_with = {name: value for name, value in self.settings().items() if value and name not in _UNLIKE}
        files_of = (value.split(os.pathsep) for value in made_with.values() if isinstance(value, Input))
        named = itertools.chain.from_iterable(files_of)
        stamps = [stamp for path in (*texts, *named) for stamp in _stamps(path)]
        head = {"scores": kind, "columns": ["hash", *self.columns], "options": made_with, "files": stamps}
        pairs = itertools.chain.from_iterable(files.documents())
        number = write_scores(self.output, pairs, self.scorer, head)
        print(f"{self.output}: {kind} of {number} pairs")


def _stamps(path: str) -> Iterator[List[Any]]:
    """What tells a file, or those in a folder, from others of its name."""
    if not os.path.exists(path):
        raise BadInput("no such file", path)
    files = [Path(path)]
    if os.path.isdir(path):
        inside = filter(Path.is_file, sorted(files[0].rglob("*")))
        files = [file for file in inside if "__pycache__" not in file.parts]
    for file in files:
        status = file.stat()
        yield [str(file), status.st_size, status.st_mtime_ns]
