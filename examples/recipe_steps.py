"""What a paper's prepare.sh, train.sh and evaluate.sh do: options to commands."""

import os
from pathlib import Path
from typing import Any, Sequence

from recipe_corpora import corpus_commands, make_folders
from recipe_preparing import check_inputs, finished, go_on
from recipe_running import BadRecipe, OptionParser, one_of, run, split_extra, whole

SMALL_VOCABULARY = "8000"  # of the profile small
WHOLE_NUMBERS = """
    batch-tokens max-tokens warmup patience validate-every max-update gpus nodes port seed sentence-limit
""".split()


def train(recipe: Any, arguments: Sequence[str]) -> bool:
    """fairseq-train of a row, on all workers; its log is OUT/train.log, too. False: it was a dry run."""
    arguments, extra = split_extra(arguments)
    profiles = "".join(f"\n  {name:14} {' '.join(text.split())}" for name, text in recipe.profiles.items())
    parser = OptionParser(
        prog="train.sh",
        usage="train.sh ROW DATA OUT [OPTIONS] [-- OPTIONS OF fairseq-train]",
        description=f"{recipe.table.__doc__}\nCheckpoints come to OUT/checkpoints; an interrupted training "
        f"goes on.\nProfiles:{profiles}",
    )
    for name in ("row", "data", "out"):
        parser.add_argument(name, metavar=name.upper())
    everywhere = recipe.everywhere().options
    for name, text in recipe.options.items():
        default = recipe.first_profile if name == "profile" else "auto"
        shown = everywhere.get(name, default)
        parser.add_option(name, default, text, shown, type=whole if name in WHOLE_NUMBERS else str)
    parser.add_dry_run()
    options = vars(parser.parse_args(arguments))
    row, data, out, dry = (options.pop(name) for name in ("row", "data", "out", "dry_run"))
    command = recipe.command(row, data, out, extra, **options)
    if not dry:
        if not os.path.isdir(data):
            raise BadRecipe(f"{data}: no such data folder; expected what prepare.sh makes")
        os.makedirs(out, exist_ok=True)
    run(command, dry, Path(out, "train.log"))  # fairseq's own --log-file lacks the progress lines
    return not dry


