"""Does attention find what a pronoun refers to? (Voita et al. 2018, tables 6 to 9.)

Of each pronoun with a nominal antecedent in the context: does the token of the source context with the
highest weight (without <bos>, </s> and punctuation) lie in it? With --annotation the first, the last and a
random noun of the context are compared, antecedents have one noun, and contexts with several nouns are shown
apart.
With several sources in the file, one of them --truth, such as people, the others are compared with it beside
attention.

--coreference has a JSON line for each pronoun; lines count from 1, places are characters:
  {"line": 7, "pronoun": [0, 2], "source": "corenlp",
   "antecedent": {"line": 6, "span": [12, 20], "nominal": true}}       (or null)
--annotation has one for each line of TEXT.SRC: {"words": [{"text", "start", "end", "pos"}]}. From
CoreNLP's output examples/gated_context/corenlp.py makes both, ctxmt corpus annotate makes the latter.

Example: ctxmt analyse antecedents checkpoint_best.pt text/test --coreference test.coref.jsonl \\
    --annotation test.words.jsonl --json antecedents.json
"""

import json


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.attention_options import add_text_attention_options

    add_text_attention_options(parser, side=False)
    parser.add_argument("--coreference", required=True, metavar="FILE", help="pronouns and antecedents")
    parser.add_argument("--annotation", metavar="FILE", help="parts of speech of the source")
    parser.add_argument(
        "--truth", metavar="SOURCE", help="whose antecedents are right (default: the only one)"
    )
    parser.add_argument("--json", metavar="FILE", help="write the numbers there too")


def run(args) -> None:
    from ctxmt_fairseq.analysis.antecedents import agreement
    from ctxmt_fairseq.cli.attention_options import attention_of_text
    from ctxmt_fairseq.data.annotation import is_noun, read_annotation
    from ctxmt_fairseq.data.coreference import read_coreference
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.files import check_outputs, write_files
    from ctxmt_fairseq.provenance import made_by

    check_outputs(args.json)
    args.side = "encoder"  # a pronoun is a word of the source
    _, text, sentences = attention_of_text(args)
    references = read_coreference(args.coreference, text.sentences)
    sources = list(dict.fromkeys(reference.source for reference in references))
    truth = args.truth or sources[0]
    if truth not in sources or (args.truth is None and len(sources) > 1):
        raise BadInput(f"--truth: expected one of the sources {', '.join(sources)}", args.coreference)
    nouns = None
    if args.annotation:
        annotated = read_annotation(args.annotation, text.sentences)
        nouns = [[word for word in words if is_noun(word)] for words in annotated]
    found = agreement(sentences, references, truth, nouns)
    if not found.judged:
        reasons = ", ".join(f"{count} {why}" for why, count in found.left_out.items())
        raise BadInput(f"expected pronouns with an antecedent in the context, found {reasons or 'none'}")
    print(found.table())
    record = {
        "truth": truth,
        "agreement": found.records(),
        "confusions": found.confusions(),
        "left_out": dict(found.left_out),
        "made_by": made_by(args),
    }
    write_files([(args.json, json.dumps(record, indent=2, ensure_ascii=False) + "\n")])
