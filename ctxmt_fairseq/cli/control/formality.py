"""How accurately a model's translations are formal or informal, as its context asks for.

Every sentence is translated without context and with each prompt as its only context: a model that was
trained with the current sentence's own vector does without it too, unless --current-vector yes. The
references of both formalities have the phrases that express it marked, [F]Haben Sie[/F] das gehört?, as in
CoCoA-MT and the IWSLT 2022 formality task, whose rule counts: a translation is formal if it has all words of
a formal phrase, and of no informal phrase all; and informal the other way round. The accuracy is the share
with the wanted formality among those that are formal or informal. Several files of each kind (domains) count
as one set.

The default prompts are those of MTCue (Vincent et al. 2023, appendix D), which reports the best of them for
either formality; a warning says where its accuracy rests on few translations. Any system's translations can
be judged without a model.

Examples:
  ctxmt control formality mtcue.pt --source test.en --formal test.formal.annotated.de \
--informal test.informal.annotated.de --json formality.json
  ctxmt control formality --formal-hypotheses formal.de --informal-hypotheses informal.de \
--formal test.formal.annotated.de --informal test.informal.annotated.de
"""

import sys
from typing import TYPE_CHECKING, List, Mapping, Optional, Sequence, Tuple

from ctxmt_fairseq.base.command import OptionGroup, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input
from ctxmt_fairseq.cli.options.control import Control

if TYPE_CHECKING:
    from ctxmt_fairseq.evaluation.attribute_control.formal_references import ContrastiveReference
    from ctxmt_fairseq.evaluation.attribute_control.formality import FormalityReport
    from ctxmt_fairseq.generation.loading import LoadedModels


class Text(OptionGroup):
    """Sentences, references and translations of both formalities."""

    heading = "text"

    source: Optional[List[Input]] = option("sentences, one per line (for a MODEL)")
    formal: List[Input] = option("annotated formal references, line by line")
    informal: List[Input] = option("informal ones")
    formal_hypotheses: Optional[List[Input]] = option("translations meant as formal")
    informal_hypotheses: Optional[List[Input]] = option("those meant as informal")


class Formality(Control):
    text: Text
    prompts: Optional[Input] = option(
        "a context on each line: formal or informal, a tab and the text; or a text that is tried for both "
        "(default: MTCue's ten)"
    )

    def run(self) -> None:
        from ctxmt_fairseq.evaluation.attribute_control.formal_references import FORMALITIES, read_references
        from ctxmt_fairseq.evaluation.attribute_control.formality import FormalityReport, judge
        from ctxmt_fairseq.evaluation.attribute_control.judging import words_among

        text = self.text
        self.check_system("--formal-hypotheses", "--informal-hypotheses")
        if (self.path is None) != (text.source is None):
            raise BadInput("give --source with a MODEL, and only then")
        setting = self.result.read_setting()
        named = {
            "--source": text.source,
            "--formal-hypotheses": text.formal_hypotheses,
            "--informal-hypotheses": text.informal_hypotheses,
        }
        beside = {flag: files for flag, files in named.items() if files}
        references, lines = read_references(text.formal, text.informal, beside)
        loaded, plain = None, "translations"
        if self.path is None:
            self._without_prompts("give a MODEL")
            translations = dict(zip(FORMALITIES, lines.values(), strict=True))
            occurs = self.rule(words_among, None)
            report = FormalityReport(judge(translations, references, occurs))
        else:
            (loaded, report), plain = self._controlled(lines["--source"], references), "no context"
        print(report.table(plain))
        system = self.path or next(iter(text.formal_hypotheses or ()), "")
        record = self.record(system, loaded, setting, report.as_dict())
        self.result.write(record, report.example_lines(references))

    def _controlled(
        self, sentences: List[str], references: Sequence["ContrastiveReference"]
    ) -> Tuple["LoadedModels", "FormalityReport"]:
        """The model, and what it makes of the prompts."""
        from ctxmt_fairseq.evaluation.attribute_control import formality
        from ctxmt_fairseq.evaluation.attribute_control.judging import words_among

        prompts: Mapping[str, Sequence[str]] = formality.PROMPTS
        if self.prompts:
            prompts = formality.read_prompts(self.prompts)
        loaded, translate = self.load()
        if not loaded.reads_metadata:
            self._without_prompts("give a model of the task metadata_context")
            print("ctxmt: warning: the model reads no metadata: without prompts", file=sys.stderr)
            prompts = dict.fromkeys(prompts, ())
        occurs = self.rule(words_among, loaded)
        return loaded, formality.control_formality(translate, sentences, references, prompts, occurs)

    def _without_prompts(self, advice: str) -> None:
        """Raises BadInput: there are prompts."""
        if self.prompts:
            raise BadInput(f"--prompts: {advice}, which reads them")
