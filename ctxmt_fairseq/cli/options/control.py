"""What the evaluations of attribute control share: a model or translations, and a result to write."""

from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from ctxmt_fairseq.base.command import Command, OptionGroup, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input, Output
from ctxmt_fairseq.cli.options.model import Model, search
from ctxmt_fairseq.cli.options.result_files import as_json, as_lines

if TYPE_CHECKING:
    from ctxmt_fairseq.corpora.text_steps import TextSteps
    from ctxmt_fairseq.evaluation.attribute_control.judging import Occurs
    from ctxmt_fairseq.generation.loading import LoadedModels

Translate = Callable[[Sequence[str], Sequence[Mapping[str, str]]], List[str]]  # sentences, each with metadata


class Result(OptionGroup):
    heading = "result"

    json: Optional[Output] = option("write the result there too")
    examples: Optional[Output] = option("write every translation and what it shows as JSON lines")
    system: Optional[str] = option("what the result is called (default: the model's path)")
    setting: Optional[Input] = option(
        "the setting.json of the training, which ctxmt analyse results --across examples needs"
    )

    def read_setting(self) -> Any:
        """What the result says of --setting; None without it."""
        from ctxmt_fairseq.text.json_files import Place, get, load_json

        if self.setting is None:
            return None
        place, record = Place(self.setting), load_json(self.setting)
        get(place, record, "kept", int)
        return {name: record[name] for name in ("count", "kept", "seed") if name in record}

    def write(
        self, record: Dict[str, Any], examples: Iterable[str], *more: Tuple[Optional[str], str]
    ) -> None:
        from ctxmt_fairseq.base.files import write_files

        write_files([(self.json, as_json(record)), (self.examples, as_lines(examples)), *more])


class Control(Command):
    """An evaluation of a model's translations, or of given ones."""

    path: Optional[Input] = argument("MODEL", "a checkpoint; several joined by ':'")
    unspaced: bool = option("a language without spaces: phrases are found anywhere")
    result: Result
    search: OptionGroup = search("beam", "lenpen")
    batch_size: int = option("sentences translated together", 32)
    model: Model

    def check_system(self, *hypotheses: str) -> None:
        """Raises BadInput: not either a model or these options, all of them."""
        given = [self.settings()[name.lstrip("-").replace("-", "_")] is not None for name in hypotheses]
        if (self.path is not None) == any(given) or any(given) != all(given):
            raise BadInput(f"give either MODEL or {' and '.join(hypotheses)}")

    def steps(self, loaded: Optional["LoadedModels"]) -> "TextSteps":
        """Those of the target text in the data folder of the model, or in that which --data names."""
        from ctxmt_fairseq.corpora.text_steps import steps_of_language

        return loaded.target_subwords.steps if loaded else steps_of_language(self.model.data, "target")

    def rule(self, spaced: "Occurs", loaded: Optional["LoadedModels"]) -> "Occurs":
        """Whether a phrase occurs in a translation: by the rule ``spaced``, or with --unspaced anywhere. Both
        are compared as the data folder has its text: in lower case, say."""
        from ctxmt_fairseq.evaluation.attribute_control.judging import anywhere, in_surface_form

        return in_surface_form(anywhere if self.unspaced else spaced, self.steps(loaded).surface)

    def current_vector(self, loaded: Optional["LoadedModels"]) -> Optional[str]:
        """Whether the current sentence's own vector is context. Unless asked for it is not, as in the MTCue
        authors' evaluation: what an evaluation gives as context is all, and without context there is none."""
        reads = loaded is not None and loaded.reads_metadata
        return self.model.settings()["current_vector"] or ("no" if reads else None)

    def load(self) -> Tuple["LoadedModels", Translate]:
        """The models, and a function that translates sentences, each a document of its own."""
        model = self.model.load(self.path, self.search, documents_at_once=self.batch_size)
        reads_metadata = model.loaded.reads_metadata
        if reads_metadata:
            model = model.with_options(current_vector=self.current_vector(model.loaded))

        def translate(sentences: Sequence[str], metadata: Sequence[Mapping[str, str]]) -> List[str]:
            contexts = [[fields] for fields in metadata] if reads_metadata else None
            return [best for (best,) in model.translate([[sentence] for sentence in sentences], contexts)]

        return model.loaded, translate

    def record(
        self, system: str, loaded: Optional["LoadedModels"], setting: Any, report: Dict[str, Any]
    ) -> Dict[str, Any]:
        """The result; ``system`` is its name unless --system gives another."""
        vector = self.current_vector(loaded)
        current = {"current_vector": vector} if vector else {}
        return {"system": self.result.system or system, "setting": setting, **current, **report}
