"""The tables that ``ctxmt analyse consistency`` prints and writes."""

from collections import Counter
from typing import Dict, Sequence

from ctxmt_fairseq.analysis.consistency import MEASURES, Consistency, Translated
from ctxmt_fairseq.base.tables import aligned_table, csv_text

_SHOWN = 10  # terms
_WIDEST = 80  # characters for a term's translations in a line


def forms(translated: Translated) -> Dict[str, int]:
    """A term's translations, the most frequent first: its usual spelling -> sentences with any spelling."""
    spellings: Dict[str, Counter] = {}
    for words in translated.words:
        for word in words:
            spellings.setdefault(translated.key(word), Counter())[word] += 1
    sizes = Counter({key: mask.bit_count() for key, mask in translated.masks().items()})
    return {spellings[key].most_common(1)[0][0]: size for key, size in sizes.most_common()}


def systems_table(found: Consistency) -> str:
    """A table with a row for each system: the measures in %."""
    rows = [["in %", "sentences", "unaligned", *(name.replace("_", " ") for name in MEASURES)]]
    for record in found.records():
        unaligned = 100 * record["unaligned"] / (record["unaligned"] + record["sentences"])
        measures = [f"{record[measure]:.2f}" for measure in MEASURES]
        rows.append([record["system"], f"{record['sentences']:,}", f"{unaligned:.1f}", *measures])
    return aligned_table(rows)


def least_alike(found: Consistency, ids: Sequence[str]) -> str:
    """The terms that most pairs of sentences, over all systems, do not translate alike, with every system's
    translations; ``ids`` are the documents'."""
    missed = [
        sum(each.counts.pairs - each.counts.pairs_alike for each in row)
        for row in zip(*found.translated, strict=True)
    ]
    width = max(map(len, found.names))
    lines = []
    for place in sorted(range(len(missed)), key=lambda place: -missed[place])[:_SHOWN]:
        lines.append(f"{found.terms[place].text} ({ids[found.terms[place].document]})")
        for name, system in zip(found.names, found.translated, strict=True):
            translations = ", ".join(f"{word} {size}" for word, size in forms(system[place]).items())
            cut = len(translations) > _WIDEST
            lines.append(f"  {name:{width}}  {translations[: _WIDEST - 2 * cut]}{'..' * cut}")
    return "\n".join(lines)


def terms_tsv(found: Consistency, ids: Sequence[str]) -> str:
    """A TSV table with a row for each term and system; shares are from 0 to 1."""
    rows = [
        {"document": ids[term.document], "term": term.text, "system": name, "sentences": len(each.words),
         "unaligned": each.unaligned, "alike": round(each.counts.alike, 6),
         "main": round(each.counts.main, 6),
         "translations": " ".join(f"{word}:{size}" for word, size in forms(each).items())}
        for term, row in zip(found.terms, zip(*found.translated, strict=True), strict=True)
        for name, each in zip(found.names, row, strict=True)
    ]  # fmt: skip
    return csv_text(rows, "excel-tab")


def left_out(found: Consistency) -> str:
    """A line on the terms that are left out; empty if none are."""
    if not found.left_out:
        return ""
    systems = ", ".join(f"{name} {count:,}" for name, count in found.aligned_too_little.items())
    return f"left out: {found.left_out:,} terms with a translation in fewer than two sentences ({systems})"
