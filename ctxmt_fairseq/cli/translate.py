"""Translate documents, one output line per input line.

The input is text with document ids (--docids), text with blank lines between documents, or JSON lines
({"source": ..., "document": ...}). With target context the model's own earlier translations are forced as the
prefix of the next sentence; --target-context-from gives them instead (post-editing: a file, or '-' for
corrections that arrive line by line on stdin: after each printed translation one line, empty to accept it).
Models of the task metadata_context also read what is known of the sentences: --metadata, --contexts.

Examples:
  ctxmt translate checkpoint_best.pt test.en --docids test.docids --output test.hyp --beam 4
  ctxmt translate mtcue.pt test.en --docids test.docids --metadata "Formal conversation"
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.model_options import add_model_options
    from ctxmt_fairseq.cli.option_types import name, positive_int
    from ctxmt_fairseq.cli.search_options import add_search_options

    parser.add_argument("path", metavar="MODEL", help="a checkpoint; several joined by ':' are an ensemble")
    parser.add_argument("input", metavar="INPUT", help="source text")
    parser.add_argument("--docids", metavar="FILE", help="one document id per line of INPUT")
    parser.add_argument("--current", metavar="FILE", help="0 (context only, not translated) or 1 per line")
    parser.add_argument("--json-lines", action="store_true", help="INPUT holds JSON lines")
    parser.add_argument(
        "--output", type=name, metavar="FILE", help="(default: stdout); an interrupted run is resumed"
    )
    parser.add_argument("--decoding", choices=("prefix", "window"), default="prefix",
                        help="force the target context, or decode the whole target window")  # fmt: skip
    parser.add_argument("--target-context-from", metavar="FILE",
                        help="target context: one line per input line, or '-' (default: own)")  # fmt: skip
    parser.add_argument("--metadata", metavar="TEXT", action="append",
                        help="what is known of all sentences (may be given several times)")  # fmt: skip
    parser.add_argument("--contexts", metavar="FILE|PREFIX",
                        help="the metadata of each: a file with one JSON object of strings per input line, "
                        "or PREFIX of PREFIX.meta.jsonl and PREFIX.meta.FIELD")  # fmt: skip
    parser.add_argument(
        "--keep-sentence", choices=("current", "first"), help="sentence of the decoded window"
    )
    parser.add_argument("--documents-at-once", type=positive_int, default=16, metavar="N", help="batch size")
    search = add_search_options(parser)
    search.add_argument("--scores", action="store_true", help="print each sentence's score before a tab")
    add_model_options(parser)


def read_input(args):
    """The documents that the options describe."""
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.generation import input_documents

    if args.json_lines:
        return input_documents.read_json_lines(args.input)
    if args.docids:
        return input_documents.read_with_ids(args.input, args.docids, args.current)
    if args.current:
        raise BadInput("--current: expected --docids, without which lines may be blank")
    return input_documents.read_blank_line_documents(args.input)


def read_metadata(args, documents):
    """Text by field for every sentence, from --contexts and --metadata; None if neither is given."""
    from ctxmt_fairseq.generation import input_documents

    if not (args.metadata or args.contexts):
        return None
    records = [{} for _ in documents.sentences]
    if args.contexts:
        records = input_documents.read_metadata(args.contexts, documents)
    prompts = {f"prompt {number}": text for number, text in enumerate(args.metadata or (), 1)}
    return [{**record, **prompts} for record in records]


def run(args) -> None:
    import sys

    from ctxmt_fairseq.cli.model_options import load_from_options
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.generation.translate_files import post_edit, translate_file
    from ctxmt_fairseq.output_files import check_outputs

    check_outputs(args.output)
    documents = read_input(args)
    metadata = read_metadata(args, documents)
    model = load_from_options(args, args.documents_at_once)
    if metadata and not model.loaded.reads_metadata:
        raise BadInput("--metadata, --contexts: expected a model of the task metadata_context")
    translator = model.document_translator()
    selection = model.loaded.task.context_options().context_selection
    if selection == "reference" and args.target_context_from in (None, "-"):
        raise BadInput("--context-selection reference: expected --target-context-from REFERENCES")
    if args.target_context_from and not translator.dependent:
        raise BadInput("--target-context-from: expected a model with target context, and --decoding prefix")
    if args.target_context_from == "-" and (args.output or args.scores):
        raise BadInput(
            "--target-context-from -: translations go to stdout; expected no --output, no --scores"
        )
    model.loaded.warn_of_unknown(args.input, sources=documents.sentences)
    if args.target_context_from == "-":
        post_edit(translator, documents, sys.stdin, sys.stdout, metadata)
    else:
        settings = {name: value for name, value in vars(args).items() if name != "run"}
        translate_file(
            translator, documents, args.output, settings, args.target_context_from, args.scores, metadata
        )
    if translator.separators:
        print(f"ctxmt: {translator.separators}", file=sys.stderr)
