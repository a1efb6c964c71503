"""All that is measured of a trained model: translations with every kind of context, their BLEU, chrF
and COMET, and contrastive sets, with one model that is loaded once.

MODEL is a training's folder (its --save-dir, or the folder that holds its checkpoints/), of which --average
checkpoints nearest the best are averaged; or a checkpoint. Reads TEXT.SRC, TEXT.TGT (the references) and
TEXT.docids, the languages being the model's; where lines serve as context only TEXT.current, and for models
that read metadata TEXT.meta.jsonl or TEXT.meta.FIELD. Each SUITE is a contrastive set, see ctxmt contrast;
deixis, lexical cohesion and both ellipses of Voita et al. (2019) are one set, with one Disc.

The folder OUT holds NAME.hyp and NAME.score.json of every translation, NAME.contrast.json and
NAME.examples.jsonl of every set, and results.json with all of them that belong to this model and text. Names
say the decoding and, where they are not the training's, the windows (.w3), the length penalty that was found
(.n0.9) and the context (.absent). Started again, it goes on where it was: what was made from the same model,
text and options is not made again, and nothing else is kept as if it were.

Example: ctxmt evaluate runs/s2to2 text/test suites/deixis_test.json --average 5 --beam 4 --lenpen 0.6 \\
    --contexts trained random empty absent
"""

from argparse import Namespace
from pathlib import Path
from typing import Any, Dict, List

FIRST_PASS = 0.6  # its length penalty, where the evaluated model's is searched
LENPENS = [n / 10 for n in range(4, 31)]


def lenpen(text: str) -> Any:
    """A length penalty, or opt."""
    from ctxmt_fairseq.option_types import number

    return text if text == "opt" else number(-100, 100)(text)


def window(text: str) -> Any:
    """How many sentences a window has, or trained."""
    from ctxmt_fairseq.option_types import positive_int

    return None if text == "trained" else positive_int(text)


def numbers(text: str) -> List[float]:
    """Numbers, separated by blanks."""
    from ctxmt_fairseq.option_types import number

    return [number(-100, 100)(word) for word in text.split()]


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.model_options import add_model_options
    from ctxmt_fairseq.cli.search_options import add_search_options
    from ctxmt_fairseq.option_types import name, non_negative_int, positive_int
    from ctxmt_fairseq.search.search_settings import BOUNDS

    parser.add_argument("path", metavar="MODEL", help="a training's folder; or checkpoints joined by ':'")
    parser.add_argument("text", metavar="TEXT", help="prefix of the text's files")
    parser.add_argument("suites", metavar="SUITE", nargs="*", help="contrastive sets")
    parser.add_argument("--out", type=name, metavar="DIR", help="(default: evaluation in MODEL's folder)")
    parser.add_argument("--average", type=positive_int, default=1, metavar="N",
                        help="checkpoints of a folder; 1: the best alone (default: %(default)s)")  # fmt: skip
    context = parser.add_argument_group("context")
    context.add_argument("--contexts", nargs="+", default=["trained"], metavar="NAME",
                         help="a translation with each: trained (that of the training), random, empty (an "
                         "empty sentence), absent (none), ... (default: trained)")  # fmt: skip
    context.add_argument("--random-context", choices=("random", "shuffled"), default="random",
                         help="what random is: another document's sentences, or a permutation of the text's "
                         "own contexts (default: %(default)s)")  # fmt: skip
    context.add_argument("--decoding", nargs="+", dest="decodings", default=["prefix"], metavar="NAME",
                         help="with target context, a translation with each: prefix (earlier translations "
                         "are forced), window (the whole window is decoded) (default: prefix)")  # fmt: skip
    context.add_argument("--window", type=window, metavar="K",
                         help="windows of K sentences, on the sides that had previous sentences in training "
                         "(default: trained)")  # fmt: skip
    context.add_argument("--keep-sentence", choices=("current", "first"), dest="kept",
                         help="of each decoded window (default: that of the training); first is scored "
                         "against the previous reference")  # fmt: skip
    context.add_argument("--target-context-from", default="own", metavar="own|reference|MODEL",
                         help="own translations, the references, another model's (default: own)")  # fmt: skip
    search = add_search_options(parser, [name for name in BOUNDS if name != "lenpen"])
    search.add_argument("--lenpen", dest="penalty", type=lenpen, default=1.0, metavar="X",
                        help="length penalty; opt: the best of --lenpens on --dev (default: 1)")  # fmt: skip
    search.add_argument("--dev", metavar="TEXT", help="prefix of the text for --lenpen opt")
    search.add_argument("--lenpens", nargs="+", type=numbers, metavar="X",
                        help="numbers for opt (default: 0.4 0.5 .. 3.0)")  # fmt: skip
    search.add_argument("--documents-at-once", type=positive_int, default=16, metavar="N", help="batch size")
    scores = parser.add_argument_group("scores")
    scores.add_argument("--tokenize", metavar="NAME", help="BLEU's tokenizer, as sacrebleu's (default: 13a)")
    scores.add_argument("--lowercase", action="store_true",
                        help="ignore case; with a lower-cased data folder it always is")  # fmt: skip
    scores.add_argument("--comet", nargs="+", default=[], metavar="MODEL",
                        help="models of COMET, see ctxmt score --help (needs the extra comet)")  # fmt: skip
    scores.add_argument("--comet-context", type=non_negative_int, nargs="?", const=2, default=0,
                        metavar="K", help="document-level COMET, with K previous sentences (K: 2 if left "
                        "out)")  # fmt: skip
    scores.add_argument("--bootstrap", type=non_negative_int, default=0, metavar="N",
                        help="95 %% intervals from N samples")  # fmt: skip
    conventions = ("suite", *(f"{how}-{span}" for span in ("current", "window") for how in ("sum", "mean")))
    scores.add_argument("--convention", choices=conventions, default="suite",
                        help="which log-probability of candidates is compared: the sum or the mean over the "
                        "tokens of the current sentence or window (default: the suite's own)")  # fmt: skip
    scores.add_argument("--documents", metavar="DIR", help="ContraPro's context documents")
    add_model_options(parser, selection=False)


