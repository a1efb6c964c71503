"""How a sentence's tokens attend to its context (Voita et al. 2018, sections 5.2 and 5.3, figure 5)."""

from dataclasses import dataclass
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import torch

from ctxmt_fairseq.analysis import captured_weights as captured
from ctxmt_fairseq.analysis.architecture import architecture
from ctxmt_fairseq.analysis.labelled_map import LabelledMap
from ctxmt_fairseq.analysis.passage import Passage
from ctxmt_fairseq.analysis.tokens import describe
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.tables import aligned_table
from ctxmt_fairseq.data.context_options import Column
from ctxmt_fairseq.data.device_copies import to_device
from ctxmt_fairseq.data.document_window_dataset import DocumentWindowDataset
from ctxmt_fairseq.generation.document_translation import DocumentTranslator
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.generation.search_settings import SearchSettings
from ctxmt_fairseq.tasks.search.running_document import RunningDocuments
from ctxmt_fairseq.text.absence import CURRENT, METADATA, NO_VECTOR
from ctxmt_fairseq.vectors.sentence_contexts import SentenceContexts


class ContextVectors(NamedTuple):
    """The K vectors in the context of one row, without pads: their names; whether each is a word's (None if
    vectors are made of several tokens); and names and vector counts of the context's sentences."""

    labels: List[str]
    words: Optional[List[bool]]
    sections: List[Tuple[str, int]]


def context_vectors(
    model: Any, batch: Dict[str, Any], dataset: Any, languages: Sequence[str]
) -> ContextVectors:
    """The vectors that a multi-source model makes of the context of the one sentence in a batch of a dataset,
    which has a row for every sentence of its context."""
    shortening = getattr(model.encoder, "context_shortening", None)
    windows = batch["windows"]
    columns = dataset.builder.source_columns
    names = ["context"] if model.context_format.joined else list(map(sentence_name, columns))
    tokens = windows["tokens"]
    rows = [tokens[row] if row >= 0 else tokens[:0, 0] for row in windows["index"][0].tolist()]
    sentences = list(zip(names, rows, strict=True))
    if getattr(model.encoder, "current_in_context", False):
        sentences.append(("current", batch["net_input"]["src_tokens"][0]))
    labels: List[str] = []
    words: List[bool] = []
    sections: List[Tuple[str, int]] = []
    for name, tokens in sentences:
        described = describe(dataset.dictionary, tokens, languages)
        if not described:
            continue
        own = [token.label for token in described]
        vectors = own if shortening is None else shortening.labels(own)
        labels += vectors
        words += [token.word for token in described]
        sections.append((name, len(vectors)))
    return ContextVectors(labels, words if shortening is None or shortening.keeps_tokens else None, sections)


def window_tokens(
    batch: Dict[str, Any], dataset: DocumentWindowDataset, languages: Sequence[str]
) -> ContextVectors:
    """The tokens of the source window of a batch with one row; the current sentence's are no context."""
    dictionary = dataset.dictionary
    (row,) = batch["net_input"]["src_tokens"]
    tokens = row[row.ne(dictionary.pad())]
    first, end = batch["windows"]["current_span"][0].tolist()
    described = describe(dictionary, tokens, languages)
    separators = tokens.eq(dataset.separator).nonzero().flatten() + 1
    borders = sorted({first, end, len(tokens), *separators.tolist()} - {0})
    before = sum(border <= first for border in borders)

    def names(columns: Sequence[Column], count: int) -> List[str]:
        if count > len(columns) or not dataset.separators:  # an empty context, or sentences without borders
            return ["context"] * count
        nearest = sorted(columns, key=lambda column: column.distance)[:count]  # the farthest may be missing
        return [sentence_name(column) for column in columns if column in nearest]

    columns, place = dataset.builder.source_columns, dataset.before
    after = len(borders) - before - 1
    named = [*names(columns[:place], before), "current", *names(columns[place:], after)]
    sections = list(zip(named, np.diff([0, *borders]).tolist(), strict=True))
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


def sentence_name(column: Column) -> str:
    """The place of a context sentence, as text; the current sentence's own translation is the reference."""
    if not column.offset:
        return "reference"
    return f"{'target' if column.target else 'source'} {column.offset:+d}".replace("-", "−")


