"""The map of a model's contexts and its files (MTCue, figure 3)."""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List

import numpy as np

from ctxmt_fairseq.analysis.context_space import ContextSpace
from ctxmt_fairseq.analysis.labelled_texts import LabelledTexts
from ctxmt_fairseq.analysis.map_files import write_picture
from ctxmt_fairseq.analysis.projection import project
from ctxmt_fairseq.analysis.separation import Separation, separations
from ctxmt_fairseq.base.paths import Scatter
from ctxmt_fairseq.base.plots.scatter import draw_scatter
from ctxmt_fairseq.base.tables import aligned_table, csv_text
from ctxmt_fairseq.text.text_lines import PathLike

COLUMNS = ("x before", "y before", "x after", "y after")


@dataclass(frozen=True)
class ContextMap:
    """n contexts on two maps, (n, 2) points before and after the context encoder.

    Attributes:
        encoder, model: the names of the text encoder and of the model's architecture.
        dimensions: R and D, the lengths of the vectors before and after the context encoder.
        separations: how well the vectors themselves separate the attributes.
    """

    encoder: str
    model: str
    dimensions: List[int]
    labelled: LabelledTexts
    before: np.ndarray
    after: np.ndarray
    separations: List[Separation]
    seed: int

    def table(self) -> str:
        """A table of how well the vectors separate each attribute; empty without attributes."""
        rows = [["attribute: measure", "before", "after", "by chance"]]
        for found in self.separations:
            numbers = (found.before, found.after, found.chance)
            cells = ("-" if number is None else f"{number:.3f}" for number in numbers)
            rows.append([f"{found.attribute}: {found.measure}", *cells])
        return aligned_table(rows) if self.separations else ""

    def csv(self) -> str:
        """A head, and a line for each text with its attributes and its places."""
        columns = {"text": self.labelled.texts}
        columns |= {attribute.name: attribute.values.tolist() for attribute in self.labelled.attributes}
        places = np.char.mod("%.6f", np.concatenate([self.before, self.after], axis=1)).T.tolist()
        columns |= dict(zip(COLUMNS, places, strict=True))
        return csv_text([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)])

    def as_dict(self) -> Dict[str, Any]:
        """For JSON: what ``csv`` does not have."""
        return {
            "model": self.model,
            "encoder": self.encoder,
            "dimensions": self.dimensions,
            "texts": len(self.labelled.texts),
            "seed": self.seed,
            "separations": [dataclasses.asdict(found) for found in self.separations],
        }

    def draw(self) -> bytes:
        """Both maps as the content of a PNG file."""
        panels = [
            (f"before: vectors of {self.encoder}{self._caption('before')}", self.before),
            (f"after: output of the context encoder{self._caption('after')}", self.after),
        ]
        title = f"{len(self.labelled.texts)} contexts of {self.model}"
        attributes = [(each.name, each.values) for each in self.labelled.attributes]
        return draw_scatter(title, panels, attributes, self.labelled.texts)

    def _caption(self, place: str) -> str:
        """The line on the first attribute in the title of a map; ``place`` is "before" or "after"."""
        lines = []
        for found in self.separations:
            value = getattr(found, place)
            if found.attribute == self.labelled.attributes[0].name and value is not None:
                chance = "" if found.chance is None else f" (by chance {found.chance:.2f})"
                lines.append(f"\n{found.measure}: {value:.2f}{chance}")
        return "".join(lines)


def context_map(
    labelled: LabelledTexts, space: ContextSpace, encoder: str, model: str, seed: int = 1
) -> ContextMap:
    """Make both maps of the contexts, and measure how well their vectors separate the attributes."""
    return ContextMap(
        encoder=Path(encoder).name,
        model=model,
        dimensions=[vectors.shape[1] for vectors in space],
        labelled=labelled,
        before=project(space.before, seed),
        after=project(space.after, seed),
        separations=[found for attribute in labelled.attributes for found in separations(attribute, *space)],
        seed=seed,
    )


def write_context_map(path: PathLike, shown: ContextMap) -> List[Path]:
    """Write FILE.png, and beside it FILE.csv and FILE.json with the numbers; returns the files."""
    rest = json.dumps(shown.as_dict(), indent=2, ensure_ascii=False) + "\n"
    return write_picture(Scatter(str(path)), shown.draw(), shown.csv(), rest)
