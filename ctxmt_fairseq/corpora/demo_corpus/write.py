"""Writes all files of a demo corpus to a folder that appears only when it is complete."""

import json
import random
from pathlib import Path
from typing import Any, Dict, List, Literal, Optional, Sequence

from tqdm.auto import tqdm

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.folders import folder_output
from ctxmt_fairseq.corpora.demo_corpus.contrastive import as_files, contrastive_sets, index_entry
from ctxmt_fairseq.corpora.demo_corpus.scenes import document, scenes_of
from ctxmt_fairseq.corpora.demo_corpus.twins import TwinMaker
from ctxmt_fairseq.text.metadata_files import metadata_line

LENGTHS = (4, 8)  # sentences of a document, unless --document-length says otherwise
MOST_EXAMPLES = 1000  # of a set; more would hold out too much of the grammar


def write_demo_corpus(
    directory: Path,
    seed: int = 1,
    documents: int = 8000,
    evaluation_documents: int = 200,
    document_length: Optional[int] = None,
    examples: int = 300,
    phenomena: Optional[Sequence[str]] = None,
    formality: Literal["stated", "implied"] = "stated",
) -> Dict[str, List[Dict[str, Any]]]:
    """Write a demo corpus to a new or empty folder; the same arguments give the same bytes.

    Returns ``splits``: name, documents, sentences of each split; ``sets``: the entries of ``sets.json``. All
    contrastive sets are always written, whatever the documents are about. ``formality`` is ``stated`` by the
    metadata field of this name, or ``implied``: no text names it, but genre, plot and sentences of a film's
    setting go with it.
    """
    if examples % 2 or not 2 <= examples <= MOST_EXAMPLES:
        raise BadInput(f"expected an even number from 2 to {MOST_EXAMPLES} for examples, found {examples}")
    implied = formality == "implied"
    scenes = scenes_of(phenomena)
    sets, splits = [], []
    with folder_output(directory) as folder:
        maker = TwinMaker(random.Random(f"{seed}:contrastive"))
        for plan, made in contrastive_sets(maker, examples, implied):
            for path, text in as_files(plan, made):
                _write(folder / "contrastive" / path, text)
            sets.append(index_entry(plan, made))
        _write(folder / "contrastive" / "sets.json", json.dumps(sets, indent=2) + "\n")
        counts = {"train": documents, "valid": evaluation_documents, "test": evaluation_documents}
        for split, count in counts.items():
            rng = random.Random(f"{seed}:{split}")
            columns: Dict[str, List[str]] = {"en": [], "fr": [], "docids": [], "meta.jsonl": []}
            for number in tqdm(range(1, count + 1), desc=split, unit="doc", disable=None, leave=False):
                length = document_length or rng.randint(*LENGTHS)
                pairs, metadata = document(rng, length, maker.held_out, scenes, implied)
                for language, side in zip(("en", "fr"), zip(*pairs, strict=True), strict=True):
                    columns[language] += side
                columns["docids"] += [f"{split}-{number}"] * len(pairs)
                columns["meta.jsonl"] += [metadata_line(metadata)] * len(pairs)
            for suffix, lines in columns.items():
                _write(folder / f"{split}.{suffix}", "".join(f"{line}\n" for line in lines))
            splits.append({"name": split, "documents": count, "sentences": len(columns["en"])})
    return {"splits": splits, "sets": sets}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text, encoding="utf-8", newline="\n")