@dataclass(frozen=True)
class AttentionMap:
    """The attention weights, averaged over heads, from a sentence's tokens (rows) to the context (columns).
    Every row sums to 1. ``words`` and ``context_words`` tell which rows and columns are words (see
    ``Token``); the latter is None if columns are not tokens."""

    map: LabelledMap
    words: List[bool]
    context_words: Optional[List[bool]]

    @property
    def useful(self) -> Optional[np.ndarray]:
        """(R,) the useful mass of each row, the sum of words' weights; None if columns are no tokens."""
        return None if self.context_words is None else self.map.values[:, self.context_words].sum(axis=1)

    @property
    def mean_useful(self) -> Optional[float]:
        """The mean useful mass of the rows that are words."""
        if self.useful is None or not any(self.words):
            return None
        return float(self.useful[self.words].mean())

    def as_dict(self) -> Dict[str, Any]:
        """For JSON: what ``map`` itself does not have."""
        return {
            "words": self.words,
            "context_words": self.context_words,
            "useful": None if self.useful is None else self.useful.tolist(),
            "mean_useful": self.mean_useful,
        }

    def table(self) -> str:
        """A table with the useful mass of every row, and the word (or vector) with the highest weight."""
        words = np.ones(len(self.map.columns), bool) if self.context_words is None else self.context_words
        sentences = [name for name, width in self.map.sections for _ in range(width)]
        useful = self.useful
        table = [(self.map.row_name, "useful", "attends most to", "in", "weight")]
        for row, (name, values) in enumerate(zip(self.map.rows, self.map.values, strict=True)):
            most = int(np.where(words, values, -1).argmax())
            best = (self.map.columns[most], sentences[most], f"{values[most]:.3f}")
            mass = "-" if useful is None else f"{useful[row]:.3f}"
            table.append((name, mass, *(best if np.any(words) else "---")))
        return aligned_table(table)


def attention_map(
    loaded: LoadedModels,
    passage: Passage,
    side: Optional[str] = None,
    layer: Optional[int] = None,
    target: Optional[str] = None,
) -> AttentionMap:
    """The attention from the current sentence of a passage to its context.

    Args:
        loaded: one model. Of a model of windows it is the attention to the whole source window, whose columns
            have the current sentence, too. For the decoder, a row is the token that is produced next.
        target: the translation; default: if one is needed, the model's own with beam 4. Target context is
            always the model's own translation.
    """
    model, task = loaded.model, loaded.task
    windows = issubclass(task.dataset_class, DocumentWindowDataset)
    choose = captured.choose_window_attention if windows else captured.choose_attention
    side, layer, attention = choose(model, side, layer)
    needed = side == "decoder" or task.context_options().context_selection == "reference"
    if target is not None and not needed:
        raise BadInput("--target: leave it out: the attention of the encoder needs no translation")
    running = _with_translations(loaded, passage, target, needed)
    translation = running.targets[passage.current]
    batch, (prefix,) = running.batch([passage.current], forced=True)
    window = torch.cat([prefix, translation])
    if len(window) > loaded.limits[1]:
        raise BadInput(f"expected a translation of at most {loaded.limits[1]} tokens, found {len(window)}")
    languages = loaded.source_subwords.token, loaded.target_subwords.token
    if loaded.reads_metadata:
        context = vectors_of_texts(batch, running.dataset.contexts)
    elif windows:
        context = window_tokens(batch, running.dataset, languages)
    else:
        context = context_vectors(model, batch, running.dataset, languages)
    if len(context.sections) <= windows:  # a window has the current sentence
        raise BadInput("the sentence has no context that the model reads; choose one that has")
    batch = to_device(batch, loaded.device)
    with torch.no_grad(), captured.captured_weights(attention) as calls:
        encoder_out = model.encoder.forward_torchscript(batch["net_input"])
        if side == "decoder":
            model.decoder(window.roll(1)[None].to(loaded.device), encoder_out=encoder_out)
    ((weights, padding),) = calls
    if side == "decoder":
        dictionary, own, chosen = task.target_dictionary, translation, slice(len(prefix), None)
    else:
        tokens = batch["net_input"]["src_tokens"][0].cpu()
        chosen = tokens.ne(task.source_dictionary.pad()).nonzero().flatten()
        if windows:
            first, end = batch["windows"]["current_span"][0].tolist()
            chosen = chosen[first:end]
        dictionary, own = task.source_dictionary, tokens[chosen]
    rows = describe(dictionary, own, languages)
    what = "the source window" if windows else "context"
    shown = LabelledMap(
        title=f"Attention to {what}, {side} layer {layer} of {architecture(model)}",
        values=weights[0][chosen][:, ~padding[0]].double().cpu().numpy(),
        rows=[token.label for token in rows],
        columns=context.labels,
        row_name="translation" if side == "decoder" else "source",
        column_name=what.split()[-1],
        sections=context.sections,
    )
    return AttentionMap(shown, [token.word for token in rows], context.words)


def _with_translations(
    loaded: LoadedModels, passage: Passage, target: Optional[str], current: bool
) -> RunningDocuments:
    """The passage with translations of earlier sentences, if the model reads them, and the current one."""
    translator = DocumentTranslator(loaded, SearchSettings(beam=4), width=1)
    sources = [loaded.encode_source(text) for text in passage.sentences]
    contexts = loaded.contexts_of(passage.sentences, [passage.metadata] * len(passage.sentences))
    running = translator.running(sources, passage.documents, contexts=contexts)
    lines = list(range(passage.current)) if translator.dependent else []
    if target is not None:
        running.record(passage.current, loaded.encode_target(target))
    elif current:
        lines.append(passage.current)
    for _ in translator.translate(running, lines):
        pass
    known = [running.targets[line] for line in range(len(sources))]
    # Made again, now with a row for every use of a sentence.
    return RunningDocuments(loaded.task, sources, passage.documents, known, loaded.limits, False, contexts)
