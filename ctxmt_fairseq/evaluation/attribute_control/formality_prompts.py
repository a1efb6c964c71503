"""Contexts that ask for a formality: MTCue's (appendix D), and those of a file."""

from typing import Dict, List, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.evaluation.attribute_control.formal_references import FORMAL, FORMALITIES, INFORMAL
from ctxmt_fairseq.text.metadata_text import single_spaces
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines

# The paper's first list of genres has a comma at its end.
PROMPTS: Dict[str, Tuple[str, ...]] = {
    FORMAL: (
        "Formal conversation",
        "Hannah Larsen, meet Sonia Jimenez. One of my favourite nurses.",
        "In case anything goes down we need all the manpower alert, not comfortably numb.",
        "Biography, Drama",
        "A musician travels a great distance to return an instrument to his elderly teacher",
    ),
    INFORMAL: (
        "Informal chit-chat",
        "I'm gay for Jamie.",
        "What else can a pathetic loser do?",
        "Drama, Family, Romance",
        "Animation, Adventure, Comedy",
    ),
}


def read_prompts(path: PathLike) -> Dict[str, List[str]]:
    """Read the prompts for each formality, in their order and each once.

    A line is ``formal TAB prompt``, ``informal TAB prompt``, or a prompt alone, which is tried for both, as
    MTCue's evaluation tried every context for either attribute (appendix D). Blank lines are skipped.
    """
    prompts: Dict[str, List[str]] = {formality: [] for formality in FORMALITIES}
    for number, line in enumerate(iterate_lines(path), 1):
        parts = [single_spaces(part) for part in line.split("\t", 1)]
        wanted, text = parts if len(parts) == 2 else ("", parts[0])
        if not wanted and not text:
            continue
        if wanted and wanted not in FORMALITIES or not text:
            either = f"a prompt, or {' or '.join(FORMALITIES)}, a tab and a prompt"
            raise BadInput(f"write {either}; found {line[:60]!r}", path, number)
        for formality in [wanted] if wanted else FORMALITIES:
            if text not in prompts[formality]:
                prompts[formality].append(text)
    for formality, texts in prompts.items():
        if not texts:
            raise BadInput(f"expected prompts for {formality} translation, found none", path)
    return prompts