def run(args) -> None:
    import contextlib

    from ctxmt_fairseq.files import writing

    decodings, contexts = _names(args)
    suites = _read_suites(args.suites, args.documents)
    out = _out(args)
    new = not out.exists()
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    try:
        _evaluate(args, out, decodings, contexts, suites)
    except BaseException:
        with contextlib.suppress(OSError):
            if new:
                out.rmdir()  # where nothing was done
        raise


def _evaluate(args, out: Path, decodings: List[str], contexts: List[str], suites: List[Any]) -> None:
    import json

    from ctxmt_fairseq.evaluation.whole_runs import results
    from ctxmt_fairseq.evaluation.whole_runs.evaluated_text import read_evaluated_text
    from ctxmt_fairseq.evaluation.whole_runs.ledger import Ledger
    from ctxmt_fairseq.files import write_file
    from ctxmt_fairseq.provenance import made_by

    evaluator = _evaluator(args, Ledger(out))
    text = read_evaluated_text(args.text, evaluator.loaded)
    dev = read_evaluated_text(args.dev, evaluator.loaded) if args.penalty == "opt" else None
    for decoding in decodings:
        penalty, name = args.penalty, f"{decoding}{evaluator.settings.tag}"
        if dev is not None:
            penalties = [n for some in args.lenpens or [LENPENS] for n in some]
            penalty = evaluator.best_lenpen(dev, decoding, penalties)
            name += f".n{penalty:g}"
        given = evaluator.target_context_of(text)
        for context in contexts:
            if context == "trained":
                evaluator.evaluate(text, name, decoding, penalty, given=given)
                continue
            selection = args.random_context if context == "random" else context
            evaluator.evaluate(text, f"{name}.{context}", decoding, penalty, selection=selection, given=given)
    for suite in suites:
        evaluator.contrast(suite)
    found = results.collect(out, evaluator.finished_scores(text), evaluator.finished_contrasts())
    found["trained_window"] = evaluator.trained_window
    found["made_by"] = made_by(args)
    write_file(out / results.RESULTS, json.dumps(found, indent=2) + "\n")
    print(results.results_table({out.name: found}))


