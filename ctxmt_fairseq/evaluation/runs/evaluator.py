"""Evaluates a model in all respects: length penalties, kinds of context, contrastive sets."""

import json
import os
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

from ctxmt_fairseq.base import ranks
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.files import write_file, write_files
from ctxmt_fairseq.evaluation.comet.comet_models import CometModel
from ctxmt_fairseq.evaluation.comet.comet_score import CometScore
from ctxmt_fairseq.evaluation.contrastive_report import contrastive_report, example_lines
from ctxmt_fairseq.evaluation.contrastive_scoring import score_candidates
from ctxmt_fairseq.evaluation.contrastive_sets import ContrastiveSet, Convention, texts_of
from ctxmt_fairseq.evaluation.metrics import score_dict, score_translation
from ctxmt_fairseq.evaluation.runs.evaluated_text import EvaluatedText
from ctxmt_fairseq.evaluation.runs.ledger import Ledger
from ctxmt_fairseq.generation.document_translation import DocumentTranslator
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.generation.search_settings import DOCUMENTS_AT_ONCE, SearchSettings
from ctxmt_fairseq.generation.translate_files import translate_file
from ctxmt_fairseq.text.text_lines import file_digest, read_sentences

# Added when this changed, so that what an earlier version made in other documents' context is made again.
_OTHERS = "translations of other documents are those in their own context"


@dataclass(frozen=True)
class Settings:
    """How to evaluate a model.

    Attributes:
        search: settings of the search, without the length penalty.
        lenpen: the length penalty; None: it is looked for, and names say it.
        options: context options that differ from those of the training.
        tag: the ending that results get in their names for these options, such as ".w3".
        first: whether to keep the first sentence of each decoded window.
        convention: the convention for contrastive sets; None: each suite's own.
        width: how many documents are translated side by side.
        too_long: what happens to sentences that are too long, see ``fit_sentences``.
    """

    search: Dict[str, Any]
    lenpen: Optional[float] = None
    options: Dict[str, Any] = field(default_factory=dict)
    tag: str = ""
    first: bool = False
    tokenize: Optional[str] = None
    lowercase: bool = False
    bootstrap: int = 0
    convention: Optional[Convention] = None
    width: int = DOCUMENTS_AT_ONCE
    too_long: str = "error"
    comet: Sequence[CometModel] = ()
    comet_context: int = 0
    cpu: bool = False


