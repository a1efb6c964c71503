"""What Stanford CoreNLP found in a text as the files of ctxmt analyse antecedents and compare pronouns.

JSON is CoreNLP's output of each document, in their order, from a file with the document's lines as they are:
  java edu.stanford.nlp.pipeline.StanfordCoreNLP -annotators tokenize,ssplit,pos,lemma,ner,parse,coref \\
      -ssplit.eolonly -outputFormat json -file document.txt
Writes OUT.coref.jsonl (pronouns with an antecedent in a line before: the nearest such line, there the last
mention that is more than a pronoun, else the last) and OUT.words.jsonl (parts of speech and lemmas).

Example: ctxmt corpus corenlp parsed/*.json --text test.en --docids test.docids --out test
"""

import json


def add_arguments(parser) -> None:
    parser.add_argument("documents", metavar="JSON", nargs="+", help="a file for each document of the text")
    parser.add_argument("--text", required=True, metavar="FILE", help="one sentence per line")
    parser.add_argument("--docids", required=True, metavar="FILE", help="document ids, one per line")
    parser.add_argument(
        "--name", default="corenlp", metavar="TEXT", help="of the source (default: %(default)s)"
    )
    parser.add_argument("--out", required=True, metavar="PREFIX", help="how the files' names begin")


def run(args) -> None:
    from ctxmt_fairseq.corpora.corenlp import convert_corenlp
    from ctxmt_fairseq.data.documents import Documents
    from ctxmt_fairseq.data.text_lines import read_sentences
    from ctxmt_fairseq.output_files import check_outputs, write_files

    outputs = [f"{args.out}.{ending}.jsonl" for ending in ("coref", "words")]
    check_outputs(*outputs)
    sentences = read_sentences(args.text)
    documents = Documents.read(args.docids, len(sentences))
    found = convert_corenlp(args.documents, sentences, documents, args.name)
    nominal = sum(record["antecedent"]["nominal"] for record in found.references)
    print(f"{len(found.references)} pronouns with an antecedent in a line before, {nominal} of them nominal")
    contents = [
        "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records) for records in found
    ]
    write_files(zip(outputs, contents, strict=True))
