"""All files of a demo corpus, written to a folder that appears only when complete."""

import json
import random
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

from tqdm.auto import tqdm

from ctxmt_fairseq.corpora.demo_corpus.contrastive import contrastive_sets
from ctxmt_fairseq.corpora.demo_corpus.documents import HeldOut, Scene, document, scenes_of
from ctxmt_fairseq.corpora.demo_corpus.formats import as_files, index_entry
from ctxmt_fairseq.corpora.demo_corpus.twins import TwinMaker
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.output_folders import folder_output

LENGTHS = (4, 8)  # sentences of a document, unless asked for otherwise
MOST_EXAMPLES = 1000  # more per set would hold out too much of the grammar
FORMALITIES = ("stated", "implied")


def write_demo_corpus(
    directory: Path,
    seed: int = 1,
    documents: int = 8000,
    evaluation_documents: int = 200,
    document_length: Optional[int] = None,
    examples: int = 300,
    phenomena: Optional[Sequence[str]] = None,
    formality: str = FORMALITIES[0],
) -> Dict[str, List[Dict[str, Any]]]:
    """Write a demo corpus; the same arguments give the same bytes.

    Args:
        directory: a new or empty folder.
        documents: documents in train.
        evaluation_documents: documents in valid, and in test.
        document_length: sentences of every document; 4 to 8 by default.
        examples: examples per contrastive set, an even number.
        phenomena: what the documents are about, keys of ``documents.SCENES``; default: everything. The
            contrastive sets are always all there.
        formality: ``stated`` by the metadata field ``formality``, or ``implied``: no text names it, but
            genre, plot and sentences of a film's setting go with it.

    Returns:
        ``splits``: name, documents, sentences of each split; ``sets``: the entries of ``sets.json``.

    Raises:
        BadInput: a number out of range, or a folder that cannot be written or is not empty.
    """
    for name, number in (("documents", documents), ("evaluation documents", evaluation_documents)):
        if number < 1:
            raise BadInput(f"expected at least 1 for {name}, found {number}")
    if document_length is not None and document_length < 1:
        raise BadInput(f"expected at least 1 for document length, found {document_length}")
    if examples % 2 or not 2 <= examples <= MOST_EXAMPLES:
        raise BadInput(f"expected an even number from 2 to {MOST_EXAMPLES} for examples, found {examples}")
    if formality not in FORMALITIES:
        raise BadInput(f"expected {' or '.join(FORMALITIES)} for formality, found {formality!r}")
    implied = formality == "implied"
    scenes = scenes_of(phenomena)
    with folder_output(directory) as draft:
        (draft / "contrastive").mkdir()
        maker = TwinMaker(random.Random(f"{seed}:contrastive"))
        sets = _write_sets(draft / "contrastive", maker, examples, implied)
        splits = [
            _write_split(
                draft,
                split,
                random.Random(f"{seed}:{split}"),
                count,
                document_length,
                maker.held_out,
                scenes,
                implied,
            )
            for split, count in (
                ("train", documents),
                ("valid", evaluation_documents),
                ("test", evaluation_documents),
            )
        ]
    return {"splits": splits, "sets": sets}


def _write_sets(folder: Path, maker: TwinMaker, examples: int, implied: bool) -> List[Dict[str, Any]]:
    entries = []
    for contrastive in contrastive_sets(maker, examples, implied):
        for path, text in as_files(contrastive):
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8", newline="\n")
        entries.append(index_entry(contrastive))
    (folder / "sets.json").write_text(json.dumps(entries, indent=2) + "\n", encoding="utf-8")
    return entries


def _write_split(
    folder: Path,
    split: str,
    rng: random.Random,
    documents: int,
    length: Optional[int],
    held_out: HeldOut,
    scenes: Dict[Scene, int],
    implied: bool,
) -> Dict[str, Any]:
    sentences = 0
    with ExitStack() as stack:
        en, fr, ids, meta = (
            stack.enter_context(open(folder / f"{split}.{suffix}", "w", encoding="utf-8", newline="\n"))
            for suffix in ("en", "fr", "docids", "meta.jsonl")
        )
        for number in tqdm(range(1, documents + 1), desc=split, unit="doc", disable=None, leave=False):
            pairs, metadata = document(rng, length or rng.randint(*LENGTHS), held_out, scenes, implied)
            en.writelines(pair[0] + "\n" for pair in pairs)
            fr.writelines(pair[1] + "\n" for pair in pairs)
            ids.write(f"{split}-{number}\n" * len(pairs))
            meta.write((json.dumps(metadata, ensure_ascii=False) + "\n") * len(pairs))
            sentences += len(pairs)
    return {"name": split, "documents": documents, "sentences": sentences}
