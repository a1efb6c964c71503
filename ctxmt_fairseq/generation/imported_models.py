"""Models of other programs as folders that every command takes: a checkpoint, dictionaries, subwords.

A program is a family (``FAMILIES``); ``authors_models`` has those behind the papers.
"""

import argparse
import logging
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Type

import torch
from fairseq.data import Dictionary
from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_REGISTRY
from torch import Tensor

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.registry import Registry
from ctxmt_fairseq.checkpoints.allowed import check_parameters
from ctxmt_fairseq.checkpoints.known_symbols import symbols_digest
from ctxmt_fairseq.checkpoints.options import declared_options, mapping
from ctxmt_fairseq.checkpoints.portable import CHECKPOINT
from ctxmt_fairseq.checkpoints.reading import FAST_PATH, naming, peek
from ctxmt_fairseq.corpora.data_folder import file_digests, new_folder, write_description
from ctxmt_fairseq.corpora.subwords import PathLike, model_names
from ctxmt_fairseq.corpora.vocabulary import find_models
from ctxmt_fairseq.data.binarised import checked_dictionary
from ctxmt_fairseq.data.context_options import flag
from ctxmt_fairseq.generation.loading import load_models
from ctxmt_fairseq.models.initialisation import SIZE_OPTIONS
from ctxmt_fairseq.text.symbols import MASK, SEPARATOR
from ctxmt_fairseq.text.text_lines import read_bytes

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

    def symbols(self, symbols: List[str], rows: int) -> List[Row]:
        """Our symbols in the order of theirs; <brk> is between their sentences.

        Args:
            rows: of the embeddings.
        """
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


@dataclass
class Given:
    """What a program has saved, read as data.

    Attributes:
        path: of the model, for messages.
        options: those of its training or of the model, with ``arch``, ``source_lang`` and ``target_lang``.
        parameters: by the program's names.
        symbols: of the "source" and "target" embeddings' rows.
        files: contents of subword models and the like, by their names in a data folder.
        described: what the folder's description says of them.
    """

    path: Path
    options: Dict[str, Any]
    parameters: Parameters
    symbols: Dict[str, List[str]]
    files: Dict[str, bytes] = field(default_factory=dict)
    described: Dict[str, Any] = field(default_factory=dict)


def read_checkpoint(path: Path, dictionaries: Optional[PathLike] = None) -> Given:
    """Read what a program that was made of fairseq has saved. Nothing in it is run or opened.

    Args:
        dictionaries: the folder of its data, with ``dict.LANG.txt``, and SentencePiece models if it has any;
            default: that of the checkpoint.
    """
    state = peek(path, mmap=False)
    check_parameters(state.get("model") if isinstance(state, dict) else None, path)
    with naming(path):  # options may be anything
        options = _options(state)
        _family(options, path)  # nothing else of another program is worth a message
        languages = _languages(options, path)
        kept = {name: value for name, value in state["model"].items() if not FAST_PATH.fullmatch(name)}
        folder = Path(dictionaries or path.parent)
        symbols = {
            side: list(checked_dictionary(folder / f"dict.{language}.txt").symbols)
            for side, language in zip(_SIDES, languages, strict=True)
        }
        names = {name for language in languages for name in model_names(language)}
        files = {name: read_bytes(folder / name) for name in names if (folder / name).is_file()}
    return Given(path, options, kept, symbols, files)


def import_model(given: Given, out: PathLike, overwrite: bool = False) -> str:
    """Make the folder ``out``, or on an error nothing; returns what was made of what, and of which size."""
    options = given.options
    with naming(given.path):  # options and parameters may be anything
        family, languages = _family(options, given.path), _languages(options, given.path)
        parameters = family.parameters(options, _renamed(family, given.parameters))
        counts = [len(parameters[f"{side}.embed_tokens.weight"]) for side in ("encoder", "decoder")]
        symbols = {
            side: _rows(family.symbols(each, count))
            for (side, each), count in zip(given.symbols.items(), counts, strict=True)
        }
        parameters = _with_rows(parameters, symbols)
        saved = _checkpoint(family, options, parameters, symbols, str(out))
    with new_folder(out, overwrite) as made:
        for rows, language in zip(symbols.values(), languages, strict=True):
            lines = (f"{symbol} 1\n" for symbol, _ in rows[4:])  # fairseq's own four are in no file
            (made / f"dict.{language}.txt").write_text("".join(lines), encoding="utf-8")
        for name, content in given.files.items():
            (made / name).write_bytes(content)
        dictionaries = file_digests(made, map("dict.{}.txt".format, languages))
        named = dict(zip(("source_lang", "target_lang"), languages, strict=True))
        joined = len(set(dictionaries.values())) == 1
        described = {
            "joined_dictionary": joined,
            "dictionaries": dictionaries,
            "cut_by": file_digests(made, given.files),
            "text_steps": [],
            "splits": {},
        }
        models = dict(zip(languages, find_models(made, list(languages)), strict=True))
        write_description(made, {**named, **described, "sentencepiece": models, **given.described})
        torch.save(saved, made / CHECKPOINT)
        try:
            load_models(made, device="cpu")
        except BadInput as error:  # options and parameters do not fit together
            raise BadInput(str(error).replace(str(made / CHECKPOINT), str(given.path))) from None
    made_of = f"{options['arch']} of {family.description} -> {family.arch}, --task {family.task}"
    return f"{made_of}\nsize: {in_flags(vars(saved['cfg']['model']))}"


