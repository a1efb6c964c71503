"""Models of other programs as folders that every command takes: a checkpoint, dictionaries, subwords.

A program is a family (``FAMILIES``); ``authors_models`` has those behind the papers.
"""

import argparse
import logging
import re
import shutil
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Type

import torch
from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_REGISTRY
from torch import Tensor

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.registry import Registry
from ctxmt_fairseq.checkpoints.allowed import check_parameters
from ctxmt_fairseq.checkpoints.known_symbols import symbols_digest
from ctxmt_fairseq.checkpoints.options import declared_options, mapping
from ctxmt_fairseq.checkpoints.reading import FAST_PATH, naming, peek
from ctxmt_fairseq.corpora.data_folder import new_folder, write_description
from ctxmt_fairseq.corpora.subwords import PathLike, model_names
from ctxmt_fairseq.data.binarised import checked_dictionary, dictionary_digest
from ctxmt_fairseq.data.context_options import flag
from ctxmt_fairseq.generation.loading import CHECKPOINT, load_models
from ctxmt_fairseq.text.symbols import MASK, SEPARATOR

logger = logging.getLogger(__name__)
Parameters = Dict[str, Tensor]
Row = Tuple[str, Optional[int]]  # a symbol, and its row in the program's embeddings; None: they have none
_UNLIKELY = -30.0  # the logit of symbols that a program does not have
_SIDES = ("source", "target")


class Family:
    """The models of a program that was made of fairseq, and what becomes of them.

    Attributes:
        description: for ``--help``.
        archs: a pattern of the names of its architectures.
        arch, task: ours.
        names: patterns of parameters' names, and what takes their place; "": it is left out.
        needed: options that have no other value in what can be imported.
    """

    description: str
    archs: str
    arch: str
    task: str
    names: Sequence[Tuple[str, str]] = ()
    needed: Mapping[str, Any] = {}

    def symbols(self, symbols: List[str]) -> List[Row]:
        """Our symbols in the order of theirs; <brk> is between their sentences."""
        return [(SEPARATOR if symbol == "<brk>" else symbol, at) for at, symbol in enumerate(symbols)]

    def options(self, options: Dict[str, Any], parameters: Parameters) -> Dict[str, Any]:
        """Options of our architecture, besides those that fairseq has."""
        return {}

    def context(self, options: Dict[str, Any]) -> Dict[str, Any]:
        """Options of the context."""
        raise NotImplementedError

    def parameters(self, options: Dict[str, Any], parameters: Parameters) -> Parameters:
        """Change parameters that have their new names already."""
        return parameters


FAMILIES: Registry[Type[Family]] = Registry("a program")


def import_model(
    checkpoint: Path, out: PathLike, dictionaries: Optional[PathLike] = None, overwrite: bool = False
) -> str:
    """Make the folder ``out``, or on an error nothing; returns what was made of what.

    Args:
        checkpoint: what a program of ``FAMILIES`` has saved. Nothing in it is run or opened.
        dictionaries: the folder of its data, with ``dict.LANG.txt``, and SentencePiece models if it has any;
            default: that of the checkpoint.
    """
    state = peek(checkpoint, mmap=False)
    check_parameters(state.get("model") if isinstance(state, dict) else None, checkpoint)
    with naming(checkpoint):  # options and parameters may be anything
        options = _options(state)
        try:
            family, languages = _family(options), _languages(options)
        except BadInput as error:
            raise BadInput(str(error), checkpoint) from None
        symbols = _symbols(family, languages, Path(dictionaries or checkpoint.parent))
        kept = {name: value for name, value in state["model"].items() if not FAST_PATH.fullmatch(name)}
        parameters = _with_rows(family.parameters(options, _renamed(family, kept)), symbols)
        saved = _checkpoint(family, options, parameters, symbols, str(out))
    with new_folder(out, overwrite) as made:
        for rows, language in zip(symbols.values(), languages, strict=True):
            lines = (f"{symbol} 1\n" for symbol, _ in rows[4:])  # fairseq's own four are in no file
            (made / f"dict.{language}.txt").write_text("".join(lines), encoding="utf-8")
            for name in model_names(language):
                model = Path(dictionaries or checkpoint.parent) / name
                if model.is_file():
                    shutil.copyfile(model, made / name)
        digests = {name: dictionary_digest(made / name) for name in map("dict.{}.txt".format, languages)}
        named = dict(zip(("source_lang", "target_lang"), languages, strict=True))
        joined = len(set(digests.values())) == 1
        described = {"joined_dictionary": joined, "dictionaries": digests, "text_steps": [], "splits": {}}
        write_description(made, {**named, **described})
        torch.save(saved, made / CHECKPOINT)
        try:
            load_models(made)
        except BadInput as error:  # options and parameters do not fit together
            raise BadInput(str(error).replace(str(made / CHECKPOINT), str(checkpoint))) from None
    return f"{options['arch']} of {family.description} -> {family.arch}, --task {family.task}"


