"""The latent groups of a sentence's tokens, and how many a model uses over a text, and for which tokens
(sequence shortening, section 5.4, figure 3)."""

from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np
import torch
from fairseq.data import data_utils
from tqdm.auto import tqdm

from ctxmt_fairseq.analysis.architecture import architecture
from ctxmt_fairseq.analysis.labelled_map import LabelledMap
from ctxmt_fairseq.analysis.tokens import describe
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.tables import aligned_table
from ctxmt_fairseq.corpora.linguistics.words import has_letters
from ctxmt_fairseq.generation.forced_scoring import MAX_TOKENS, batches_by_length
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.models.blocks.latent_groups import Latent, Selecting
from ctxmt_fairseq.text.annotation import AnnotatedWord

WORD, PUNCTUATION, END, UNKNOWN = "words", "punctuation", "</s>", "not annotated"


def latent_groups(model: Any) -> Latent:
    """The module of the model that groups or selects; other models are refused."""
    shortening = getattr(model.encoder, "context_shortening", None)
    if not isinstance(shortening, Latent):
        raise BadInput(
            "expected a caching_transformer with --shortening group or select, "
            f"found {architecture(model, 'shortening')}"
        )
    return shortening


def token_groups(loaded: LoadedModels, sentence: str) -> LabelledMap:
    """The weights c of equation 3 between the tokens of a sentence (rows) and the groups (columns).

    With grouping every row sums to 1, with selecting every column.
    """
    model = loaded.model
    latent = latent_groups(model)
    tokens = loaded.encode_source(sentence)
    if len(tokens) > loaded.limits[0]:
        raise BadInput(f"expected a sentence of at most {loaded.limits[0]} tokens, found {len(tokens)}")
    ((_, values),) = _weights(loaded, latent, [tokens], len(tokens))
    return LabelledMap(
        title=f"{latent.title}, {architecture(model)}",
        values=values,
        rows=[token.label for token in describe(loaded.task.source_dictionary, tokens)],
        columns=[str(group) for group in range(1, values.shape[1] + 1)],
        row_name="token",
        column_name="group",
    )


def used_groups(values: np.ndarray) -> int:
    """How many groups (columns) have any token."""
    return int(values.any(axis=0).sum())


@dataclass(frozen=True)
class GroupUse:
    """The weights c of equation 3, summed over a text.

    Attributes:
        selecting: True if the weights of each group sum to 1 over a sentence; False if those of each token
            sum to 1 over the groups.
        classes: C classes of tokens; ``counts`` (C,) is how many tokens each has.
        weights: (C, K) sums of the weights over the tokens of a class.
        used: (K,) in how many sentences a group has a token with a weight above 0.
        unmatched: in how many sentences subwords do not match the annotated words.
    """

    title: str
    selecting: bool
    sentences: int
    classes: List[str]
    counts: np.ndarray
    weights: np.ndarray
    used: np.ndarray
    unmatched: int

    @property
    def means(self) -> np.ndarray:
        """(C, K): for grouping the mean weight of a class's tokens (rows sum to 1), for selecting the part of
        a group's weight that goes to the class (columns sum to 1)."""
        return self.weights / (self.sentences if self.selecting else self.counts[:, None])

    @property
    def mean_name(self) -> str:
        return "part of a group's weight" if self.selecting else "mean weight of a token"

    @property
    def summary(self) -> str:
        """A line on how many groups are used."""
        groups, many = len(self.used), self.used.sum() / self.sentences
        more = f"; {self.unmatched} sentences without their annotation: other words" if self.unmatched else ""
        return (
            f"{int(self.used.astype(bool).sum())} of {groups} groups are used ({many:.2f} in a sentence), "
            f"n = {self.sentences:,} sentences, {int(self.counts.sum()):,} tokens{more}"
        )

    def table(self) -> str:
        """A table with a row for each class, and a row for the sentences that use each group."""
        rows = [[self.mean_name, "tokens", *(str(group + 1) for group in range(len(self.used)))]]
        for name, count, means in zip(self.classes, self.counts.tolist(), self.means, strict=True):
            rows.append([name, f"{count:,}", *(f"{mean:.3f}" for mean in means)])
        shares = [f"{100 * count / self.sentences:.1f}" for count in self.used.tolist()]
        return aligned_table([*rows, ["used in % of sentences", "", *shares]])

    def map(self) -> LabelledMap:
        """The means, for a picture."""
        sizes = zip(self.classes, self.counts.tolist(), strict=True)
        return LabelledMap(
            title=f"{self.title}\nn = {self.sentences:,} sentences",
            values=self.means,
            rows=[f"{name} ({count:,})" for name, count in sizes],
            columns=[str(group + 1) for group in range(len(self.used))],
            row_name="tokens",
            column_name="group",
            value_name=self.mean_name,
        )

    def as_dict(self) -> Dict[str, Any]:
        """For JSON: what the map does not have."""
        return {
            "sentences": self.sentences,
            "counts": dict(zip(self.classes, self.counts.tolist(), strict=True)),
            "used_in_sentences": self.used.tolist(),
            "used_groups_per_sentence": float(self.used.sum() / self.sentences),
            "unmatched": self.unmatched,
        }