def in_flags(options: Mapping[str, Any], names: Iterable[str] = SIZE_OPTIONS) -> str:
    """Some options of a model as a training is given them, by default those of its size."""
    words = []
    for name in names:
        value = options.get(name)
        if value not in (None, False):
            words.append(flag(name) if value is True else f"{flag(name)} {value}")
    return " ".join(words)


def _rows(symbols: List[Row]) -> List[Row]:
    """The rows of a dictionary: fairseq's own symbols are the first, and those that are missing are added."""
    known = dict(symbols)
    first = [(symbol, known.get(symbol)) for symbol in Dictionary().symbols]
    rest = [row for row in symbols if row[0] not in dict(first)]
    return first + rest + [(symbol, None) for symbol in (SEPARATOR, MASK) if symbol not in known]


def _options(state: Dict[str, Any]) -> Dict[str, Any]:
    """The command line of a training: fairseq has saved it as a whole, or in sections."""
    if state.get("args") is not None:
        return mapping(state["args"], "args")
    cfg = mapping(state.get("cfg"), "cfg")
    sections = [mapping(cfg.get(name) or {}, name) for name in ("criterion", "task", "model")]
    # The task has found out the languages, of which the model's section may know nothing.
    return {name: value for section in sections for name, value in section.items() if value is not None}


def _family(options: Dict[str, Any], path: Path) -> Family:
    arch = str(options.get("arch"))
    found = [kind() for kind in FAMILIES.values() if re.fullmatch(kind.archs, arch)]
    if not found:
        known = ", ".join(kind.description for kind in FAMILIES.values())
        raise BadInput(f"--arch {arch}: expected an architecture of {known}", path)
    for name, value in found[0].needed.items():
        if options.get(name, value) != value:
            raise BadInput(f"{flag(name)} {options[name]}: this cannot be imported", path)
    return found[0]


def _languages(options: Dict[str, Any], path: Path) -> Tuple[str, str]:
    source, target = (str(options.get(f"{side}_lang", "")) for side in _SIDES)
    if not all(re.fullmatch(r"[A-Za-z0-9_-]+", language) for language in (source, target)):
        raise BadInput(f"expected the names of two languages, found {source!r} and {target!r}", path)
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
    made, tables = dict(parameters), {}
    biased = "decoder.output_projection.bias" in parameters
    joined = symbols["source"] == symbols["target"]
    for name, table in parameters.items():
        if name.endswith(("embed_tokens.weight", "output_projection.weight", "output_projection.bias")):
            side = "source" if name.startswith("encoder.") else "target"
            known = [row for _, row in symbols[side] if row is not None]
            if len(known) != len(table):
                raise BadInput(f"{name} has {len(table)} rows, but the dictionary {len(known)} symbols")
            if table.dim() == 1:
                new = torch.tensor(_UNLIKELY)
            else:
                new = torch.zeros(table.size(1)) if biased else _unlikely_row(parameters)
            rows = torch.tensor([len(table) if row is None else row for _, row in symbols[side]])
            shared = id(table), joined or side  # one tensor stays one
            if shared not in tables:
                tables[shared] = torch.cat([table, new.to(table)[None]])[rows]
            made[name] = tables[shared]
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


def _checkpoint(
    family: Family, options: Dict[str, Any], parameters: Parameters, symbols: Dict[str, List[Row]], data: str
) -> Dict[str, Any]:
    """What fairseq-train saves, without an optimizer's state; options of our architecture are the program's
    where both have them."""
    declared = declared_options(ARCH_MODEL_REGISTRY[family.arch])
    given = {name: options[name] for name in declared if options.get(name) is not None}
    model = argparse.Namespace(**{**given, **family.options(options, parameters)})
    ARCH_CONFIG_REGISTRY[family.arch](model)
    model.arch = model._name = family.arch
    languages = {f"{side}_lang": options[f"{side}_lang"] for side in _SIDES}
    digests = {side: symbols_digest([symbol for symbol, _ in rows]) for side, rows in symbols.items()}
    added = {side: sum(row is None for _, row in rows[4:]) for side, rows in symbols.items()}
    smoothing = options.get("label_smoothing", 0.0)
    return {
        "args": None,
        "cfg": {
            "model": model,
            "task": {"_name": family.task, "data": data, **languages},
            "criterion": {"_name": "label_smoothed_cross_entropy", "label_smoothing": smoothing},
        },
        "model": parameters,
        "task_state": {"context": family.context(options), "dictionaries": digests, "added_symbols": added},
        "optimizer_history": [{"num_updates": 0, "lr_scheduler_state": {}}],
        "extra_state": {},
    }
