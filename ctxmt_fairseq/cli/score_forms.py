"""Generative scoring: how often do translations contain the form that their context calls for?

The companion of contrastive sets (Wicks and Post 2023): nothing is given to the model, its own translation is
looked at. Accuracy by phenomenon, form and distance, beside that of the set's references: the most that can
be asked for. No case is compared. SET is one of
  ctxpro     its JSON list: the keys "expected", "rule", "ref segment", "ante distance"
  ContraPro  contrapro.json: the reference's pronoun is expected
  jsonl      SET.jsonl, our own, a line for each example ("reference" is optional, distance may be null):
  {"id": "1", "expected": "elle", "phenomenon": "pronoun", "distance": 1, "reference": "Elle est là."}

HYP has the translation of each example's current sentence, in the set's order, without its context: ctxmt
translate --joined '<eos>' makes it from the inputs that ctxpro publishes. --current names the marks of a text
that was translated, where lines for context sentences stand in HYP too.

--matching ctxpro is the rule of ctxpro's scorer, which deletes punctuation: "j'accepte" is one word. With
--matching words all but letters and digits stands between words, and "j'accepte" has the form "accepte".

--examples writes each decision; ctxmt compare contrast tests the difference of two systems by them.

Example: ctxmt score-forms gender.opensubtitles.en-fr.test.json hyp.fr --examples context.forms.jsonl
"""

import json


def add_arguments(parser) -> None:
    parser.add_argument("set", metavar="SET", help="the examples and their expected forms, see above")
    parser.add_argument("hypothesis", metavar="HYP", help="their translations, one per line")
    parser.add_argument(
        "--current", metavar="FILE", help="0 or 1 per line of HYP: those marked 0 are left out"
    )
    parser.add_argument(
        "--matching",
        choices=("ctxpro", "words"),
        default="ctxpro",
        help="what counts as found (default: ctxpro)",
    )
    parser.add_argument("--json", metavar="FILE", help="write the report there too")
    parser.add_argument("--examples", metavar="FILE", help="write every example's decision as JSON lines")


def run(args) -> None:
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.evaluation import expected_forms, metrics
    from ctxmt_fairseq.files import check_outputs, write_files
    from ctxmt_fairseq.provenance import made_by

    check_outputs(args.json, args.examples)
    form_set = expected_forms.read_forms(args.set)
    translations = metrics.read_translation(args.hypothesis, [], current=args.current).hypotheses
    if len(translations) != len(form_set.examples):
        raise BadInput(
            f"expected a translation of each of the {len(form_set.examples)} examples of {args.set}, found "
            f"{len(translations)}",
            args.hypothesis,
        )
    found = expected_forms.decide(form_set, translations, args.matching)
    report = expected_forms.form_report(form_set, found, args.matching)
    print(report.table())
    lines = expected_forms.decision_lines(form_set, found, args.matching)
    report_json = json.dumps({**report.as_dict(), "made_by": made_by(args)}, indent=2, ensure_ascii=False)
    write_files([(args.json, report_json + "\n"), (args.examples, "".join(line + "\n" for line in lines))])
