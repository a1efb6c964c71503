"""Compares the attention of several models in windows: means, tests, and a map of entropies."""

from dataclasses import dataclass
from typing import Any, Dict, List, NamedTuple, Sequence

import numpy as np

from ctxmt_fairseq.analysis.captured_weights import SIDES
from ctxmt_fairseq.analysis.labelled_map import LabelledMap
from ctxmt_fairseq.analysis.window_attention import KINDS, WindowAttention
from ctxmt_fairseq.base.tables import aligned_table
from ctxmt_fairseq.evaluation.significance.p_values import holm_within, stars
from ctxmt_fairseq.evaluation.significance.resampling import randomization_p


class Difference(NamedTuple):
    """The difference of two models' means, ``b`` minus ``a``, over windows with the measure in both."""

    a: str
    b: str
    measure: str
    windows: int
    difference: float
    p: float
    p_holm: float


@dataclass(frozen=True)
class AttentionReport:
    """Several models on one text; differences are those from the first model.

    Attributes:
        names: the names of the models.
        models: their attention.
        shuffles, seed: those of approximate randomization.
    """

    names: Sequence[str]
    models: Sequence[WindowAttention]
    shuffles: int
    seed: int

    def windows(self, model: WindowAttention) -> Dict[str, np.ndarray]:
        """The values (N,) of every measure: shares, with NaN without context, and entropies in nats."""
        shares = {f"share, {side}": model.shares[side] for side in SIDES}
        entropies = {f"entropy, {kind}": model.entropy(kind) for kind in KINDS}
        return {**shares, "share, both": model.both_shares, **entropies, "entropy, all": model.entropy()}

    def differences(self) -> List[Difference]:
        """Compare every other model with the first; p is corrected over the models (Holm)."""
        found = []
        first = self.windows(self.models[0])
        for name, model in zip(self.names[1:], self.models[1:], strict=True):
            for measure, values in self.windows(model).items():
                shared = ~np.isnan(first[measure]) & ~np.isnan(values)
                if shared.sum() < 2:
                    continue
                pair = [_statistics(each[shared]) for each in (first[measure], values)]
                (p,) = randomization_p([(pair[0], pair[1])], _mean, self.shuffles, self.seed)
                difference = float(values[shared].mean() - first[measure][shared].mean())
                found.append((self.names[0], name, measure, int(shared.sum()), difference, float(p)))
        corrected = holm_within(found, lambda row: row[2], lambda row: row[5])
        return [Difference(*row, p) for row, p in zip(found, corrected, strict=True)]

    def table(self) -> str:
        """A table with the means of every model, and below it the differences."""
        measures = [self.windows(model) for model in self.models]
        rows = [["", *self.names, "windows"]]
        for measure in measures[0]:
            counts = [int((~np.isnan(each[measure])).sum()) for each in measures]
            means = [
                f"{_known_mean(each[measure]):.4f}" if count else "-"
                for each, count in zip(measures, counts, strict=True)
            ]
            rows.append([measure, *means, ", ".join(map(str, dict.fromkeys(counts)))])
        lines = [aligned_table(rows)]
        if len(self.models) > 1:
            head = ["models", "", "windows", "difference", "p", "Holm", ""]
            lines += ["", aligned_table([head, *map(_row, self.differences())])]
            lines.append(f"approximate randomization, {self.shuffles} shuffles, seed {self.seed}")
        return "\n".join(lines)

    def map(self) -> LabelledMap:
        """Entropy, as mean over windows: layers of every model (rows), heads by kind (columns)."""
        rows: List[str] = []
        values = []
        heads = {kind: max(model.entropies[kind].shape[2] for model in self.models) for kind in KINDS}
        for name, model in zip(self.names, self.models, strict=True):
            for layer in range(max(each.shape[1] for each in model.entropies.values())):
                rows.append(f"{layer + 1}, {name}" if len(self.models) > 1 else str(layer + 1))
                values.append(
                    np.concatenate([_layer(model.entropies[kind], layer, heads[kind]) for kind in KINDS])
                )
        return LabelledMap(
            f"Entropy of attention, {len(self.models[0].entropy())} windows",
            np.stack(values),
            rows,
            [str(head + 1) for kind in KINDS for head in range(heads[kind])],
            "layer",
            "head",
            list(heads.items()),
            "entropy in nats",
        )

    def as_dict(self) -> Dict[str, Any]:
        """For JSON: means, differences, and the values of every window."""
        return {
            "models": [
                {
                    "name": name,
                    "means": {key: _number(_known_mean(each)) for key, each in self.windows(model).items()},
                    "windows": {
                        key: [_number(value) for value in each] for key, each in self.windows(model).items()
                    },
                    "entropies": {kind: each.mean(0).tolist() for kind, each in model.entropies.items()},
                }
                for name, model in zip(self.names, self.models, strict=True)
            ],
            "differences": [
                {**difference._asdict(), "stars": stars(difference.p_holm)}
                for difference in self.differences()
            ],
            "shuffles": self.shuffles,
            "seed": self.seed,
        }


def _layer(entropies: np.ndarray, layer: int, heads: int) -> np.ndarray:
    """(heads,) the means of a layer; NaN if the model has no such layer or head."""
    values = np.full(heads, np.nan)
    if layer < entropies.shape[1]:
        values[: entropies.shape[2]] = entropies[:, layer].mean(0)
    return values


def _statistics(values: np.ndarray) -> np.ndarray:
    return np.stack([values, np.ones_like(values)], axis=1)


def _mean(sums: np.ndarray) -> np.ndarray:
    return sums[:, 0] / sums[:, 1]


def _known_mean(values: np.ndarray) -> float:
    """The mean of the values that are not NaN; NaN if there are none."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def _number(value: float) -> Any:
    return None if np.isnan(value) else float(value)


def _row(difference: Difference) -> List[str]:
    return [
        f"{difference.b} - {difference.a}",
        difference.measure,
        str(difference.windows),
        f"{difference.difference:+.4f}",
        f"{difference.p:.4f}",
        f"{difference.p_holm:.4f}",
        stars(difference.p_holm),
    ]
