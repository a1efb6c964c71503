"""The contexts in which a text is probed, as options of the models."""

from typing import Dict, Sequence, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.data.context_options import SELECTIONS, SIZES
from ctxmt_fairseq.generation.forced_scoring import TranslationScorer
from ctxmt_fairseq.generation.loading import LoadedModels

DOCUMENT, ABSENT = "document", "absent"  # what the others are compared with; no context


Conditions = Dict[str, LoadedModels]  # the name of a context -> the models with the options for it


def selected(
    loaded: LoadedModels, names: Sequence[str], scorer: TranslationScorer
) -> Tuple[Conditions, Dict[str, str]]:
    """The context selections with these names, ``document`` first, and why some of them are impossible."""
    for name in names:
        if name not in SELECTIONS:
            raise BadInput(f"--contexts {name}: expected names from {', '.join(SELECTIONS)}")
    found: Conditions = {}
    left_out: Dict[str, str] = {}
    for name in dict.fromkeys([DOCUMENT, *names]):
        try:
            models = loaded.with_options(context_selection=name)
            scorer.dataset(models)
        except BadInput as error:
            if name == DOCUMENT:  # the text's fault, not the selection's
                raise
            left_out[name] = str(error)
        else:
            found[name] = models
    return found, left_out


def sized(loaded: LoadedModels, sizes: Sequence[int]) -> Conditions:
    """The document's own context, limited to the nearest sentences, for each of these sizes."""
    own = {name: loaded.task.options[name] for name in SIZES}
    conditions = {}
    for size in sizes:
        if size > max(own.values()):
            most = f"at most {max(own.values())}, the models' context"
            raise BadInput(f"--sizes {size}: expected {most}; --source-context and --target-context widen it")
        options = {name: min(size, value) for name, value in own.items()}
        conditions[f"size {size}"] = loaded.with_options(context_selection=DOCUMENT, **options)
    return conditions
