"""How accurately translations agree with attributes, such as the speaker's gender or the addressee's number.

SET holds JSON lines, each a sentence, its attributes, and for every attribute that shows in the translation
the phrases that agree with it and those that do not:

  {"source": "I was tired.", "attributes": {"speaker": "feminine", "formality": "formal"},
   "expected": {"speaker": ["fatiguée"]}, "wrong": {"speaker": ["fatigué"]}, "context": ["I am a woman"]}

Phrases are found as they are written, as whole words. The context is a list of texts or an object of texts by
field; by default the model reads the attributes themselves, or with --sentences the sentences for them. Every
sentence is translated without context too. A model that was trained with the current sentence's own vector
does without it, unless --current-vector yes. Printed are the accuracies by attribute, by value and of all
attributes of a sentence together, by their combination: right ones among those that are right or wrong; and
the mean over the attributes, as in the EAMT 2022 task (Vincent et al. 2022). Where every line has a
"reference" BLEU and chrF are printed, with the context and without.

The EAMT 2022 sets are read as they are published, dev.json and test.json: their attributes are speaker,
addressee, number and formality. They have references and no phrases, for their own detector analyses Polish
morphology: --translations writes what it reads.

Examples:
  ctxmt control attributes mtcue.pt set.jsonl --sentences sentences.json --json attributes.json
  ctxmt control attributes --hypotheses translations.fr set.jsonl
  ctxmt control attributes mtcue.pt eamt22/test.json --sentences sentences.json --translations test.hyp
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.control_options import add_evaluation_options

    parser.add_argument("path", metavar="MODEL", nargs="?", help="a checkpoint; several joined by ':'")
    parser.add_argument("set", metavar="SET", help="JSON lines; or an EAMT 2022 set, a JSON array")
    parser.add_argument("--hypotheses", metavar="FILE", help="translations of SET, line by line: no MODEL")
    parser.add_argument(
        "--sentences", metavar="FILE", help="JSON: attribute -> value -> sentence that the model reads for it"
    )
    parser.add_argument("--translations", metavar="FILE", help="write the translations there, one per line")
    add_evaluation_options(parser)


def run(args) -> None:
    from ctxmt_fairseq.cli.control_options import check_system, read_setting, rule_of, write_result
    from ctxmt_fairseq.corpora.text_steps import steps_of_language
    from ctxmt_fairseq.data.text_lines import read_sentences
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.evaluation.attribute_control.attributes import (
        attribute_report,
        example_lines,
        judge_attributes,
        read_any_set,
        reference_scores,
        scores_table,
    )
    from ctxmt_fairseq.evaluation.attribute_control.formality import check_aligned
    from ctxmt_fairseq.evaluation.attribute_control.judging import whole_words
    from ctxmt_fairseq.files import check_outputs, write_files

    check_system(args, "--hypotheses")
    check_outputs(args.json, args.examples, args.translations)
    setting = read_setting(args)
    examples = read_any_set(args.set)
    plain = without = None
    if args.path is None:
        if args.sentences:
            raise BadInput("--sentences: expected a MODEL")
        translations = read_sentences(args.hypotheses)
        check_aligned([args.set, args.hypotheses], [len(examples), len(translations)])
        occurs, steps = rule_of(args, whole_words), steps_of_language(args.data, "target")
    else:
        loaded, translations, without = _translate(args, examples)
        occurs, steps = rule_of(args, whole_words, loaded), loaded.target_subwords.steps
        if without is not None:
            plain = attribute_report(examples, judge_attributes(examples, without, occurs))
    outcomes = judge_attributes(examples, translations, occurs)
    report = attribute_report(examples, outcomes)
    scores = reference_scores(examples, {"context": translations, "no context": without}, steps)
    if any(example.expected for example in examples):
        print(report.table(plain))
    if scores:
        print(scores_table(scores))
    result = {**report.as_dict(), "plain": None if plain is None else plain.as_dict(), "scores": scores}
    lines = example_lines(examples, translations, outcomes)
    write_result(args, args.path or args.hypotheses, setting, result, lines)
    write_files([(args.translations, "".join(f"{line}\n" for line in translations))])


def _translate(args, examples):
    """The model, its translations with context, and without (None if the model reads none)."""
    import sys

    from ctxmt_fairseq.cli.control_options import load_translate
    from ctxmt_fairseq.evaluation.attribute_control.attributes import (
        metadata_of,
        read_sentences_of_attributes,
    )

    sentences = read_sentences_of_attributes(args.sentences) if args.sentences else None
    metadata = metadata_of(args.set, examples, sentences)
    loaded, translate = load_translate(args)
    sources = [example.source for example in examples]
    if not loaded.reads_metadata:
        print("ctxmt: the model reads no metadata: without context", file=sys.stderr)
        return loaded, translate(sources, metadata), None
    return loaded, translate(sources, metadata), translate(sources, [{}] * len(sources))
