"""What the steps share that score the pairs of a corpus."""

import itertools
import os
from typing import Any, Callable, List, Sequence

from ctxmt_fairseq.cli.model_options import add_user_dir
from ctxmt_fairseq.corpora.formats import options
from ctxmt_fairseq.corpora.transforms.scores import Score, write_scores
from ctxmt_fairseq.data.text_lines import PathLike
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.option_types import name, positive_int


def add_scoring_options(parser: Any) -> None:
    """The corpus, the file of scores, and how models are run."""
    options.add_prefix(parser)
    options.add_languages(parser)
    parser.add_argument("--scores", dest="output", type=name, required=True, metavar="FILE",
                        help="what to write; an interrupted run is resumed")  # fmt: skip
    parser.add_argument("--max-tokens", type=positive_int, default=4000, metavar="N",
                        help="padded target tokens in a batch (default: 4000)")  # fmt: skip
    parser.add_argument("--cpu", action="store_true", help="do not use a GPU")
    add_user_dir(parser)


def score_corpus(args: Any, kind: str, columns: Sequence[str], score: Callable[[], Score]) -> None:
    """Write the scores of a corpus and say where they are.

    Args:
        kind: what they are called.
        columns: of the file, after the hash.
        score: see ``write_scores``.
    """
    files = options.text_files(args, ids_optional=True)
    texts = [files.path(end) for end in (args.source_lang, args.target_lang)]
    unlike = ("prefix", "output", "max_tokens", "cpu", "step", "run", "command", "kind")
    made_with = {name: value for name, value in vars(args).items() if value and name not in unlike}
    named = [path for value in made_with.values() if os.sep in str(value) for path in str(value).split(":")]
    stamps = [*map(_stamp, texts), *map(_stamp, named)]
    description = {"scores": kind, "columns": ["hash", *columns], "options": made_with, "files": stamps}
    number = write_scores(args.output, itertools.chain.from_iterable(files.documents()), score, description)
    print(f"{args.output}: {kind} of {number} pairs")


def _stamp(path: PathLike) -> List[Any]:
    """What tells a file from others of its name."""
    if not os.path.exists(path):
        raise BadInput("no such file", path)
    status = os.stat(path)
    return [str(path), status.st_size, status.st_mtime_ns]
