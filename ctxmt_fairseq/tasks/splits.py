"""Reads a split of a data folder: binarised sentences, their documents, and which of them are translated."""

import logging
import os
from typing import Any, Dict, NamedTuple, Optional, Tuple

import numpy as np
from fairseq.data import data_utils

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.data_folder import first_folder, split_digest
from ctxmt_fairseq.data.binarised import check_sentences
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.text_lines import read_flags

logger = logging.getLogger(__name__)


class Split(NamedTuple):
    """n sentences: fairseq's datasets of their tokens (no target: None), their documents, and the lines that
    are translated (None: all)."""

    source: Any
    target: Optional[Any]
    documents: Documents
    current: Optional[np.ndarray]


def check_one_shard(folder: str, split: str, languages: Tuple[str, str]) -> None:
    """Refuse a folder that has further parts of a split, which fairseq would append."""
    if os.path.exists(os.path.join(folder, f"{split}1.{'-'.join(languages)}.{languages[0]}.idx")):
        raise BadInput(f"{split}1: shards must be in a folder each; join the folders by {os.pathsep}", folder)


def text_digests(cfg: Any) -> Dict[str, str]:
    """The digests of the source text on which a task trains, and of that on which it validates, by split,
    where the (first) data folder tells them."""
    folder = first_folder(cfg.data)
    found = {split: split_digest(folder, split) for split in (cfg.train_subset, "valid")}
    return {split: digest for split, digest in found.items() if digest}


def warn_of_other_texts(cfg: Any, before: Any) -> None:
    """Say that a training goes on with another text than that of ``text_digests`` before."""
    known = before if isinstance(before, dict) else {}
    others = [split for split, digest in text_digests(cfg).items() if known.get(split, digest) != digest]
    if others:
        logger.warning(
            "the training goes on with another text than before, of %s; --reset-meters forgets the best loss "
            "on the one before", " and ".join(others)
        )  # fmt: skip


def read_split(
    prefix: str, languages: Tuple[str, str], dictionaries: Tuple[Any, Any], implementation: Any, alone: bool
) -> Split:
    """Read the files whose names begin with ``prefix``, which ends with the languages and a dot; each
    sentence is a document if ``alone`` and there are no document ids."""
    source, target = (
        _sentences(prefix + language, dictionary, implementation)
        for language, dictionary in zip(languages, dictionaries, strict=True)
    )
    if source is None:
        split = os.path.basename(prefix).split(".")[0]
        raise BadInput(f"there are no binarised sentences of the split {split}", prefix + languages[0])
    if target is not None and len(target) != len(source):
        raise BadInput(
            f"expected {len(source)} sentences as on the source side, found {len(target)}",
            prefix + languages[1],
        )
    if os.path.exists(prefix + "docids"):
        documents = Documents.read(prefix + "docids", len(source))
    elif alone:
        documents = Documents.from_lengths([1] * len(source))
    else:
        raise BadInput("no such file; expected one document id per sentence", prefix + "docids")
    current = None
    if os.path.exists(prefix + "current"):
        current = np.flatnonzero(read_flags(prefix + "current", len(source)))
    return Split(source, target, documents, current)


def _sentences(prefix: str, dictionary: Any, implementation: Any) -> Optional[Any]:
    check_sentences(prefix, dictionary)
    try:
        return data_utils.load_indexed_dataset(prefix, dictionary, implementation)
    except FileNotFoundError:
        return None
    except Exception as error:  # another format than ours, or damage that the check does not see
        raise BadInput(f"cannot be read as binarised sentences: {error}", prefix) from None
