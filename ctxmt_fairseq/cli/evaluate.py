"""All that is measured of a trained model: translations with every kind of context, their BLEU, chrF
and COMET, and contrastive sets, with one model that is loaded once.

MODEL is a training's folder (its --save-dir, or the folder that holds its checkpoints/), of which --average
checkpoints nearest the best are averaged; or a checkpoint. Reads TEXT.SRC, TEXT.TGT (the references) and
TEXT.docids, the languages being the model's; where lines serve as context only TEXT.current, and for models
that read metadata TEXT.meta.jsonl or TEXT.meta.FIELD. Each SUITE is a contrastive set, see ctxmt contrast;
deixis, lexical cohesion and both ellipses of Voita et al. (2019) are one set, with one Disc.

The folder OUT holds NAME.hyp and NAME.score.json of every translation, NAME.contrast.json and
NAME.examples.jsonl of every set, and results.json with all of them that belong to this model and text, and
were searched and scored in this way. Names say the decoding and, where they are not the training's, the
windows (.w3), the length penalty that was found (.n0.9) and the context (.absent). Started again, it goes on
where it was: what was made from the same model, text and options is not made again, and everything else is.

Example: ctxmt evaluate runs/s2to2 text/test suites/deixis_test.json --average 5 --beam 4 --lenpen 0.6 \\
    --contexts trained random empty absent
"""

import contextlib
import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from ctxmt_fairseq.base import ranks
from ctxmt_fairseq.base.command import argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input, Prefix, SharedFolder
from ctxmt_fairseq.base.shared_command import SharedCommand
from ctxmt_fairseq.cli.options.model import ModelWithContext
from ctxmt_fairseq.cli.options.result_files import TableStyle, as_json
from ctxmt_fairseq.cli.options.whole_run import Contexts, Scores, Search

if TYPE_CHECKING:
    from ctxmt_fairseq.evaluation.contrastive_sets import ContrastiveSet
    from ctxmt_fairseq.evaluation.runs.evaluator import Evaluator
    from ctxmt_fairseq.evaluation.runs.ledger import Ledger

FIRST_PASS = 0.6  # its length penalty, where the evaluated model's is searched
LENPENS = [n / 10 for n in range(4, 31)]
# Options of the model on which no result depends, or whose files are hashed.
_UNLIKE = ("data", "user_dir", "trust_checkpoint", "cpu", "device", "threads")