@dataclass
class Evaluator:
    """Evaluates models, which are loaded once; steps that the ledger has are not repeated.

    Attributes:
        files, content: the files of the models, and hashes of what makes them (``model_files``).
        references: whether the references are the target context; otherwise the models' own translations are,
            or ...
        first_pass: ... the translations of other models, with the length penalty of their settings.
    """

    files: str
    loaded: LoadedModels
    content: List[str]
    ledger: Ledger
    settings: Settings
    references: bool = False
    first_pass: Optional["Evaluator"] = None

    def __post_init__(self) -> None:
        trained = self.loaded.task.options
        self.trained_window = 1 + max(trained["source_context"], trained["target_context"])
        self.loaded = self.loaded.with_options(**self.settings.options)

    @property
    def checkpoints(self) -> List[str]:
        """The hashes of the models' own files."""
        return self.content[: len(self.files.split(os.pathsep))]

    def translate(
        self,
        text: EvaluatedText,
        output: str,
        decoding: str,
        lenpen: float,
        selection: Optional[str] = None,
        given: Optional[str] = None,
    ) -> None:
        """Translate the text to a file in the ledger's folder, with another context selection than the
        training's, or with the target context of the file ``given``."""
        settings = self.settings
        options = {} if selection is None else {"context_selection": selection}
        search = {**settings.search, "lenpen": lenpen}
        path = self.ledger.folder / output
        made_from = [
            [self.content, text.content, decoding, search, settings.options, options, settings.first],
            None if given is None else file_digest(Path(given)),
            *([settings.too_long] if settings.too_long != "error" else []),
            *([_OTHERS] if selection in ("random", "shuffled") else []),
        ]

        def work() -> None:
            loaded = self.loaded.with_options(decoding=decoding, **options)
            translator = DocumentTranslator(loaded, SearchSettings(**search), settings.width)
            if given is None and loaded.task.context_options().context_selection == "reference":
                raise BadInput("the selection reference needs --target-context-from reference")
            if given is not None and not translator.dependent:
                needs = "a model with target context, and --decoding prefix"
                raise BadInput(f"--target-context-from needs {needs}")
            run = {"path": self.files, "made_from": made_from}
            how: Dict[str, Any] = {"metadata": text.metadata, "too_long": settings.too_long}
            own = Path(ranks.own_file(str(path)))
            remark = translate_file(translator, text.documents, own, run, given, replace=True, **how)
            if own != path:
                own.unlink()
            for each in filter(None, (translator.remark, remark)):
                print(f"ctxmt: warning: {each}", file=sys.stderr)

        self._make(output, made_from, [output], work, shared=True)

    def score(self, text: EvaluatedText, name: str) -> Dict[str, Any]:
        """Score ``NAME.hyp``, and write ``NAME.score.json``. COMET reads the unchanged text."""
        settings, folder = self.settings, self.ledger.folder
        steps = self.loaded.target_subwords.steps
        lowercase = settings.lowercase or steps.lowercase
        tokenize = settings.tokenize or steps.bleu_tokenizer
        reach = self.loaded.task.reach
        how: List[Any] = [tokenize, lowercase, settings.bootstrap, reach]
        how += [[model.content, settings.comet_context] for model in settings.comet]
        made_from = [file_digest(folder / f"{name}.hyp"), text.content, how, self.content]
        output = f"{name}.score.json"

        def work() -> None:
            lines = read_sentences(folder / f"{name}.hyp")
            translation = text.translation(lines, steps.surface, reach)
            scores = score_translation(translation, tokenize, lowercase, settings.bootstrap)
            comet = self._comet(text, lines, folder / f"{name}.hyp.comet.jsonl")
            scores += [each.metric_score() for each in comet]
            more = {"comet": list(map(asdict, comet))} if comet else {}
            of_model = {**score_dict(translation, scores), "checkpoints": self.checkpoints}
            write_file(folder / output, _json({**of_model, **more}))

        self._make(output, made_from, [output], work, self._about(text))
        return json.loads((folder / output).read_text(encoding="utf-8"))

    def _comet(self, text: EvaluatedText, lines: List[str], cache: Path) -> List[CometScore]:
        settings = self.settings
        if not settings.comet:
            return []
        from ctxmt_fairseq.evaluation.comet.comet_scoring import comet_score

        given, k = text.comet(lines, self.loaded.task.reach), settings.comet_context
        return [comet_score(given, model, k, cache, cpu=settings.cpu) for model in settings.comet]

    def evaluate(self, text: EvaluatedText, name: str, decoding: str, lenpen: float, **how: Any) -> float:
        """Translate and score a text; return BLEU."""
        self.translate(text, f"{name}.hyp", decoding, lenpen, **how)
        return self.score(text, name)["scores"][0]["score"]

    def target_context_of(self, text: EvaluatedText, folder: str = "") -> Optional[str]:
        """The file with the target context of a text; None: the models' own translations."""
        if self.first_pass is not None:
            output, lenpen = f"{folder}first-pass.hyp", self.first_pass.settings.lenpen
            assert lenpen is not None
            self.first_pass.translate(text, output, "prefix", lenpen)
            return str(self.ledger.folder / output)
        return text.reference_file if self.references else None

    def best_lenpen(self, dev: EvaluatedText, decoding: str, lenpens: Sequence[float]) -> float:
        """The length penalty with the best BLEU on a text; the first one if several are equal."""
        folder = f"dev.{decoding}{self.settings.tag}/"
        (self.ledger.folder / folder).mkdir(exist_ok=True)
        given = self.target_context_of(dev, folder)
        bleu = {n: self.evaluate(dev, f"{folder}n{n:g}", decoding, n, given=given) for n in lenpens}
        return max(bleu, key=lambda n: bleu[n])

    def contrast(self, suite: ContrastiveSet) -> None:
        """Score a set: accuracies to ``NAME.contrast.json``, the examples to ``NAME.examples.jsonl``."""
        settings, folder = self.settings, self.ledger.folder
        convention = settings.convention or suite.convention
        files = [f"{suite.name}{settings.tag}.{kind}" for kind in ("contrast.json", "examples.jsonl")]
        made_from = [self.content, settings.options, asdict(suite), list(convention)]

        def work() -> None:
            self.loaded.warn_of_unknown(suite.name, *texts_of(suite.examples))
            scores = score_candidates(self.loaded, suite.examples)
            if ranks.number():
                return
            report = contrastive_report(suite, scores, convention)
            examples = "".join(f"{line}\n" for line in example_lines(suite, scores, convention))
            write_files([(folder / files[0], _json(report.as_dict())), (folder / files[1], examples)])

        self._make(files[0], made_from, files, work, self._about(), shared=True)

    def finished_scores(self, text: EvaluatedText) -> List[str]:
        """The scores in the folder of these models' translations of a text, made and scored in this way."""
        return [name for name in self.ledger.steps_about(self._about(text)) if "/" not in name]

    def finished_contrasts(self) -> List[str]:
        """The reports in the folder on these models and contrastive sets."""
        return self.ledger.steps_about(self._about())

    def _about(self, text: Optional[EvaluatedText] = None) -> List[Any]:
        """What results belong to: for a text, also all that makes scores other ones and is not in names."""
        if text is None:
            return [self.content, None]
        how, first = self.settings, self.first_pass
        made = [how.search, how.lenpen, how.first, how.too_long, how.tokenize, how.lowercase]
        given = [self.references, first and [first.content, first.settings.lenpen]]
        return [self.content, text.content, made, given]

    def _make(self, step: str, made_from: Any, files: List[str], work: Any, about: Any = None, **how: Any):
        if not self.ledger.make(step, made_from, files, work, about, **how):
            print(f"ctxmt: {step} is there already", file=sys.stderr)


def _json(content: Any) -> str:
    return json.dumps(content, indent=2) + "\n"
