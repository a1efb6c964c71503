"""Trained models as folders that run alone, and what other programs read.

A target is a class. Folders that our commands run have the dictionaries, subwords and text steps. All have
``ctxmt.json`` and a model card.
"""

import contextlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Collection, Dict, Optional

import torch
from fairseq.models.transformer import TransformerModel
from torch import Tensor

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.checkpoints.allowed import ALLOWED, TRUSTED
from ctxmt_fairseq.checkpoints.options import mapping
from ctxmt_fairseq.checkpoints.portable import write_portable
from ctxmt_fairseq.checkpoints.reading import read
from ctxmt_fairseq.corpora import data_folder
from ctxmt_fairseq.corpora.subwords import PathLike, find_model
from ctxmt_fairseq.corpora.text_steps import TextSteps
from ctxmt_fairseq.data.context_options import flag
from ctxmt_fairseq.generation.loading import LoadedModels, load_models, model_file
from ctxmt_fairseq.models.concat_transformer import ConcatTransformer

_OF_TEXT = ("overlap", "dropped")  # what a description says of binarised text, besides the splits
_WITHOUT = (
    *("no_token_positional_embeddings", "no_cross_attention", "cross_self_attention", "adaptive_input"),
    *("adaptive_softmax_cutoff", "no_decoder_final_norm", "base_layers", "scale_attn", "scale_fc"),
    *("scale_heads", "scale_resids"),
)


@dataclass
class Trained:
    """A model to be exported: its checkpoint, as ``read`` returns it, and the same, built; ``trust``: see
    ``load_models``."""

    state: Dict[str, Any]
    loaded: LoadedModels
    trust: bool

    @classmethod
    def read(cls, path: PathLike, data: Optional[PathLike] = None, trust: bool = False) -> "Trained":
        """Read one model; see ``load_models``."""
        loaded = load_models(Path(path), data, device="cpu", trust=trust)
        return cls(read(model_file(Path(path)), TRUSTED if trust else ALLOWED), loaded, trust)

    @property
    def options(self) -> Dict[str, Any]:
        return mapping(self.state["cfg"]["model"], "model")

    @property
    def architecture(self) -> str:
        return str(self.options.get("arch") or self.options["_name"])

    @property
    def folder(self) -> Path:
        """It has the dictionaries."""
        return data_folder.first_folder(self.loaded.task.cfg.data)


class Target:
    """What a program reads, made of a model.

    Attributes:
        loads: whether our commands run the result.
        library, usage: for the card; ``usage`` has the places {name} and {language}, of the source.
    """

    loads = True
    library = "ctxmt_fairseq"
    usage = """With ctxmt_fairseq: `ctxmt translate {name} TEXT.{language} --docids TEXT.docids`, or

```python
from ctxmt_fairseq import Translator

Translator.load("{name}").translate([["A sentence.", "The next one of the same document."]])
```
"""

    def write(self, model: Trained, folder: Path) -> None:
        """Write the model's own files, or refuse what the program cannot compute; nothing else is done with
        the model afterwards."""
        raise NotImplementedError


class Safetensors(Target):
    """Everything that the commands need, without pickle."""

    def write(self, model: Trained, folder: Path) -> None:
        write_portable(model.state, folder)


def export_model(
    model: Trained, out: PathLike, target: Target, said: Dict[str, Any], readme: str, overwrite: bool = False
) -> None:
    """Make the folder ``out``, or on an error nothing.

    Args:
        said: further entries of ``ctxmt.json``.
        readme: the folder's ``README.md``.
    """
    if not model.state["model"]:
        raise BadInput("was exported already: give the model that it was made of", model.folder)
    with data_folder.new_folder(out, overwrite) as folder:
        described = _copy_vocabulary(model, folder) if target.loads else {}
        target.write(model, folder)
        data_folder.write_description(folder, {**described, **said, "splits": {}})
        (folder / "README.md").write_text(readme, encoding="utf-8")
        if target.loads:
            load_models(folder, device="cpu", trust=model.trust)


def check_layers(
    model: Trained, program: str, activations: Collection[str], without: Collection[str] = ()
) -> None:
    """Refuse by name what a program that has a transformer's layers cannot compute.

    Args:
        activations: its functions. without: options that it lacks, besides those that all lack.
    """
    network = model.loaded.model
    if type(network) not in (TransformerModel, ConcatTransformer):
        ours = "fairseq's transformer and concat_transformer"
        raise BadInput(f"--arch {model.architecture}: {program} has layers for {ours} alone")
    args = network.args
    for name in (*_WITHOUT, *without):
        if getattr(args, name, None):
            raise BadInput(f"{flag(name)} {getattr(args, name)}: {program} has no such layers")
    if args.decoder_output_dim != args.decoder_embed_dim:
        raise BadInput(f"--decoder-output-dim {args.decoder_output_dim}: {program} has no such layers")
    if args.activation_fn not in activations:
        raise BadInput(f"--activation-fn {args.activation_fn}: {program} has no such function")
    for dictionary in (network.encoder.dictionary, network.decoder.dictionary):
        if len({*dictionary.symbols}) < len(dictionary):
            raise BadInput(f"dictionary: {program} wants each symbol once")


def positions_table(positions: Any, length: int) -> Tensor:
    """The embeddings (T, C) of the first positions, in the first segment."""
    words = torch.full((1, length), positions.padding_idx + 2)  # <unk>: no pad, and it ends no sentence
    first = torch.zeros(1, dtype=torch.long)
    needs = getattr(positions, "needs_row_values", False)
    with positions.given(first) if needs else contextlib.nullcontext():
        return positions(words)[0].detach()


def _copy_vocabulary(model: Trained, folder: Path) -> Dict[str, Any]:
    """Copy what turns text into tokens; returns the description without what it says of text."""
    source, languages = model.folder, model.loaded.languages
    dictionaries = [f"dict.{language}.txt" for language in languages]
    models = [find_model(source, language) for language in languages]
    steps = [name for language in languages for name in TextSteps.load(source, language).files]
    for name in {*dictionaries, *(path.name for path in models if path), *steps}:
        shutil.copyfile(source / name, folder / name)
    digests = data_folder.file_digests(folder, dictionaries)
    described = data_folder.description_of(source)
    return {
        **{name: value for name, value in described.items() if name not in _OF_TEXT},
        **dict(zip(("source_lang", "target_lang"), languages, strict=True)),
        **{"joined_dictionary": len({*digests.values()}) == 1, "dictionaries": digests},
    }
