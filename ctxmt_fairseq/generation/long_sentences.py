"""Source sentences that are longer than the models read: refused, cut, split, or left untranslated."""

from dataclasses import dataclass
from typing import Any, Callable, Iterable, List, Optional, Sequence, Union

import numpy as np
import regex
import torch

from ctxmt_fairseq.base.errors import BadInput, named
from ctxmt_fairseq.generation.given_documents import GivenDocuments
from ctxmt_fairseq.generation.input_documents import InputDocuments
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.text.documents import Documents

SourceText = Union[InputDocuments, GivenDocuments]
WAYS = ("error", "cut", "split", "empty")
# Where a sentence may be split, the best first: behind a sentence in it, a clause, a comma, a word, a
# character with its marks.
_SPLITS = [
    regex.compile(pattern)
    for pattern in (
        r"[.!?…।॥؟۔።։]+[\"'”’»)\]]*\s+|[。！？။។]+[」』”）]*\s*",
        r"[;:؛፤]\s+|[；：]\s*",
        r"[,،፣]\s+|[，、]\s*",
        r"\s+",
        r"\X",
    )
]


@dataclass(frozen=True)
class FittedText:
    """Source text whose sentences the models can read: the sentences, and the parts of those that were split,
    their tokens, documents, and which are translated. ``origins`` (n,) are the sentences of the text as it
    was given that each is, or is a part of; ``remark`` says how many were treated, and where."""

    sentences: List[str]
    sources: List[torch.Tensor]
    documents: Documents
    current: np.ndarray
    origins: np.ndarray
    remark: Optional[str] = None

    def joined(self, values: Sequence[Any]) -> List[List[Any]]:
        """For each sentence as it was given the values of its parts."""
        found: List[List[Any]] = [[] for _ in range(int(self.origins.max(initial=-1)) + 1)]
        for origin, value in zip(self.origins.tolist(), values, strict=True):
            found[origin].append(value)
        return found


def fit_sentences(
    loaded: LoadedModels, text: SourceText, way: str, part: int, cut_context: bool = False
) -> FittedText:
    """Make a text such that the models can read all sentences, or refuse it and name those that are too long.

    One that is only context is never refused: as in training, it is left out of the windows that it does not
    fit into.

    Args:
        way: what happens to a sentence that is too long: "error", "cut" (its first tokens are translated),
            "split" (it becomes several sentences of its document, of at most ``part`` tokens) or "empty" (it
            is not translated).
        cut_context: whether sentences that are only context are translated, too, and so have to be cut.
    """
    sentences, current = text.sentences, text.current
    limit, end = loaded.sentence_limits[0], torch.tensor([loaded.task.source_dictionary.eos()])
    sources = [loaded.encode_source(sentence) for sentence in sentences]
    translated = np.flatnonzero(current).tolist()
    if way == "error":
        hint = ", or translate them with --too-long cut, split or empty"
        refuse_long(sources, translated, text.place, limit, hint)
    long = [line for line in translated if len(sources[line]) > limit]
    size = min(limit, part)
    texts = [[sentence] for sentence in sentences]
    tokens = [[source] for source in sources]
    for line in long:
        if way == "split":
            texts[line] = split(sentences[line], lambda part: len(loaded.encode_source(part)) <= size)
        whole = [loaded.encode_source(text) for text in texts[line]]
        tokens[line] = [end if way == "empty" else _cut(source, limit, end) for source in whole]
    if cut_context:
        for line in np.flatnonzero(~current).tolist():
            tokens[line] = [_cut(sources[line], limit, end)]
    origins = np.repeat(np.arange(len(tokens)), [len(parts) for parts in tokens])
    places = named([text.place(line) for line in long])
    treated = {"cut": "cut", "split": "split into parts", "empty": "not translated"}
    found = f"{len(long)} of {len(translated)} sentences are longer than the {limit} tokens"
    return FittedText(
        sentences=[part for parts in texts for part in parts],
        sources=[source for parts in tokens for source in parts],
        documents=Documents(np.searchsorted(origins, text.documents.starts).astype(np.int64)),
        current=current[origins],
        origins=origins,
        remark=f"{found} that the models read, and were {treated[way]}: {places}" if long else None,
    )


def refuse_long(
    tokens: Sequence[torch.Tensor],
    lines: Iterable[int],
    place: Callable[[int], str],
    limit: int,
    hint: str = "",
) -> None:
    """Refuse sentences that are longer than the models read; all of them are named, with their lengths."""
    long = [f"{place(line)} ({len(tokens[line])})" for line in lines if len(tokens[line]) > limit]
    if long:
        read = f"the {limit} tokens that the models read"
        raise BadInput(f"longer than {read}: {named(long)}; shorten them{hint}")


def _cut(source: torch.Tensor, limit: int, end: torch.Tensor) -> torch.Tensor:
    return source if len(source) <= limit else torch.cat([source[: limit - 1], end])


def split(text: str, fits: Callable[[str], bool]) -> List[str]:
    """Split a text until all parts fit, each time near its middle, where it reads best."""
    if fits(text) or len(text) < 2:
        return [text]
    quarter = len(text) // 4
    for pattern in _SPLITS:
        ends = [found.end() for found in pattern.finditer(text)]
        ends = [end for end in ends if quarter <= end < len(text) - quarter]
        if ends:
            at = min(ends, key=lambda end: abs(2 * end - len(text)))
            break
    else:
        at = len(text) // 2
    parts = (text[:at].strip(), text[at:].strip())
    return [each for part in parts if part for each in split(part, fits)]
