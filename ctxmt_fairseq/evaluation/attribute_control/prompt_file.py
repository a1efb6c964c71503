"""Prompts of a formality evaluation, from a file."""

from typing import Dict, List

from ctxmt_fairseq.data.documents import PathLike, iterate_lines
from ctxmt_fairseq.data.metadata_text import single_spaces
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.attribute_control.formality import FORMALITIES


def read_prompts(path: PathLike) -> Dict[str, List[str]]:
    """Formality -> prompts, in their order and each once.

    A line is ``formal TAB prompt``, ``informal TAB prompt``, or a prompt alone, which is tried for both (as
    MTCue's evaluation tried every context for either attribute, appendix D). Blank lines are passed over.

    Raises:
        BadInput: another word before a tab, or a formality without prompts.
    """
    prompts: Dict[str, List[str]] = {formality: [] for formality in FORMALITIES}
    for number, line in enumerate(iterate_lines(path), 1):
        parts = [single_spaces(part) for part in line.split("\t", 1)]
        wanted, text = parts if len(parts) == 2 else ("", parts[0])
        if not wanted and not text:
            continue
        if wanted and wanted not in FORMALITIES or not text:
            known = " or ".join(FORMALITIES)
            raise BadInput(
                f"expected a prompt, or {known}, a tab and a prompt, found {line[:60]!r}", path, number
            )
        for formality in [wanted] if wanted else FORMALITIES:
            if text not in prompts[formality]:
                prompts[formality].append(text)
    for formality, texts in prompts.items():
        if not texts:
            raise BadInput(f"expected prompts for {formality} translation, found none", path)
    return prompts