def group_use(
    loaded: LoadedModels,
    sentences: Sequence[str],
    annotation: Optional[Sequence[Sequence[AnnotatedWord]]] = None,
    max_tokens: int = MAX_TOKENS,
) -> GroupUse:
    """Measure the groups of each sentence of a text by itself, because context does not change them. If the
    annotated words of the sentences are given, the classes are parts of speech."""
    model = loaded.model
    latent = latent_groups(model)
    tokens = [loaded.encode_source(sentence) for sentence in sentences]
    longest = max(map(len, tokens), default=0)
    if not tokens or longest > loaded.limits[0]:
        raise BadInput(f"expected sentences of 1 to {loaded.limits[0]} tokens, found {longest or 'none'}")
    labels: List[List[str]] = []
    unmatched = 0
    subwords = loaded.source_subwords
    for number, sentence in enumerate(sentences):
        pieces = list(map(subwords.bare, subwords.encode(sentence).split()))
        named: Optional[List[str]] = [WORD] * len(pieces)
        if annotation is not None:
            named = _parts_of_speech(sentence, annotation[number], pieces)
            unmatched += named is None
        both = zip(pieces, named or [UNKNOWN] * len(pieces), strict=True)
        labels.append([*(name if has_letters(piece) else PUNCTUATION for piece, name in both), END])
    last = {PUNCTUATION: 1, END: 2}
    classes = sorted({name for row in labels for name in row}, key=lambda name: (last.get(name, 0), name))
    weights, counts = np.zeros((len(classes), latent.size)), np.zeros(len(classes), np.int64)
    used = np.zeros(latent.size, np.int64)
    each = _weights(loaded, latent, tokens, max_tokens)
    for place, values in tqdm(each, total=len(tokens), unit="sentence", disable=None):
        rows = [classes.index(name) for name in labels[place]]
        np.add.at(weights, rows, values)
        np.add.at(counts, rows, 1)
        used += (values > 0).any(0)
    title = f"{latent.title}, {architecture(model)}"
    counted = (len(tokens), classes, counts, weights, used, unmatched)
    return GroupUse(title, isinstance(latent, Selecting), *counted)


def _weights(
    loaded: LoadedModels, latent: Any, tokens: Sequence[torch.Tensor], max_tokens: int
) -> Iterator[Tuple[int, np.ndarray]]:
    """The place of every sentence, and its weights (L, K)."""
    encoder = loaded.model.encoder
    pad = encoder.padding_idx
    for places in batches_by_length(np.array(list(map(len, tokens))), max_tokens):
        batch = data_utils.collate_tokens([tokens[place] for place in places], pad).to(loaded.device)
        with torch.no_grad():
            states = encoder(batch)["encoder_out"][0].transpose(0, 1)
            values = latent.assignment(states, batch.eq(pad)).double().cpu().numpy()
        for place, row in zip(places, values, strict=True):
            yield place, row[: len(tokens[place])]


def _parts_of_speech(
    sentence: str, words: Sequence[AnnotatedWord], pieces: Sequence[str]
) -> Optional[List[str]]:
    """For each subword the part of speech where it begins; None if the model reads other characters."""
    places = [place for place, character in enumerate(sentence) if not character.isspace()]
    read = "".join(pieces)
    if read.lower() != "".join(sentence[place] for place in places).lower() or len(read) != len(places):
        return None
    part = {place: word.pos or UNKNOWN for word in words for place in range(word.start, word.end)}
    starts = np.cumsum([0, *map(len, pieces)])[: len(pieces)].tolist()
    return [part.get(places[start], UNKNOWN) if start < len(places) else UNKNOWN for start in starts]
