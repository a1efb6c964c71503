"""Which model, which of its context, and how it searches."""

import dataclasses
from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence, Type

from ctxmt_fairseq.base.command import OptionGroup, group, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.option_types import non_negative_int, number, whole_number
from ctxmt_fairseq.base.paths import Folder, Joined
from ctxmt_fairseq.cli.options.user_folder import UserDir
from ctxmt_fairseq.data.context_options import ALL
from ctxmt_fairseq.generation.search_settings import BOUNDS, SearchSettings

if TYPE_CHECKING:
    from ctxmt_fairseq.generation.loading import LoadedModels
    from ctxmt_fairseq.translator import Translator

_SEARCH = {"lenpen": "length penalty", "max_len_a": "at most a x + b tokens for x in the source"}  # help


def _made_of(fields: Dict[str, Any], options: Dict[str, Any], **more: Any) -> Type[OptionGroup]:
    """A group with fields of other dataclasses as options."""
    annotations = {name: Optional[fields[name].type] for name in options}
    names = {"__annotations__": annotations, "__module__": __name__}
    return type("Options", (OptionGroup,), {**names, **options, **more})


def search(*settings: str, heading: str = "search") -> Any:
    """A field with settings of the search, or all of them."""
    known = {each.name: each for each in dataclasses.fields(SearchSettings)}
    options = {}
    for name in settings or known:
        least, most = BOUNDS[name]
        kind = whole_number(int(least), int(most)) if known[name].type is int else number(least, most)
        options[name] = option(_SEARCH.get(name, ""), known[name].default, kind)
    return group(_made_of(known, options, heading=heading))


def _context(*left_out: str) -> Any:
    """A field with what may differ from the context options of the training."""
    offered = {
        name for name, each in ALL.items() if each.metadata["offered"] and not each.metadata["training"]
    }
    options = {
        name: option(each.metadata["help"], type=non_negative_int if each.type is int else None)
        for name, each in ALL.items()
        if name in offered.difference(left_out)
    }
    return group(_made_of(ALL, options))


class Model(UserDir):
    """The options of every command that runs a model."""

    heading = "model"

    data: Optional[Joined] = option("data folder (default: the one of the training)", metavar="DIR")
    cpu: bool = option("do not use a GPU")
    context: OptionGroup = _context()
    context_store: Optional[Folder] = option("where it is needed (default: DATA/contexts)")

    def load(self, path: Any, search: Optional[OptionGroup] = None, **how: Any) -> "Translator":
        """The models at a path.

        Args:
            how: further arguments of ``Translator.load``.

        Raises:
            BadInput: see ``Translator.load``.
        """
        from ctxmt_fairseq.translator import Translator

        given = {**self.settings(), **(search.settings() if search else {}), **how}
        device = "cpu" if given.pop("cpu") else None
        del given["user_dir"]
        options = {name: _plain(value) for name, value in given.items() if value is not None}
        return Translator.load(path, device=device, **options)

    def load_one(self, path: str, metadata: Sequence[str] = ()) -> "LoadedModels":
        """The model at a path, which reads metadata if there is some.

        Raises:
            BadInput: it reads none, or as ``load``.
        """
        loaded = self.load(path).loaded
        if metadata and not loaded.reads_metadata:
            raise BadInput("--metadata: expected a model of the task metadata_context")
        return loaded


class ModelWithContext(Model):
    """The same for commands that say themselves which context is selected."""

    context: OptionGroup = _context("context_selection")


def _plain(value: Any) -> Any:
    """fairseq's configuration takes a ``str``, none of its subclasses."""
    return str(value) if isinstance(value, str) else value
