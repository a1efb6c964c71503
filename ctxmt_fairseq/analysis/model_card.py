"""The card of a model: what it is, what it reads, what it was made of, and what was measured of it."""

import contextlib
import re
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple, Type

import yaml
from fairseq.models import ARCH_MODEL_REGISTRY
from fairseq.models.transformer import TransformerModel

from ctxmt_fairseq.analysis.run_values import read_values
from ctxmt_fairseq.analysis.value_tables import USUAL
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.provenance import commit, versions
from ctxmt_fairseq.checkpoints.averaging import run_folder
from ctxmt_fairseq.checkpoints.options import declared_options, mapping
from ctxmt_fairseq.checkpoints.reading import naming
from ctxmt_fairseq.corpora.data_folder import DESCRIPTION, description_of
from ctxmt_fairseq.evaluation.runs.results_file import find_results
from ctxmt_fairseq.generation.exported_models import Target, Trained
from ctxmt_fairseq.generation.imported_models import in_flags
from ctxmt_fairseq.generation.loading import model_file
from ctxmt_fairseq.text.json_files import Place, get, load_json
from ctxmt_fairseq.text.text_lines import file_digest, read_text

# What stays with an exported model of its training: elsewhere nothing of it is left.
KEPT = ("parameters", "updates", "data", "command", "scores")
_USER_DIR = re.compile(r"--user-dir (\S*/ctxmt_fairseq|'[^']*/ctxmt_fairseq')(?!\S)")
# Of a score, what a card says where it is not usual, by the names of results.
_HOW = {
    "window": "window", "decoding": "decoding", "n": "length penalty",
    "target_context_from": "target context",
}  # fmt: skip


def model_card(path: str, model: Trained, license: Optional[str] = None) -> Dict[str, Any]:
    """Collect what is known of a model, for JSON.

    Args:
        path: of the model. Its results and the command of its training are looked for in the run's folder.
        license: default: what the model's folder says.
    """
    task, described, run = model.loaded.task, description_of(model.folder), run_folder(Path(path))
    kinds = TransformerModel, ARCH_MODEL_REGISTRY[model.options["_name"]]
    stock, kind = map(declared_options, kinds)
    own = in_flags(model.options, sorted(kind.keys() - stock.keys()))
    # A model that reads vectors of its sentences does so with all defaults, too.
    defaults = {**task.options_class.travelling(), "metadata_fields": None, "current_vector": None}
    criterion = mapping(model.state["cfg"]["criterion"], "criterion")
    history = model.state.get("optimizer_history") or [{}]
    card = {
        "name": run.absolute().name,
        "languages": list(model.loaded.languages),
        "license": license or described.get("license"),
        "task": task.cfg._name,
        "architecture": model.architecture,
        "context": {name: value for name, value in task.options.items() if value != defaults[name]},
        "parameters": sum(each.numel() for each in model.loaded.models[0].parameters()),
        "symbols": [len(task.source_dictionary), len(task.target_dictionary)],
        "size": in_flags(model.options),
        "options": f"{own} --criterion {criterion['_name']}".strip(),
        "updates": history[-1].get("num_updates", 0),
        "data": {
            name: {key: split[key] for key in ("sentences", "documents") if key in split}
            for name, split in described.get("splits", {}).items()
        },
        "command": _command(run),
        "scores": _scores(Path(path)),
        "versions": {**versions(), "commit": commit()},
    }
    kept = {name: value for name, value in described.get("card", {}).items() if name in KEPT}
    card.update((name, value) for name, value in kept.items() if not card[name])
    with naming(model.folder / DESCRIPTION):  # what is kept there may be anything
        card_markdown(card)
    return card


def card_text(card: Dict[str, Any]) -> str:
    """The card, a line for each thing known."""
    return "\n".join(f"{name:<13} {value}" for name, value in _rows(card))


def card_markdown(card: Dict[str, Any], target: Type[Target] = Target, alone: bool = True) -> str:
    """The card as a ``README.md``, with the head that the hub reads: of a folder for ``target``, or of a
    checkpoint, which does not run ``alone``."""
    head = {
        "language": [re.split("[-_]", language)[0] for language in card["languages"]],
        **({"license": card["license"]} if card["license"] else {}),
        **{"library_name": target.library, "pipeline_tag": "translation"},
        "tags": ["translation", "document-level-translation", card["architecture"]],
    }
    lines = [f"- **{name}**: {value}" for name, value in _rows(card)]
    command = ["## Training", "```bash", card["command"], "```"] if card["command"] else []
    usage = target.usage.format(language=card["languages"][0], name=card["name"])
    use = ["## Use", usage] if alone else []
    top = ["---", yaml.safe_dump(head, sort_keys=False, allow_unicode=True) + "---", f"# {card['name']}"]
    return "\n".join([*top, *lines, "", *command, *use])


def _rows(card: Dict[str, Any]) -> Iterator[Tuple[str, str]]:
    yield "languages", " to ".join(card["languages"])
    yield "license", card["license"] or "not said"
    yield "architecture", f"{card['architecture']}, --task {card['task']}"
    yield "context", _in_words(card["context"]) or "none: single sentences"
    yield "parameters", f"{card['parameters']:,}; symbols: {' and '.join(map(str, card['symbols']))}"
    yield "size", card["size"]
    yield "options", card["options"]
    yield "updates", str(card["updates"])
    for name, split in card["data"].items():
        yield f"{name} data", _in_words(split)
    for one in card["scores"]:
        said = {name: value for name, value in one["at"].items() if value != USUAL.get(name)}
        how = _in_words({_HOW[name]: value for name, value in said.items() if name in _HOW})
        yield one["measure"], f"{one['value']:.4g}" + (f" ({how})" if how else "")
    yield "card made with", _in_words({name: value for name, value in card["versions"].items() if value})


def _in_words(values: Dict[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in values.items())


def _command(run: Path) -> Optional[str]:
    """What ``ctxmt train`` has started, wherever this package is."""
    file = run / "train.sh"
    if not file.is_file():
        return None
    command = read_text(file).decode("utf-8", "replace").partition("\n")[2].strip()
    return _USER_DIR.sub('--user-dir "$(ctxmt user-dir)"', command)


def _scores(path: Path) -> List[Dict[str, Any]]:
    """What ``ctxmt evaluate`` has measured of this very model with the context of the training."""
    own = path if path.is_dir() else path.parent
    for file in filter(Path.is_file, map(find_results, (run_folder(path), own))):
        with contextlib.suppress(BadInput):  # an older one's: a card does without
            if get(Place(file), load_json(file), "checkpoints", list) == [file_digest(model_file(path))]:
                return [
                    {"measure": one.measure, "value": one.value, "at": one.at}
                    for one in read_values([str(file.parent)])
                    if one.at.get("context") == "real"  # what a search measured has none
                ]
    return []
