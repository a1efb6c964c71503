"""Names the vectors that a model's attention to context sees."""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ctxmt_fairseq.analysis.tokens import describe
from ctxmt_fairseq.data.context_options import FOLLOWING_SOURCE, TARGET
from ctxmt_fairseq.text.absence import CURRENT, METADATA, NO_VECTOR
from ctxmt_fairseq.text.symbols import SEPARATOR
from ctxmt_fairseq.vectors.sentence_contexts import SentenceContexts


class ContextVectors(NamedTuple):
    """The K vectors in the context of one row, without pads: their names; whether each is a word's (None if
    vectors are made of several tokens); and names and vector counts of the context's sentences."""

    labels: List[str]
    words: Optional[List[bool]]
    sections: List[Tuple[str, int]]


def context_vectors(model: Any, batch: Dict[str, Any], dictionary: Any) -> ContextVectors:
    """The vectors that a multi-source model makes of the context of the one sentence in a batch, which has a
    row for every sentence of its context."""
    shortening = getattr(model.encoder, "context_shortening", None)
    windows = batch["windows"]
    places = zip(windows["roles"][0].tolist(), windows["distances"][0].tolist(), strict=True)
    joined = model.context_format.joined
    names = ["context" if joined else sentence_name(role, distance) for role, distance in places]
    tokens = windows["tokens"]
    rows = [tokens[row] if row >= 0 else tokens[:0, 0] for row in windows["index"][0].tolist()]
    sentences = list(zip(names, rows, strict=True))
    if getattr(model.encoder, "current_in_context", False):
        sentences.append(("current", batch["net_input"]["src_tokens"][0]))
    labels: List[str] = []
    words: List[bool] = []
    sections: List[Tuple[str, int]] = []
    for name, tokens in sentences:
        described = describe(dictionary, tokens)
        if not described:
            continue
        own = [token.label for token in described]
        vectors = own if shortening is None else shortening.labels(own)
        labels += vectors
        words += [token.word for token in described]
        sections.append((name, len(vectors)))
    return ContextVectors(labels, words if shortening is None or shortening.keeps_tokens else None, sections)


def window_tokens(batch: Dict[str, Any], dictionary: Any) -> ContextVectors:
    """The tokens of the source window of a batch with one row; the current sentence's are no context."""
    (row,) = batch["net_input"]["src_tokens"]
    tokens = row[row.ne(dictionary.pad())]
    first, end = batch["windows"]["current_span"][0].tolist()
    described = describe(dictionary, tokens)
    separators = tokens.eq(dictionary.index(SEPARATOR)).nonzero().flatten() + 1
    borders = sorted({first, end, len(tokens), *separators.tolist()} - {0})
    before, sections = sum(border <= first for border in borders), []
    for number, (begin, border) in enumerate(zip([0, *borders], borders, strict=False)):
        name = "current" if number == before else f"source {number - before:+d}".replace("-", "−")
        sections.append((name, border - begin))
    words = [token.word and not first <= place < end for place, token in enumerate(described)]
    return ContextVectors([token.label for token in described], words, sections)


def vectors_of_texts(batch: Dict[str, Any], contexts: SentenceContexts) -> ContextVectors:
    """The vectors of whole texts that a model of the task ``metadata_context`` reads, in a batch of one."""
    windows = batch["windows"]
    distances, rows = (windows[name][0].tolist() for name in ("distances", "rows"))
    there = [place for place, distance in enumerate(distances) if distance != NO_VECTOR]
    names = {METADATA: "metadata", CURRENT: "current"}
    sections = [(names.get(distances[place], f"source −{distances[place]}"), 1) for place in there]
    return ContextVectors(contexts.texts([rows[place] for place in there]), None, sections)


def sentence_name(role: int, distance: int) -> str:
    """The place of a context sentence, as text."""
    sign = "+" if role == FOLLOWING_SOURCE else "−"
    return f"{'target' if role == TARGET else 'source'} {sign}{distance}"
