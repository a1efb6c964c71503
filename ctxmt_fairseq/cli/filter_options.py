"""What the steps share that score the pairs of a corpus."""

from pathlib import Path
from typing import Any, Callable, Dict, Sequence


def add_scoring_options(parser: Any) -> None:
    """The corpus, the file of scores, and how models are run."""
    from ctxmt_fairseq.cli.model_options import add_user_dir
    from ctxmt_fairseq.cli.option_types import language, name, positive_int

    parser.add_argument("prefix", type=name, metavar="PREFIX", help="of the corpus' files")
    parser.add_argument("--source-lang", type=language, required=True, metavar="LANG")
    parser.add_argument("--target-lang", type=language, required=True, metavar="LANG")
    parser.add_argument("--scores", dest="output", type=name, required=True, metavar="FILE",
                        help="what to write; an interrupted run is resumed")  # fmt: skip
    parser.add_argument("--max-tokens", type=positive_int, default=4000, metavar="N",
                        help="padded target tokens in a batch (default: 4000)")  # fmt: skip
    parser.add_argument("--cpu", action="store_true", help="do not use a GPU")
    add_user_dir(parser)


def score_corpus(
    args: Any, kind: str, columns: Sequence[str], models: Sequence[Any], score: Callable[[], Any]
) -> None:
    """Write the scores of a corpus and say where they are.

    Args:
        kind: what they are called.
        columns: of the file, after the hash.
        models: files and folders that they depend on; None for one that was not named.
        score: see ``write_scores``.

    Raises:
        BadInput: a model is missing; or see ``write_scores`` and ``TextFiles.rows``.
    """
    import itertools

    from tqdm.auto import tqdm

    from ctxmt_fairseq.cli.corpus_options import settings
    from ctxmt_fairseq.corpora.filtering.score_files import write_scores
    from ctxmt_fairseq.corpora.text_parts import read_documents
    from ctxmt_fairseq.corpora.text_rows import TextFiles

    files = TextFiles(args.prefix, args.source_lang, args.target_lang, ids_optional=True)
    unlike = ("prefix", "output", "max_tokens", "cpu", "step")
    options = {name: value for name, value in settings(args).items() if name not in unlike}
    stamps = [_stamp(path) for each in models if each for path in str(each).split(":")]
    description = {"scores": kind, "columns": ["hash", *columns], "options": options, "models": stamps}

    def pairs() -> Any:
        lines = itertools.chain.from_iterable(read_documents(files))
        return tqdm(lines, unit=" pairs", disable=None)

    number = write_scores(args.output, pairs, score, description)
    print(f"{args.output}: {kind} of {number} pairs")


def _stamp(path: str) -> Dict[str, Any]:
    """What tells a file from others of its name.

    Raises:
        BadInput: there is none.
    """
    from ctxmt_fairseq.errors import BadInput

    if not Path(path).exists():
        raise BadInput("no such file", path)
    status = Path(path).stat()
    return {"path": path, "bytes": status.st_size, "changed": status.st_mtime_ns}
