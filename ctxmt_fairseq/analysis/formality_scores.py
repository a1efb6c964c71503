"""How formal a model's translations are with each context, as ``ctxmt control formality`` measured it."""

from typing import Dict

from ctxmt_fairseq.evaluation.attribute_control.formal_references import FORMAL
from ctxmt_fairseq.text.json_files import Place, get, load_json
from ctxmt_fairseq.text.metadata_text import single_spaces
from ctxmt_fairseq.text.text_lines import PathLike

SCORE = "formal translations (%)"


def read_formality_scores(path: PathLike) -> Dict[str, float]:
    """Prompt -> formal translations among those that are either formal or informal, in percent, from what
    ``ctxmt control formality --json`` wrote. Prompts without such translations are left out."""
    place = Place(path)
    scores: Dict[str, float] = {}
    for run in get(place, load_json(path), "runs", list):
        counts = [get(place, run, key, int) for key in ("right", "wrong")]
        wanted = get(place, run, "wanted", str)
        if run.get("prompt") is not None and sum(counts):
            formal = counts[0] if wanted == FORMAL else counts[1]
            scores[single_spaces(get(place, run, "prompt", str))] = 100 * formal / sum(counts)
    if not scores:
        raise place.error("expected prompts whose translations are formal or informal, found none")
    return scores
