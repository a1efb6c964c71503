"""Part of speech, lemma, gender and number of the words of a text, for --annotation of ctxmt compare
pronouns, analyse antecedents and analyse group-use.

English and French: spaCy with the models that PyPI has. Russian: pymorphy3, by the word alone. Other
languages: simplemma, lemmas only. All come with the extra "linguistics". --model: any model of spaCy that is
installed as a package. Labels are those of Universal Dependencies: NOUN, Fem, Plur.

FILE gets a JSON line for each line of TEXT, as other tools may write them too:
  {"words": [{"text": "dogs", "start": 4, "end": 8, "pos": "NOUN", "lemma": "dog", "number": "Plur"}]}
Places are characters of the line without blanks at its ends; what is not known is left out.

Example: ctxmt corpus annotate test.fr --lang fr --output test.fr.words.jsonl
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.option_types import language, name, workers

    parser.add_argument("text", type=name, metavar="TEXT", help="one sentence per line")
    parser.add_argument("--lang", type=language, required=True, metavar="LANG", help="of the text")
    parser.add_argument("--model", type=name, metavar="PACKAGE",
                        help="with a model of spaCy, such as de_core_news_sm")  # fmt: skip
    parser.add_argument("--workers", type=workers, default=1, metavar="N", help="processes (default: 1)")
    parser.add_argument("--output", type=name, required=True, metavar="FILE", help="the annotation")


def run(args) -> None:
    from collections import Counter

    from tqdm.auto import tqdm

    from ctxmt_fairseq.corpora.linguistics.analysers import analyser
    from ctxmt_fairseq.corpora.linguistics.annotate import annotated_text
    from ctxmt_fairseq.data.annotation import LABELS, annotation_line
    from ctxmt_fairseq.files import check_outputs, write_file

    check_outputs(args.output)
    tool = analyser(args.lang, args.model)
    counts: Counter = Counter()

    def write(stream) -> None:
        sentences = annotated_text(args.text, args.lang, args.model, args.workers)
        for words in tqdm(sentences, unit=" sentences", disable=None):
            stream.write(f"{annotation_line(words)}\n".encode())
            counts.update(sentences=1, words=len(words))
            counts.update(name for word in words for name in LABELS if getattr(word, name) is not None)

    write_file(args.output, write)
    print(f"{args.output}: {counts['sentences']:,} sentences, {counts['words']:,} words by {tool.name}")
    known = [f"{name} of {counts[name]:,}" for name in LABELS if counts[name]]
    unknown = [name for name in LABELS if not counts[name]]
    print("; ".join([*known, *([f"not known: {', '.join(unknown)}"] if unknown else [])]))
