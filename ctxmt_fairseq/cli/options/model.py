"""Which model, which of its context, and how it searches."""

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Dict, Literal, Mapping, Optional, Sequence, Type

from ctxmt_fairseq.base.command import Command, Field, OptionGroup, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.option_types import non_negative_int, number, whole_number
from ctxmt_fairseq.base.paths import Folder, Input, Joined
from ctxmt_fairseq.base.put_off import put_back, put_off
from ctxmt_fairseq.cli.options.device import Device
from ctxmt_fairseq.cli.options.user_folder import TRUST, UserDir
from ctxmt_fairseq.data.context_options import ALL
from ctxmt_fairseq.generation.search_settings import BOUNDS, SearchSettings

if TYPE_CHECKING:
    from ctxmt_fairseq.generation.loading import LoadedModels
    from ctxmt_fairseq.translator import Translator


def _made_of(fields: Mapping[str, Field], options: Dict[str, Any], **more: Any) -> Type[OptionGroup]:
    """A group with options for some fields of other groups."""
    annotations = {name: Optional[fields[name].annotation] for name in options}
    names = {"__annotations__": annotations, "__module__": __name__}
    return type("Options", (OptionGroup,), {**names, **options, **more})


def search(*settings: str, heading: str = "search") -> Any:
    """A field with settings of the search, or all of them."""
    known = SearchSettings.all_fields
    options = {}
    for name in settings or known:
        least, most = BOUNDS[name]
        kind = whole_number(int(least), int(most)) if known[name].annotation is int else number(least, most)
        options[name] = option(known[name].how["help"], known[name].default, kind)
    return Field(group=_made_of(known, options, heading=heading))


TooLong = Literal["error", "cut", "split", "empty"]
TOO_LONG: Any = option(
    "sentences that are longer than the models read are refused, or cut, split into parts, left empty",
    "error",
)


def _context(*left_out: str) -> Any:
    """A field with what may differ from the context options of the training."""
    options = {
        name: option(each.how["help"], type=non_negative_int if each.annotation is int else None)
        for name, each in ALL.items()
        if each.how["offered"] and not each.how["training"] and name not in left_out
    }
    return Field(group=_made_of(ALL, options))


class Model(UserDir):
    """The options of every command that runs a model."""

    heading = "model"

    data: Optional[Joined] = option("data folder (default: the one of the training)", metavar="DIR")
    trust_checkpoint: bool = TRUST
    hardware: Device
    quantization: Optional[Literal["int8"]] = option(
        "int8: compute the largest layers in 8 bits, on a CPU; not with --bf16"
    )
    context: OptionGroup = _context()
    context_store: Optional[Folder] = option("where it is needed (default: DATA/contexts)")
    text_encoder: Optional[str] = option(
        "encoder of the context store, if it is neither minilm nor discrete (ctxmt embed --encoder)"
    )

    def begin(self, end: ExitStack) -> None:
        super().begin(end)
        if self.quantization and self.hardware.bf16:
            raise BadInput("give --bf16 or --quantization, one of them")
        put_off()

    def load(self, path: Any, search: Optional[OptionGroup] = None, **how: Any) -> "Translator":
        """The models at a path, with further arguments of ``Translator.load``."""
        from ctxmt_fairseq.translator import Translator

        put_back()
        given = {**self.settings(), **(search.settings() if search else {}), **how}
        for name in ("user_dir", *Device.all_fields):
            del given[name]
        # fairseq's configuration takes a ``str``, none of its subclasses.
        plain = {name: str(value) if isinstance(value, str) else value for name, value in given.items()}
        options: Any = {name: value for name, value in plain.items() if value is not None}
        return Translator.load(path, device=self.hardware.chosen, **options)

    def load_one(self, path: str, metadata: Sequence[str] = ()) -> "LoadedModels":
        """The model at a path, which must read metadata if there is some."""
        loaded = self.load(path).loaded
        if metadata and not loaded.reads_metadata:
            raise BadInput("--metadata needs a model of the task metadata_context")
        return loaded


class ModelWithContext(Model):
    """The same for commands that say themselves which context is selected."""

    context: OptionGroup = _context("context_selection")


class OfModel(Command):
    """A command about one model."""

    path: Input = argument("MODEL", "a checkpoint")
    model: Model