def _names(args) -> Any:
    """Decodings and contexts; several may also be given as one text. Other options are checked beside."""
    from ctxmt_fairseq.data.context_options import SELECTIONS
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.evaluation.metrics import bleu

    bleu(args.tokenize)  # before anything is translated
    given = [[word for text in texts for word in text.split()] for texts in (args.decodings, args.contexts)]
    allowed = (("prefix", "window"), ("trained", *SELECTIONS))
    for option, words, names in zip(("--decoding", "--contexts"), given, allowed, strict=True):
        for word in words:
            if word not in names:
                raise BadInput(f"{option} {word}: expected names from {', '.join(names)}")
    if args.penalty == "opt" and not args.dev:
        raise BadInput("--lenpen opt: expected --dev")
    if args.bootstrap == 1:
        raise BadInput("expected at least 2 samples for --bootstrap, or 0 for none, found 1")
    return given


def _read_suites(paths: List[str], documents: Any) -> List[Any]:
    """The contrastive sets; the documents go to those whose format has such a folder."""
    from ctxmt_fairseq.evaluation.contrastive_sets import (
        FORMATS,
        detect_format,
        join_sets,
        read_contrastive_set,
    )

    sets = []
    for path in map(Path, paths):
        has_documents = path.exists() and FORMATS[detect_format(path)].has_documents
        sets.append(read_contrastive_set(path, documents=documents if has_documents else None))
    return join_sets(sets)


def _out(args) -> Path:
    """The folder OUT, which need not be there."""
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.files import check_folder

    model = Path(args.path)
    if args.out is None and not model.exists():
        raise BadInput("no such file or folder", model)
    out = Path(args.out) if args.out else (model if model.is_dir() else model.parent) / "evaluation"
    check_folder(out)
    return out


def _evaluator(args, ledger: Any) -> Any:
    """The evaluator that the options describe."""
    from ctxmt_fairseq.cli.search_options import search_options
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.evaluation.contrastive_sets import Convention
    from ctxmt_fairseq.evaluation.whole_runs.evaluator import Evaluator, FirstPass, Settings

    files, loaded, content = _load(args, args.path, ledger, "averaged.pt")
    options: Dict[str, Any] = {}
    if args.window is not None:
        sides = ("source_context", "target_context")
        options = {side: args.window - 1 for side in sides if loaded.task.options[side]}
        if not options:
            raise BadInput(
                f"--window {args.window}: expected a model that was trained with previous sentences"
            )
    if args.kept is not None:
        options["keep_sentence"] = args.kept
    settings = Settings(
        search=search_options(args),
        options=options,
        tag="" if args.window is None else f".w{args.window}",
        first=(options.get("keep_sentence") or loaded.task.keep_sentence) == "first",
        tokenize=args.tokenize,
        lowercase=args.lowercase,
        bootstrap=args.bootstrap,
        convention=None if args.convention == "suite" else Convention(*args.convention.split("-")),
        width=args.documents_at_once,
        comet=_comet_models(args),
        comet_context=args.comet_context,
        cpu=args.cpu,
    )
    first_pass = None
    if args.target_context_from not in ("own", "reference"):
        others, models, other_content = _load(args, args.target_context_from, ledger, "first-pass.pt")
        plain = Settings(settings.search, width=settings.width)
        penalty = FIRST_PASS if args.penalty == "opt" else args.penalty
        first_pass = FirstPass(Evaluator(others, models, other_content, ledger, plain), penalty)
    return Evaluator(
        files, loaded, content, ledger, settings, args.target_context_from == "reference", first_pass
    )


def _comet_models(args) -> List[Any]:
    """The models of COMET, loaded."""
    from ctxmt_fairseq.errors import BadInput

    if not args.comet:
        if args.comet_context:
            raise BadInput("--comet-context: expected --comet")
        return []
    from ctxmt_fairseq.evaluation.comet.models import load_comet

    return [load_comet(name) for text in args.comet for name in text.split()]


def _load(args, name: str, ledger: Any, average: str) -> Any:
    """The files of a model, the models, and what identifies them."""
    from ctxmt_fairseq.cli.model_options import load_from_options
    from ctxmt_fairseq.evaluation.whole_runs.models import content_of, model_files

    files = model_files(name, args.average, ledger, average)
    loaded = load_from_options(Namespace(**{**vars(args), "path": files})).loaded
    return files, loaded, content_of(files, loaded)
