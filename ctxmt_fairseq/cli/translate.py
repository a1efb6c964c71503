"""Translate documents, one output line per input line.

The input is text with document ids (--docids), text with blank lines between documents, JSON lines
({"source": ..., "document": ...}), or lines of joined sentences, of which the last is translated (--joined).
With target context the model's own earlier translations are forced as the prefix of the next sentence;
--target-context-from gives them instead (post-editing: a file, or '-' for corrections that arrive line by
line on stdin: after each printed translation one line, empty to accept it).
Models of the task metadata_context also read what is known of the sentences: --metadata, --contexts.

--corpus PREFIX makes training text of documents in one language (back-translation): the translations become
the source side, the text as it is the target side, with its document ids. --tag puts a word before every
translation, --mark FIELD=TEXT says in the metadata that the text is synthetic.

Examples:
  ctxmt translate checkpoint_best.pt test.en --docids test.docids --output test.hyp --beam 4
  ctxmt translate mtcue.pt test.en --docids test.docids --metadata "Formal conversation"
  ctxmt translate cs-en.pt news.cs --docids news.docids --corpus text/synthetic --tag "<BT>"
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.model_options import add_model_options
    from ctxmt_fairseq.cli.search_options import add_search_options
    from ctxmt_fairseq.option_types import name, positive_int, prefix

    parser.add_argument("path", metavar="MODEL", help="a checkpoint; several joined by ':' are an ensemble")
    parser.add_argument("input", metavar="INPUT", help="source text")
    parser.add_argument("--docids", metavar="FILE", help="one document id per line of INPUT")
    parser.add_argument("--current", metavar="FILE", help="0 (context only, not translated) or 1 per line")
    parser.add_argument("--joined", type=name, metavar="TEXT",
                        help="what joins a line's sentences, as '<eos>' the inputs of ctxpro")  # fmt: skip
    parser.add_argument("--json-lines", action="store_true", help="INPUT holds JSON lines")
    parser.add_argument(
        "--output", type=name, metavar="FILE", help="(default: stdout); an interrupted run is resumed"
    )
    parser.add_argument("--corpus", type=prefix, metavar="PREFIX",
                        help="write PREFIX.SRC (translations), .TGT (text) and .docids")  # fmt: skip
    parser.add_argument(
        "--tag", type=name, metavar="TEXT", help="of --corpus: stands before each translation"
    )
    parser.add_argument("--mark", metavar="FIELD=TEXT", help="of --corpus: metadata of each sentence")
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

    if args.joined:
        if args.json_lines or args.docids or args.current or args.target_context_from:
            raise BadInput("--joined: expected no --json-lines, --docids, --current, --target-context-from")
        return input_documents.read_joined(args.input, args.joined)
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


def checked_corpus_options(args):
    """Field and text of --mark; None without it."""
    from ctxmt_fairseq.corpora.writer import check_no_metadata
    from ctxmt_fairseq.errors import BadInput

    if args.corpus is None:
        if args.tag or args.mark:
            raise BadInput("--tag, --mark: expected --corpus")
        return None
    if args.output or args.scores or not args.docids:
        raise BadInput("--corpus: expected --docids, no --output and no --scores")
    check_no_metadata(args.corpus)
    if args.mark is None:
        return None
    field, equals, text = args.mark.partition("=")
    if not (field.strip() and equals and text.strip()):
        raise BadInput(f"--mark {args.mark}: expected FIELD=TEXT")
    return field, text


def run(args) -> None:
    import logging
    import sys

    from ctxmt_fairseq.cli.model_options import load_from_options
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.files import check_outputs
    from ctxmt_fairseq.generation.back_translation import is_same, other_files
    from ctxmt_fairseq.generation.translate_files import post_edit, translate_file

    mark = checked_corpus_options(args)
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
    if args.target_context_from == "-" and (args.output or args.scores or args.corpus):
        raise BadInput(
            "--target-context-from -: translations go to stdout; expected no --output, --corpus or --scores"
        )
    whole = not (args.docids or args.json_lines or args.joined) and documents.documents.sentences > 1
    if whole and len(documents.documents) == 1 and model.loaded.task.context_options().reach:
        logging.getLogger(__name__).warning(
            "%s: neither --docids nor blank lines: all %d lines are one document",
            *(args.input, documents.documents.sentences),
        )
    model.loaded.warn_of_unknown(args.input, sources=documents.sentences)
    if args.target_context_from == "-":
        post_edit(translator, documents, sys.stdin, sys.stdout, metadata)
    else:
        settings = {name: value for name, value in vars(args).items() if name != "run"}
        output, beside = args.output, []
        if args.corpus:
            target, source = model.loaded.languages  # of the corpus: the other way round
            output = f"{args.corpus}.{source}"
            beside = [
                (path, text)
                for path, text in other_files(args.corpus, target, documents, args.docids, args.current, mark)
                if not is_same(path, (args.input, args.docids, args.current))  # which are there already
            ]
            check_outputs(output, *(path for path, _ in beside))
        translate_file(
            *(translator, documents, output, settings, args.target_context_from, args.scores, metadata),
            tag=args.tag or "",
            beside=beside,
        )
    if translator.separators:
        print(f"ctxmt: {translator.separators}", file=sys.stderr)