def _symbols(family: Family, languages: Tuple[str, str], folder: Path) -> Dict[str, List[Row]]:
    """Our symbols of both sides."""
    found = {}
    for side, language in zip(_SIDES, languages, strict=True):
        rows = family.symbols(list(checked_dictionary(folder / f"dict.{language}.txt").symbols))
        known = dict(rows)
        found[side] = rows + [(symbol, None) for symbol in (SEPARATOR, MASK) if symbol not in known]
    return found


def _options(state: Dict[str, Any]) -> Dict[str, Any]:
    """The command line of a training: fairseq has saved it as a whole, or in sections."""
    if state.get("args") is not None:
        return mapping(state["args"], "args")
    cfg = mapping(state.get("cfg"), "cfg")
    sections = [mapping(cfg.get(name) or {}, name) for name in ("criterion", "task", "model")]
    # The task has found out the languages, of which the model's section may know nothing.
    return {name: value for section in sections for name, value in section.items() if value is not None}


def _family(options: Dict[str, Any]) -> Family:
    arch = str(options.get("arch"))
    found = [kind() for kind in FAMILIES.values() if re.fullmatch(kind.archs, arch)]
    if not found:
        known = ", ".join(kind.description for kind in FAMILIES.values())
        raise BadInput(f"--arch {arch}: expected an architecture of {known}")
    for name, value in found[0].needed.items():
        if options.get(name, value) != value:
            raise BadInput(f"{flag(name)} {options[name]}: this cannot be imported")
    return found[0]


def _languages(options: Dict[str, Any]) -> Tuple[str, str]:
    source, target = (str(options.get(f"{side}_lang", "")) for side in _SIDES)
    if not all(re.fullmatch(r"[A-Za-z0-9_-]+", language) for language in (source, target)):
        raise BadInput(f"expected the names of two languages, found {source!r} and {target!r}")
    return source, target


def _renamed(family: Family, parameters: Parameters) -> Parameters:
    renamed = {}
    for name, value in parameters.items():
        for pattern, replacement in family.names:
            name = re.sub(pattern, replacement, name)
        if name:
            renamed[name] = value
    return renamed


def _with_rows(parameters: Parameters, symbols: Dict[str, List[Row]]) -> Parameters:
    """Put the rows of embeddings into the order of our symbols, and add those of symbols that are new."""
    made = dict(parameters)
    new = _unlikely_row(parameters)
    for name, table in parameters.items():
        if name.endswith(("embed_tokens.weight", "output_projection.weight")):
            rows = symbols["source" if name.startswith("encoder.") else "target"]
            known = [row for _, row in rows if row is not None]
            if len(known) != len(table):
                raise BadInput(f"{name} has {len(table)} rows, but the dictionary {len(known)} symbols")
            added = new.to(table).expand(len(rows) - len(known), -1)
            made[name] = torch.cat([table[known], added])
    return made


def _unlikely_row(parameters: Parameters) -> Tensor:
    """A row (D,) whose product with what a layer norm (g, b) gives, g n + b, is ``_UNLIKELY``: c / g, because
    n sums up to 0. Zeros where this would need large numbers; these cost about 0.001 nats a token."""
    layers = [re.fullmatch(r"decoder\.layers\.(\d+)\.final_layer_norm\.weight", name) for name in parameters]
    last = max(int(found[1]) for found in layers if found)
    norm = "decoder.layer_norm"
    if f"{norm}.weight" not in parameters:
        norm = f"decoder.layers.{last}.final_layer_norm"
    gain, bias = (parameters[f"{norm}.{part}"].double() for part in ("weight", "bias"))
    row = _UNLIKELY / (bias / gain).sum() / gain
    if not row.isfinite().all() or row.abs().max() > 1e4:
        logger.warning("symbols that the program lacks get an embedding of zeros")
        return torch.zeros_like(row)
    return row


def _model_options(family: Family, options: Dict[str, Any], parameters: Parameters) -> argparse.Namespace:
    """Options of our architecture: the program's where both have them."""
    declared = declared_options(ARCH_MODEL_REGISTRY[family.arch])
    given = {name: options[name] for name in declared if options.get(name) is not None}
    model = argparse.Namespace(**{**given, **family.options(options, parameters)})
    ARCH_CONFIG_REGISTRY[family.arch](model)
    model.arch = model._name = family.arch
    return model


def _checkpoint(
    family: Family,
    options: Dict[str, Any],
    parameters: Parameters,
    symbols: Dict[str, List[Row]],
    data: str,
) -> Dict[str, Any]:
    """What fairseq-train saves, without an optimizer's state."""
    languages = {f"{side}_lang": options[f"{side}_lang"] for side in _SIDES}
    digests = {side: symbols_digest([symbol for symbol, _ in rows]) for side, rows in symbols.items()}
    smoothing = options.get("label_smoothing", 0.0)
    return {
        "args": None,
        "cfg": {
            "model": _model_options(family, options, parameters),
            "task": {"_name": family.task, "data": data, **languages},
            "criterion": {"_name": "label_smoothed_cross_entropy", "label_smoothing": smoothing},
        },
        "model": parameters,
        "task_state": {"context": family.context(options), "dictionaries": digests},
        "optimizer_history": [{"num_updates": 0, "lr_scheduler_state": {}}],
        "extra_state": {},
    }
