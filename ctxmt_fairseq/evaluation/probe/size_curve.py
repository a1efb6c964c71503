"""CXMI and translation scores against the size of the context, as a picture and its numbers."""

import io
import textwrap
from typing import Any, Sequence

from ctxmt_fairseq.evaluation.probe.scores import ScoredOutcomes

LINE = 80  # characters of the title


def size_table(sizes: Sequence[int], scored: ScoredOutcomes) -> str:
    """The numbers of the curve, as CSV."""
    records = scored.records()
    names = [name for name in records[0] if name != "context"]
    lines = [["size", *names]]
    lines += [
        [str(size), *(f"{record[name]:.6g}" for name in names)]
        for size, record in zip(sizes, records, strict=True)
    ]
    return "".join(",".join(line) + "\n" for line in lines)


def size_picture(sizes: Sequence[int], scored: ScoredOutcomes, title: str) -> bytes:
    """The curves as the content of a PNG file: CXMI above, the translations' scores below it.

    Args:
        sizes: in ascending order.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    metrics = list(scored.scores[0])
    figure = Figure(figsize=(6, 6 if metrics else 3.4), layout="constrained")
    lines = [part for line in title.splitlines() for part in textwrap.wrap(line, LINE)]
    figure.suptitle("\n".join(lines), fontsize=10, parse_math=False)
    axes: Any = figure.subplots(2 if metrics else 1, sharex=True, squeeze=False)[:, 0]
    axes[0].plot(sizes, [outcome.cxmi.per_word for outcome in scored.outcomes], marker="o")
    axes[0].axhline(0, color="black", linewidth=0.8)
    axes[0].set_ylabel("CXMI (bits per word)")
    if metrics:
        for metric in metrics:
            axes[1].plot(sizes, [scores[metric] for scores in scored.scores], marker="o", label=metric)
        axes[1].set_ylabel("score (0 to 100)")
        axes[1].legend()
    axes[-1].set_xlabel("context within so many sentences of the current one")
    axes[-1].xaxis.set_major_locator(MaxNLocator(integer=True))
    for each in axes:
        each.grid(axis="y", alpha=0.3)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=150)
    return content.getvalue()
