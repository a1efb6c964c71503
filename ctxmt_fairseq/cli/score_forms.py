"""Generative scoring: how often do translations contain the form that their context calls for?

The companion of contrastive sets (Wicks and Post 2023): nothing is given to the model, its own translation is
looked at. Printed is the accuracy by phenomenon, form and distance, and beside it that of the set's
references, the most that can be asked for. Upper and lower case do not differ. SET is one of
  ctxpro     its JSON list: the keys "expected", "rule", "ref segment", "ante distance"
  ContraPro  contrapro.json: the reference's pronoun is expected
  jsonl      SET.jsonl, our own, a line for each example ("reference" is optional, distance may be null):
  {"id": "1", "expected": "elle", "phenomenon": "pronoun", "distance": 1, "reference": "Elle est là."}

HYP has the translation of each example's current sentence, in the set's order, without its context: ctxmt
translate --joined '<eos>' makes it from the inputs that ctxpro publishes. Where HYP has lines of
context sentences, too, --current names the file that marks them 0.

--matching ctxpro is the rule of ctxpro's scorer, which deletes punctuation: "j'accepte" is one word. With
--matching words everything but letters and digits ends a word, and "j'accepte" has the form "accepte".

--examples writes each decision; ctxmt compare contrast tests the difference of two systems by them.

Example: ctxmt score-forms gender.opensubtitles.en-fr.test.json hyp.fr --examples context.forms.jsonl
"""

from typing import Literal, Optional

from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input
from ctxmt_fairseq.cli.options.result_files import Examples, as_lines


class ScoreForms(Command):
    set: Input = argument("SET", "the examples and their expected forms, see above")
    hypothesis: Input = argument("HYP", "their translations, one per line")
    current: Optional[Input] = option("0 or 1 per line of HYP: those marked 0 are left out")
    matching: Literal["ctxpro", "words"] = option("what counts as found", "ctxpro")
    results: Examples

    def run(self) -> None:
        from ctxmt_fairseq.evaluation import expected_forms, metrics
        from ctxmt_fairseq.text.text_lines import check_count, iterate_lines, read_sentences

        forms = expected_forms.read_forms(self.set)
        if self.current:  # of two files of unlike length the flags belong to the set
            flags = sum(1 for _ in iterate_lines(self.current))
            translated = read_sentences(self.hypothesis)
            check_count(translated, flags, self.current, self.hypothesis, metrics.REALIGN)
        translations = metrics.read_translation(self.hypothesis, [], current=self.current).hypotheses
        if len(translations) != len(forms.examples):
            raise BadInput(
                f"expected a translation of each of the {len(forms.examples)} examples of {self.set}, found "
                f"{len(translations)}{metrics.REALIGN}",
                self.hypothesis,
            )
        found = expected_forms.decide(forms, translations, self.matching)
        report = expected_forms.form_report(forms, found, self.matching)
        print(expected_forms.form_table(report))
        lines = expected_forms.decision_lines(forms, found, self.matching)
        self.results.write(report, (self.results.examples, as_lines(lines)))
