"""Compares the attention of several models in windows: means, tests, and a map of entropies."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

from ctxmt_fairseq.analysis.captured_weights import SIDES
from ctxmt_fairseq.analysis.labelled_map import LabelledMap
from ctxmt_fairseq.analysis.window_attention import KINDS, WindowAttention
from ctxmt_fairseq.base.tables import aligned_table
from ctxmt_fairseq.evaluation.significance import systems
from ctxmt_fairseq.evaluation.significance.p_values import holm_within
from ctxmt_fairseq.evaluation.significance.resampling import ratio
from ctxmt_fairseq.evaluation.significance.seeds import about, run_names, runs_of


@dataclass(frozen=True)
class AttentionReport:
    """Several models, of these systems, on one text; differences are those from the first system."""

    names: Sequence[str]
    models: Sequence[WindowAttention]
    shuffles: int
    seed: int

    def windows(self, model: WindowAttention) -> Dict[str, np.ndarray]:
        """The values (N,) of every measure: shares, with NaN without context, and entropies in nats."""
        shares = {f"share, {side}": model.shares[side] for side in SIDES}
        entropies = {f"entropy, {kind}": model.entropy(kind) for kind in KINDS}
        return {**shares, "share, both": model.both_shares, **entropies, "entropy, all": model.entropy()}

    @cached_property
    def differences(self) -> List[systems.Comparison]:
        """Compare every other system with the first, over the windows that have the measure in all of their
        runs; p is corrected over the systems (Holm)."""
        found: List[systems.Comparison] = []
        values = [self.windows(model) for model in self.models]
        first, *others = runs_of(self.names).values()
        for runs in others:
            both = [*first, *runs]
            for measure in values[0]:
                rows = np.stack([values[run][measure] for run in both])
                rows = rows[:, ~np.isnan(rows).any(0)]
                if rows.shape[1] > 1:
                    statistics = list(np.stack([rows, np.ones_like(rows)], axis=2))
                    tested = systems.Tested(measure, "window", statistics, ratio, 4)
                    names = [self.names[run] for run in both]
                    found += systems.compare_systems(names, [tested], self.shuffles, self.seed)
        corrected = holm_within(found, lambda one: one.metric, lambda one: one.result.p)
        return [replace(one, p_holm=p) for one, p in zip(found, corrected, strict=True)]

    def table(self) -> str:
        """A table with the means of every model, and below it the differences."""
        measures = [self.windows(model) for model in self.models]
        rows = [["", *run_names(self.names), "windows"]]
        for measure in measures[0]:
            counts = [int((~np.isnan(each[measure])).sum()) for each in measures]
            means = (_known_mean(each[measure]) for each in measures)
            cells = ("-" if mean is None else f"{mean:.4f}" for mean in means)
            rows.append([measure, *cells, ", ".join(map(str, dict.fromkeys(counts)))])
        lines = [aligned_table(rows)]
        if self.differences:
            lines += ["", systems.comparison_table(self.differences), "", self.about]
        return "\n".join(lines)

    @property
    def about(self) -> str:
        """What the tests are about."""
        draws = f"{self.shuffles} shuffles and bootstrap samples, seed {self.seed}"
        return about(self.names, (one.result for one in self.differences), draws)

    def map(self) -> LabelledMap:
        """Entropy, as mean over windows: layers of every model (rows), heads by kind (columns)."""
        rows: List[str] = []
        values = []
        heads = {kind: max(model.entropies[kind].shape[2] for model in self.models) for kind in KINDS}
        for name, model in zip(run_names(self.names), self.models, strict=True):
            for layer in range(max(each.shape[1] for each in model.entropies.values())):
                rows.append(f"{layer + 1}, {name}" if len(self.models) > 1 else str(layer + 1))
                parts = [_layer(model.entropies[kind], layer, heads[kind]) for kind in KINDS]
                values.append(np.concatenate(parts))
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
                    "means": {key: _known_mean(each) for key, each in windows.items()},
                    "windows": {
                        key: np.where(np.isnan(each), None, each).tolist() for key, each in windows.items()
                    },
                    "entropies": {kind: each.mean(0).tolist() for kind, each in model.entropies.items()},
                }
                for name, model in zip(run_names(self.names), self.models, strict=True)
                for windows in [self.windows(model)]
            ],
            "differences": [
                {**one.as_dict(), "measure": one.metric, "windows": one.units, "p": one.result.p}
                for one in self.differences
            ],
            "about": self.about,
            "shuffles": self.shuffles,
            "seed": self.seed,
        }


def _layer(entropies: np.ndarray, layer: int, heads: int) -> np.ndarray:
    """(heads,) the means of a layer; NaN if the model has no such layer or head."""
    values = np.full(heads, np.nan)
    if layer < entropies.shape[1]:
        values[: entropies.shape[2]] = entropies[:, layer].mean(0)
    return values


def _known_mean(values: np.ndarray) -> Optional[float]:
    """The mean of the values that are not NaN; None if there are none."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None
