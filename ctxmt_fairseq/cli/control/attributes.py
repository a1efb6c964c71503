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
addressee, number and formality. They have references and no phrases, because their own detector analyses
Polish morphology: --translations writes what it reads.

Examples:
  ctxmt control attributes mtcue.pt set.jsonl --sentences sentences.json --json attributes.json
  ctxmt control attributes --hypotheses translations.fr set.jsonl
  ctxmt control attributes mtcue.pt eamt22/test.json --sentences sentences.json --translations test.hyp
"""

import sys
from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple

from ctxmt_fairseq.base.command import argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input, Output
from ctxmt_fairseq.cli.options.control import Control
from ctxmt_fairseq.cli.options.result_files import as_lines

if TYPE_CHECKING:
    from ctxmt_fairseq.generation.loading import LoadedModels

Translated = Tuple[Optional["LoadedModels"], List[str], Optional[List[str]]]


class Attributes(Control):
    set: Input = argument("SET", "JSON lines; or an EAMT 2022 set, a JSON array")
    hypotheses: Optional[Input] = option("translations of SET, line by line: no MODEL")
    sentences: Optional[Input] = option("JSON: attribute -> value -> sentence that the model reads for it")
    translations: Optional[Output] = option("write the translations there, one per line")

    def run(self) -> None:
        from ctxmt_fairseq.evaluation.attribute_control import attributes as control
        from ctxmt_fairseq.evaluation.attribute_control.attribute_sets import read_any_set
        from ctxmt_fairseq.evaluation.attribute_control.judging import whole_words

        self.check_system("--hypotheses")
        setting = self.result.read_setting()
        examples = read_any_set(self.set)
        loaded, translations, without = self._translated(examples)
        occurs = self.rule(whole_words, loaded)
        outcomes = control.judge_attributes(examples, translations, occurs)
        report, plain = control.attribute_report(examples, outcomes), None
        if without is not None:
            plain = control.attribute_report(examples, control.judge_attributes(examples, without, occurs))
        both = {"context": translations, "no context": without}
        scores = control.reference_scores(examples, both, self.steps(loaded))
        if any(example.expected for example in examples):
            print(report.table(plain))
        if scores:
            print(control.scores_table(scores))
        found = {**report.as_dict(), "plain": plain.as_dict() if plain else None, "scores": scores}
        record = self.record(self.path or str(self.hypotheses), loaded, setting, found)
        lines = control.example_lines(examples, translations, outcomes)
        self.result.write(record, lines, (self.translations, as_lines(translations)))

    def _translated(self, examples: Sequence[Any]) -> Translated:
        """The model and its translations with context, and without; None where there is none."""
        from ctxmt_fairseq.evaluation.attribute_control import attribute_sentences
        from ctxmt_fairseq.evaluation.attribute_control.attribute_sets import metadata_of
        from ctxmt_fairseq.evaluation.attribute_control.formal_references import check_aligned
        from ctxmt_fairseq.text.text_lines import read_sentences

        if self.hypotheses is not None:
            if self.sentences:
                raise BadInput("--sentences needs a MODEL, which reads them")
            translations = read_sentences(self.hypotheses)
            check_aligned([self.set, self.hypotheses], [len(examples), len(translations)])
            return None, translations, None
        sentences = None
        if self.sentences:
            sentences = attribute_sentences.read_sentences_of_attributes(self.sentences)
        metadata = metadata_of(self.set, examples, sentences)
        loaded, translate = self.load()
        sources = [example.source for example in examples]
        if not loaded.reads_metadata:
            print("ctxmt: warning: the model reads no metadata: without context", file=sys.stderr)
            return loaded, translate(sources, metadata), None
        return loaded, translate(sources, metadata), translate(sources, [{}] * len(sources))
