"""How often each form of a word occurs within sentences, by which Moses truecases (``text_steps``).

The file has Moses' format: each line has the forms of one word, the most frequent first, ``the (95/100) The
(4) THE (1)``.
"""

import re
from collections import Counter
from typing import Any, Dict, Iterable, List

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines

_FORM = re.compile(r"(?<!\S)(\S+) \((\d{1,18})(?:/\d{1,18})?\)(?: |$)")
Forms = Dict[str, Counter]  # word in lower case -> form -> count


def truecaser(forms: Forms) -> Any:
    """sacremoses' ``MosesTruecaser`` with these forms."""
    from sacremoses import MosesTruecaser

    made = MosesTruecaser()
    best = {word: counts.most_common(1)[0][0] for word, counts in forms.items()}
    known = Counter(form for word, counts in forms.items() for form in counts if form != best[word])
    made.model = {"best": best, "known": known, "casing": forms}
    return made


def count_forms(sentences: Iterable[str]) -> Forms:
    """Count the forms of words within tokenised sentences, without the first word of each, as Moses does."""
    from sacremoses import MosesTruecaser

    weights = MosesTruecaser().learn_truecase_weights
    forms: Forms = {}
    for sentence in sentences:
        for word, form, weight in weights(sentence.split()):
            forms.setdefault(word, Counter())[form] += weight
    return forms


def forms_text(forms: Forms) -> str:
    """Write the file of counts; the same counts give the same text."""
    lines: List[str] = []
    for word in sorted(forms):
        (form, count), *others = forms[word].most_common()  # equal ones in the order of their first places
        first = f"{form} ({count}/{forms[word].total()})"
        lines.append(" ".join([first, *(f"{form} ({count})" for form, count in others)]))
    return "".join(f"{line}\n" for line in lines)


def read_forms(path: PathLike) -> Forms:
    forms: Forms = {}
    for number, line in enumerate(iterate_lines(path), 1):
        found: List[Any] = _FORM.findall(line)
        if not found or sum(len(match.group()) for match in _FORM.finditer(line)) != len(line):
            raise BadInput(f"expected WORD (COUNT/ALL) OTHER (COUNT) .., found {line[:60]!r}", path, number)
        for form, count in found:
            forms.setdefault(form.lower(), Counter())[form] += int(count)
    if not forms:
        raise BadInput("has no counts of words for truecasing", path)
    return forms