def prepare(recipe: Any, arguments: Sequence[str]) -> None:
    """Downloaded files, or text with document ids, to the data folder of the recipes, and context stores."""
    arguments, extra = split_extra(arguments)
    parser = OptionParser(
        prog="prepare.sh",
        usage="prepare.sh TRAIN VALID DATA [OPTIONS] [-- OPTIONS OF ctxmt preprocess]",
        description="TRAIN and VALID are prefixes: TRAIN.SRC, TRAIN.TGT (one sentence per line), "
        "TRAIN.docids (one document id per line). The folder DATA is made. With --raw this text is made "
        "first, of the downloaded files that the README lists, and the test text beside VALID.",
    )
    for name in ("train", "valid", "data"):
        parser.add_argument(name, metavar=name.upper())
    own = recipe.defaults("prepare")
    size = own.get("vocab-size", "32000")
    parser.add_option("source-lang", own.get("source-lang", "en"))
    parser.add_option("target-lang", own.get("target-lang", "fr"))
    parser.add_option("raw", "", "folder of downloaded files")
    corpora = [*recipe.corpora, ""]
    parser.add_option("corpus", corpora[0], f"which of them: {', '.join(recipe.corpora)}")
    shares = own.get("held-out", "0.01")
    parser.add_option(
        "held-out", shares, "share of the documents for VALID, and for test, where none are named"
    )
    sizes = f"paper, small: vocabularies of {size}, {SMALL_VOCABULARY}"
    parser.add_option("profile", "paper", sizes, type=one_of("paper", "small"))
    parser.add_option("vocab-size", "auto", "another size", type=whole)
    apart = "joint: one vocabulary for both languages; separate: one for each"
    parser.add_option(
        "dictionaries", own.get("dictionaries", "joint"), apart, type=one_of("joint", "separate")
    )
    parser.add_option("spm-type", "bpe", "subwords, bpe or unigram", type=one_of("bpe", "unigram"))
    lower = "yes: lower-case the text, and with it all that the models read"
    parser.add_option("lowercase", "no", lower, type=one_of("yes", "no"))
    parser.add_option("workers", "4", "processes", type=whole)
    stores = (
        "sentence encoders, a context store of each; the first is DATA/contexts, another DATA/contexts-NAME; "
        "cls:NAME, mean:NAME choose the pooling"
    )
    parser.add_option("encoders", own.get("encoders", ""), stores)
    parser.add_option("fields", "all", "metadata in the stores")
    parser.add_dry_run()
    args = parser.parse_args(arguments)
    if args.vocab_size == "auto":
        args.vocab_size = size if args.profile == "paper" else SMALL_VOCABULARY
    commands = corpus_commands(recipe, args) if args.raw else []
    text = ["--train", args.train, "--valid", args.valid]
    command = ["ctxmt", "preprocess", "--source-lang", args.source_lang, "--target-lang", args.target_lang]
    command += [f"--{args.dictionaries}", "--vocab-size", args.vocab_size]
    if not any(option.startswith(("--spm", "--bpe-codes", "--no-subwords")) for option in extra):
        command += ["--spm-type", args.spm_type]
    command += ["--workers", args.workers, *text, "--out", args.data]
    commands.append([*command, *(["--lowercase"] if args.lowercase == "yes" else []), *extra])
    for number, encoder in enumerate(args.encoders.split()):
        store = f"{args.data}/contexts"
        if number:
            store += "-" + os.path.basename(encoder.split(":", 1)[-1])
        options = ["--encoder", encoder, "--fields", args.fields, "--out", store]
        commands.append(["ctxmt", "embed", args.data, *text, *options])
    if args.dry_run:
        for words in commands:
            run(words, True)
        return
    if args.raw:
        make_folders(args)
    record = Path(f"{args.data.rstrip('/')}-unfinished")
    done = finished(record, commands)
    check_inputs(args, commands[done:], extra)
    go_on(record, commands, done, run)


EVALUATION = """
    out average beam lenpen dev decoding lenpens contexts keep-sentence target-context-from tokenize
    bootstrap comet comet-context max-len-a max-len-b documents convention random-context
""".split()  # from the environment too, but window: WINDOW is what GNU screen numbers its windows by
EVALUATE_USAGE = """usage: evaluate.sh DATA RUN TEXT [SUITE...] [OPTIONS]

RUN is train.sh's OUT, DATA its data folder, TEXT the prefix of the test text, each SUITE a contrastive set.
Prints and runs ctxmt evaluate, whose options these are (see its --help); --dry-run prints the command only.
The paper's (default: {defaults})."""


def evaluate(recipe: Any, arguments: Sequence[str]) -> None:
    """All that is measured of a trained row, by ctxmt evaluate; options as for the other scripts."""
    options = dict(recipe.defaults("evaluate"))
    if len(arguments) < 3 or any(word.startswith("-") for word in arguments[:3]):
        if list(arguments) not in (["-h"], ["--help"]):
            raise BadRecipe("expected DATA RUN TEXT, then sets and options; see --help")
        shown = " ".join(f"--{name} {value}" for name, value in options.items())
        print(EVALUATE_USAGE.format(defaults=shown))
        return
    data, model, text, *rest = arguments
    before, after = split_extra(rest)
    words = [*before, *after]
    dry = "--dry-run" in words or bool(os.environ.get("DRY_RUN"))
    words = [word for word in words if word != "--dry-run"]
    at = next((at for at, word in enumerate(words) if word.startswith("-")), len(words))
    given = {word.split("=", 1)[0] for word in words[at:]}
    for name in EVALUATION:
        value = os.environ.get(name.replace("-", "_").upper())
        if value:
            options[name] = value
    paper = [
        word for name, value in options.items() if f"--{name}" not in given for word in (f"--{name}", value)
    ]
    run(["ctxmt", "evaluate", model, text, *words[:at], "--data", data, *paper, *words[at:]], dry)
