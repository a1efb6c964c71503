"""Turn text with document ids into a binarised data folder for fairseq's commands.

A split is the files PREFIX.SRC and PREFIX.TGT (one sentence per line), PREFIX.docids (one document id per
line) and, optionally, PREFIX.current (0: the line is only context) and metadata: PREFIX.meta.jsonl (one JSON
object of strings per line) or files PREFIX.meta.FIELD (one value per line).

For a model that starts from one that you have, its dictionaries and subwords:
--dict-source dict.en.txt --dict-target dict.fr.txt --bpe-codes codes (or --spm spm.model).

Example: ctxmt preprocess --source-lang en --target-lang fr --train text/train --valid text/valid \\
    --test text/test --vocab-size 8000 --out data-bin
"""

from typing import Any, Dict, List

from ctxmt_fairseq.cli.split_options import add_split_options, splits_of

GIVEN = (
    ("spm", "MODEL", "apply this SentencePiece model to"),
    ("truecase-counts", "FILE", "truecase with these counts, of Moses' train-truecaser, "),
    ("bpe-codes", "CODES", "apply these BPE codes, of subword-nmt or fastBPE, to"),
    ("dict", "FILE", "take this fairseq dictionary, with the plugin's symbols at its end, for"),
)


def add_arguments(parser) -> None:
    from ctxmt_fairseq.option_types import language, name, positive_int, share, workers

    parser.add_argument("--source-lang", required=True, type=language, metavar="SRC")
    parser.add_argument("--target-lang", required=True, type=language, metavar="TGT")
    add_split_options(parser)
    parser.add_argument("--out", required=True, type=name, metavar="DATA", help="the data folder to make")
    parser.add_argument(
        "--overwrite",
        action="store_true",
        help="replace DATA if it is a data folder, with all that is in it, of which nothing may be read here",
    )
    parser.add_argument(
        "--blank-lines",
        action="store_true",
        help="a blank line on both sides ends a document; there are no ids",
    )
    parser.add_argument(
        "--lowercase",
        action="store_true",
        help="lower-case the text; DATA remembers it, and all that its models read is lower-cased too",
    )
    moses = parser.add_argument_group("Moses, by sacremoses; DATA remembers it, and it is undone in output")
    moses.add_argument("--moses", action="store_true", help="tokenise the text")
    moses.add_argument(
        "--moses-no-escape", action="store_true", help="do not write & | < > ' and the like as entities"
    )
    moses.add_argument("--moses-split-dashes", action="store_true", help="high-speed becomes high @-@ speed")
    moses.add_argument(
        "--truecase",
        action="store_true",
        help="undo the capital of a sentence's first word, as the training text has it within sentences",
    )
    parser.add_argument("--workers", type=workers, default=1, metavar="N", help="processes and threads")

    group = parser.add_argument_group("vocabulary, by default learned from the training text")
    sides = group.add_mutually_exclusive_group()
    sides.add_argument(
        "--joint",
        "--joined-dictionary",
        action="store_true",
        help="one dictionary and subword model for both languages (default; needed for target text on the "
        "source side and for tied embeddings)",
    )
    sides.add_argument(
        "--separate", action="store_true", help="a dictionary and a subword model per language"
    )
    group.add_argument(
        "--vocab-size",
        type=positive_int,
        metavar="N",
        help="pieces of each subword model (default 8000); with --no-subwords or --bpe-codes the words or "
        "pieces kept (default all)",
    )
    group.add_argument("--spm-type", choices=["unigram", "bpe"], default="unigram", help="default unigram")
    group.add_argument(
        "--character-coverage",
        type=share,
        default=1.0,
        metavar="P",
        help="share of characters with a piece (default 1.0; 0.9995 for scripts of thousands of characters)",
    )
    for option, metavar, what in GIVEN:
        group.add_argument(f"--{option}", metavar=metavar, help=f"{what} both languages")
        for side in ("source", "target"):
            group.add_argument(f"--{option}-{side}", metavar=metavar, help=f"{what} the {side} language")
    group.add_argument("--no-subwords", action="store_true", help="the text's words are the symbols")
    group.add_argument(
        "--like", metavar="DATA", help="take text steps, subwords, dictionaries from this data folder"
    )


def run(args) -> None:
    from ctxmt_fairseq.corpora.preprocess import Corpus, preprocess, statistics_table
    from ctxmt_fairseq.corpora.vocabulary import Vocabulary
    from ctxmt_fairseq.errors import BadInput

    spm, truecase, bpe, dictionaries = (_by_language(args, option) for option, *_ in GIVEN)
    if sum(map(bool, (spm, bpe, args.no_subwords, args.like))) > 1:
        raise BadInput("expected one of --spm, --bpe-codes, --no-subwords, --like")
    if args.like and (args.separate or args.joint or args.vocab_size or dictionaries):
        raise BadInput(
            "--like takes its whole vocabulary from DATA: no --joint, --separate, --vocab-size or --dict"
        )
    if dictionaries and (args.separate or args.joint or args.vocab_size):
        raise BadInput("--dict is the whole vocabulary: no --joint, --separate or --vocab-size")
    if dictionaries and not (spm or bpe or args.no_subwords):
        raise BadInput("--dict: expected the subwords in it, too: --spm or --bpe-codes, or --no-subwords")
    vocabulary = Vocabulary(
        steps=_steps(args, bool(truecase)),
        truecase=truecase,
        learn_truecase=args.truecase,
        joint=not args.separate,
        subwords=not args.no_subwords,
        spm=spm,
        bpe=bpe,
        dictionaries=dictionaries,
        vocab_size=args.vocab_size,
        spm_type=args.spm_type,
        character_coverage=args.character_coverage,
        like=args.like,
    )
    corpus = Corpus(args.source_lang, args.target_lang, splits=splits_of(args), blank_lines=args.blank_lines)
    print(statistics_table(preprocess(corpus, vocabulary, args.out, args.overwrite, args.workers)))


def _steps(args: Any, truecase: bool) -> List[Dict[str, Any]]:
    """The text steps without files.

    Raises:
        BadInput: options that contradict each other.
    """
    from ctxmt_fairseq.errors import BadInput

    if (args.moses_no_escape or args.moses_split_dashes) and not args.moses:
        raise BadInput("--moses-no-escape, --moses-split-dashes: expected --moses")
    if args.lowercase + args.truecase + truecase > 1:
        raise BadInput("expected one of --lowercase, --truecase, --truecase-counts")
    if args.like and (args.lowercase or args.moses or args.truecase or truecase):
        raise BadInput("--like takes the text steps of DATA: no --lowercase, --moses or --truecase")
    entries: List[Dict[str, Any]] = []
    if args.moses:
        options = {"escape": not args.moses_no_escape, "split_dashes": args.moses_split_dashes}
        entries.append({"step": "moses", **options})
    if args.lowercase:
        entries.append({"step": "lowercase"})
    return entries


def _by_language(args: Any, option: str) -> Dict[str, str]:
    """The files given by --OPTION, or by --OPTION-source with --OPTION-target; {} for none."""
    from ctxmt_fairseq.errors import BadInput

    names = [f"{option}{side}".replace("-", "_") for side in ("", "-source", "-target")]
    both, *sides = (getattr(args, name) for name in names)
    if (both and any(sides)) or any(sides) != all(sides):
        raise BadInput(f"expected --{option}, or --{option}-source with --{option}-target")
    files = [both, both] if both else sides
    return dict(zip((args.source_lang, args.target_lang), files, strict=True)) if files[0] else {}
