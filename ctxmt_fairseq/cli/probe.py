"""What a model makes of its context: one text translated and scored with several contexts.

Reads TEXT.SRC, TEXT.TGT (the references) and TEXT.docids, the languages being the model's; if they are
there TEXT.current, and for the task metadata_context TEXT.meta.jsonl or TEXT.meta.FIELD. Contexts are the
document's own, random sentences of other documents, shuffled (a permutation of the text's own contexts),
empty sentences, absent (none at all), the reference in place of the context, and swapped encoder inputs;
those that the model or the text cannot have are named. BLEU and chrF of each are compared with the
document's (approximate randomization, Holm's correction).

CXMI (Fernandes et al. 2021) is the sum of log2 p(y|x,C) - log2 p(y|x) over the references y, </s> included,
by whitespace word: positive where the context C helps. p(y|x) is that of the same model with its context
absent, which it should know from its training; target context are the references before the sentence.

--words has the bits of every word. --tags are tags of the words, as MuDA's: for every line of the text
  {"tags": [[], ["pronouns"]]}                          a list of names for each whitespace word, or
  {"words": ["C'", "est", ...], "tags": [[], [], ...]}  for each of these words, the same text cut otherwise

Example: ctxmt probe checkpoints/averaged.pt text/test --json probe.json --words words.jsonl --plot sizes.png
"""

import json
from typing import Any, List, Tuple


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.model_options import add_model_options
    from ctxmt_fairseq.cli.search_options import add_search_options
    from ctxmt_fairseq.option_types import non_negative_int, positive_int, seed, whole_number

    parser.add_argument("path", metavar="MODEL", help="a checkpoint; several joined by ':' are an ensemble")
    parser.add_argument("text", metavar="TEXT", help="prefix of the text's files")
    parser.add_argument("--contexts", nargs="+", metavar="NAME",
                        help="context selections besides the document's own (default: all)")  # fmt: skip
    parser.add_argument("--sizes", nargs="+", type=non_negative_int, metavar="N",
                        help="sentences of context on either side (default: 0 to the model's)")  # fmt: skip
    parser.add_argument("--cxmi-only", action="store_true", help="do not translate, which takes most time")
    parser.add_argument("--tokenize", metavar="NAME", help="BLEU's tokenizer, as sacrebleu's (default: 13a)")
    parser.add_argument("--unit", choices=("document", "sentence"),
                        help="resampled in the tests (default: document, if there are several)")  # fmt: skip
    parser.add_argument(
        "--samples", type=whole_number(100, 10**7), default=10_000, metavar="N", help="(default: %(default)s)"
    )
    parser.add_argument("--seed", type=seed, default=1, metavar="N", help="(default: %(default)s)")
    parser.add_argument("--documents-at-once", type=positive_int, default=16, metavar="N", help="batch size")
    parser.add_argument("--max-tokens", type=positive_int, default=4000, metavar="N",
                        help="tokens per batch when scoring (default: %(default)s)")  # fmt: skip
    words = parser.add_argument_group("words")
    words.add_argument("--tags", metavar="FILE", help="tags of the references' words, see above")
    words.add_argument("--top", type=positive_int, default=20, metavar="N",
                       help="words that are shown (default: %(default)s)")  # fmt: skip
    words.add_argument("--min-count", type=positive_int, default=10, metavar="N",
                       help="how often a shown word occurs, at least (default: %(default)s)")  # fmt: skip
    files = parser.add_argument_group("files")
    files.add_argument("--json", metavar="FILE", help="write all results there")
    files.add_argument("--words", metavar="FILE", help="write every word's bits as JSON lines")
    files.add_argument("--plot", metavar="FILE.png", help="draw the curve of sizes; FILE.csv has its numbers")
    add_search_options(parser)
    add_model_options(parser, selection=False)


def run(args) -> None:
    from ctxmt_fairseq.analysis.map_files import check_optional_picture
    from ctxmt_fairseq.cli.model_options import load_from_options
    from ctxmt_fairseq.data.context_options import SELECTIONS
    from ctxmt_fairseq.evaluation.probe.outcome_scores import Tests
    from ctxmt_fairseq.evaluation.probe.probe_report import WordChoice, probe
    from ctxmt_fairseq.evaluation.probe.probed_text import read_probed_text
    from ctxmt_fairseq.evaluation.probe.prober import Prober, warn_of_unknown_absence
    from ctxmt_fairseq.evaluation.probe.size_curve import size_picture, size_table
    from ctxmt_fairseq.evaluation.probe.tags import read_tags
    from ctxmt_fairseq.evaluation.probe.word_report import word_lines
    from ctxmt_fairseq.evaluation.significance.measures import measure
    from ctxmt_fairseq.files import write_files
    from ctxmt_fairseq.provenance import made_by

    contexts = [name for text in args.contexts or SELECTIONS for name in text.split()]
    plot = check_optional_picture(args.plot, (".csv",), [args.json, args.words])
    table = plot.with_suffix(".csv") if plot else None
    model = load_from_options(args, args.documents_at_once)
    loaded = model.loaded
    text = read_probed_text(args.text, loaded)
    tags = read_tags(args.tags, text.references) if args.tags else None
    lowercase = loaded.target_subwords.steps.lowercase
    measures = [measure(name, args.tokenize, lowercase) for name in ("bleu", "chrf2")]
    unit = args.unit or ("document" if len(text.document_lengths) > 1 else "sentence")
    warn_of_unknown_absence(loaded)
    search = None if args.cxmi_only else model.search
    prober = Prober(loaded, text, search, model.documents_at_once, args.max_tokens)
    tests = Tests(measures, unit, args.samples, args.seed)
    report = probe(args.text, prober, contexts, args.sizes, tests, tags)
    choice = WordChoice(args.top, args.min_count)
    print(report.text(choice))
    record = {**report.as_dict(choice), "made_by": made_by(args)}
    outputs: List[Tuple[Any, Any]] = [
        (args.json, json.dumps(record, indent=2, ensure_ascii=False) + "\n"),
        (args.words, "".join(f"{line}\n" for line in word_lines(report.words))),
    ]
    if plot:
        curve = report.sizes, report.by_size
        title = f"{args.path}\n{report.title}"
        outputs += [(plot, size_picture(*curve, title)), (table, size_table(*curve))]
    write_files(outputs)
