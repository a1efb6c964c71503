"""Finds the language that was asked for among the codes of languages in a file."""

import re
from typing import Iterable, List, Optional

_CODE = re.compile(r"(?!any\b)[A-Za-z]{2,3}(?:[-_]\w+)*")


def code_of(text: Optional[str]) -> Optional[str]:
    """A text that is a code of a language ("de", "pt-BR"); None for "german", "any" and the like."""
    return text if text and _CODE.fullmatch(text) else None


def matching(codes: Iterable[str], wanted: str) -> List[str]:
    """Those of a file's codes that are the wanted language.

    The very code counts (pt-PT), else the language without its region (pt). A language that is asked for
    without its region may be of any.
    """
    folded = {code: code.lower().replace("_", "-") for code in codes}
    name = wanted.lower().replace("_", "-")
    language = name.partition("-")[0]
    for form in (name, language):
        exact = [code for code, text in folded.items() if text == form]
        if exact:
            return exact
    return [code for code, text in folded.items() if name == text.partition("-")[0]]