class Evaluate(SharedCommand):
    path: Input = argument("MODEL", "a training's folder; or checkpoints joined by ':'")
    text: Prefix = argument("TEXT", "prefix of the text's files")
    suites: List[Input] = argument("SUITE", "contrastive sets", [])
    out: Optional[SharedFolder] = option("(default: evaluation in MODEL's folder)")
    average: int = option("how many checkpoints of a folder are averaged; 1: the best alone", 1)
    context: Contexts
    search: Search
    scores: Scores
    model: ModelWithContext
    style: TableStyle

    def run(self) -> None:
        from ctxmt_fairseq.base.files import writing
        from ctxmt_fairseq.base.journal import lock_file
        from ctxmt_fairseq.evaluation.metrics import bleu

        bleu(self.scores.tokenize)  # before anything is translated
        decodings, contexts = self.context.names()
        if self.search.penalty is None and not self.search.dev:
            raise BadInput("--lenpen opt needs --dev, the text on which it is chosen")
        for name in ("dev", "lenpens"):
            if getattr(self.search, name) and self.search.penalty is not None:
                raise BadInput(f"--{name} needs --lenpen opt, which chooses the length penalty")
        given = self.context.target_context_from != "own"
        if given and self.search.too_long == "split":
            raise BadInput("--target-context-from does not work with --too-long split")
        if given and "window" in decodings:
            raise BadInput("--target-context-from needs a model with target context, and --decoding prefix")
        if "reference" in contexts and not given:
            raise BadInput("--contexts reference needs --target-context-from reference")
        if self.scores.bootstrap == 1:
            raise BadInput("--bootstrap 1: give 2 samples or more, or 0 for none")
        suites, out = self._read_suites(), self._folder()
        new = [folder for folder in (out, *out.parents) if not folder.exists()]
        with writing(out):
            out.mkdir(parents=True, exist_ok=True)
        try:
            # Another evaluation would score what this one translates.
            with contextlib.nullcontext() if ranks.number() else contextlib.closing(lock_file(out)):
                self._evaluate(out, decodings, contexts, suites)
        except BaseException:
            with contextlib.suppress(OSError):
                for folder in new:  # where nothing was done
                    folder.rmdir()
            raise

    def _evaluate(
        self, out: Path, decodings: List[str], contexts: List[str], suites: List["ContrastiveSet"]
    ) -> None:
        from ctxmt_fairseq.base.files import write_file
        from ctxmt_fairseq.base.provenance import made_by
        from ctxmt_fairseq.base.tables import remark
        from ctxmt_fairseq.evaluation.runs import results_file
        from ctxmt_fairseq.evaluation.runs.evaluated_text import read_evaluated_text
        from ctxmt_fairseq.evaluation.runs.ledger import Ledger

        evaluator = self._evaluator(Ledger(out))
        text = read_evaluated_text(self.text, evaluator.loaded)
        prefix = self.search.dev if self.search.penalty is None else None
        dev = read_evaluated_text(prefix, evaluator.loaded) if prefix else None
        for decoding in decodings:
            penalty, name = self.search.penalty, f"{decoding}{evaluator.settings.tag}"
            if dev:
                penalties = [n for some in self.search.lenpens or [LENPENS] for n in some]
                penalty = evaluator.best_lenpen(dev, decoding, penalties)
                name += f".n{penalty:g}"
            evaluate: Any = functools.partial(evaluator.evaluate, text)
            given = evaluator.target_context_of(text)
            for context in contexts:
                if context == "trained":
                    evaluate(name, decoding, penalty, given=given)
                    continue
                selection = self.context.random_context if context == "random" else context
                evaluate(f"{name}.{context}", decoding, penalty, selection=selection, given=given)
        for suite in suites:
            evaluator.contrast(suite)
        if ranks.number():
            return
        found = results_file.collect(out, evaluator.finished_scores(text), evaluator.finished_contrasts())
        of_model = {"checkpoints": evaluator.checkpoints, "trained_window": evaluator.trained_window}
        record = {**found, **of_model, **self.context.given(), "made_by": made_by()}
        write_file(out / results_file.RESULTS, as_json(record))
        print(results_file.results_table({out.name: record}))
        remarks = [*results_file.given_context(record), *results_file.signatures(record)]
        print("", *map(remark, remarks), sep="\n")

    def _read_suites(self) -> List["ContrastiveSet"]:
        """The contrastive sets; the documents go to those whose format has such a folder."""
        from ctxmt_fairseq.evaluation import contrastive_sets as known

        sets = []
        for path in map(Path, self.suites):
            has_documents = path.exists() and known.FORMATS[known.detect_format(path)].has_documents
            documents = self.scores.documents if has_documents else None
            sets.append(known.read_contrastive_set(path, documents=documents))
        return known.join_sets(sets)

    def _folder(self) -> Path:
        """The folder OUT, which need not be there."""
        from ctxmt_fairseq.base.folders import check_folder

        model = Path(self.path)
        if self.out is None and not model.exists():
            several = os.pathsep in self.path
            raise BadInput("several models need --out" if several else "no such file or folder", model)
        out = Path(self.out) if self.out else (model if model.is_dir() else model.parent) / "evaluation"
        check_folder(out)
        return out

    def _evaluator(self, ledger: "Ledger") -> "Evaluator":
        """The evaluator that the options describe."""
        from ctxmt_fairseq.evaluation.contrastive_sets import Convention
        from ctxmt_fairseq.evaluation.runs.evaluator import Evaluator, Settings

        files, loaded, content = self._load(self.path, ledger, "averaged.pt")
        window, scores, source = self.context.window, self.scores, self.context.target_context_from
        options: Dict[str, Any] = {}
        if window is not None:
            sides = ("source_context", "target_context")
            options = {side: window - 1 for side in sides if loaded.task.options[side]}
            if not options:
                raise BadInput(f"--window {window} needs a model that was trained with previous sentences")
        if self.context.kept is not None:
            options["keep_sentence"] = self.context.kept
        settings = Settings(
            search=self.search.fixed.settings(),
            lenpen=self.search.penalty,
            options=options,
            tag="" if window is None else f".w{window}",
            first=(self.context.kept or loaded.task.options["keep_sentence"]) == "first",
            tokenize=scores.tokenize,
            lowercase=scores.lowercase,
            bootstrap=scores.bootstrap,
            convention=None if scores.convention == "suite" else Convention(*scores.convention.split("-")),
            width=self.search.documents_at_once,
            too_long=self.search.too_long,
            comet=scores.comet_models(),
            comet_context=scores.comet_context,
            cpu=self.model.hardware.chosen == "cpu",
        )
        first_pass = None
        if source not in ("own", "reference"):
            others, models, other_content = self._load(source, ledger, "first-pass.pt")
            penalty = FIRST_PASS if self.search.penalty is None else self.search.penalty
            plain = Settings(settings.search, penalty, width=settings.width, too_long=settings.too_long)
            first_pass = Evaluator(others, models, other_content, ledger, plain)
        return Evaluator(files, loaded, content, ledger, settings, source == "reference", first_pass)

    def _load(self, name: str, ledger: "Ledger", average: str) -> Any:
        """The files of a model, the models, and what identifies them."""
        from ctxmt_fairseq.evaluation.runs.model_files import content_of, hashes, model_files
        from ctxmt_fairseq.generation.user_code import code_files
        from ctxmt_fairseq.text.text_lines import file_digest

        files = model_files(name, self.average, ledger, average)
        own = hashes(files)
        loaded = self.model.load(files).loaded
        if hashes(files) != own:
            raise BadInput("was replaced while it was read, perhaps by its training; start again", files)
        settings = self.model.settings().items()
        given = {k: v for k, v in settings if k not in _UNLIKE and v is not None and v is not False}
        if self.model.user_dir:
            given["user_dir"] = file_digest(*code_files(self.model.user_dir))
        return files, loaded, content_of(own, loaded, given)
