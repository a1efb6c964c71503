"""OPUS' Moses format: two files of aligned lines, and the .ids file that says where they come from.

Sentences without a counterpart are not in this format, so a document ends where the numbers of the sentences
do not go on, on either side; "ctxmt corpus opus", which reads the XML, can keep them as context. --sample and
--clean as of "ctxmt corpus opensubtitles".

Example: ctxmt corpus moses --source TED2020.de-en.en --target TED2020.de-en.de --ids TED2020.de-en.ids \\
             --source-lang en --target-lang de --out text/train
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.corpus_options import add_corpus_options, add_sample_options

    parser.add_argument("--source", required=True, metavar="FILE", help="the lines of the source side")
    parser.add_argument("--target", required=True, metavar="FILE", help="the lines of the target side")
    parser.add_argument("--ids", required=True, metavar="FILE", help="documents and sentences of each line")
    parser.add_argument(
        "--clean", default="none", metavar="NAMES", help="steps of cleaning, see opensubtitles"
    )
    add_sample_options(parser)
    add_corpus_options(parser)


def run(args) -> None:
    from ctxmt_fairseq.cli.corpus_options import write_sampled
    from ctxmt_fairseq.corpora.cleaning import chosen_steps
    from ctxmt_fairseq.corpora.moses import moses_documents

    languages = args.source_lang, args.target_lang
    steps = chosen_steps(args.clean)
    write_sampled(
        args, "moses", "lines", moses_documents(args.source, args.target, args.ids, languages, steps)
    )
