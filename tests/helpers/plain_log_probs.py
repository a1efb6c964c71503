"""Log-probabilities of references by plain forward passes, on which probe's CXMI is checked."""

import json

import numpy as np
import torch

from ctxmt_fairseq.data.context_options import PREVIOUS_SOURCE
from ctxmt_fairseq.data.context_sizes import ContextSizes
from ctxmt_fairseq.text.metadata_text import metadata_text
from ctxmt_fairseq.text.symbols import SEPARATOR
from ctxmt_fairseq.vectors.text_encoders import load_text_encoder


def forward(loaded, source, target, **inputs):
    """Natural log-probabilities of a target window's tokens: lists of sentences in, one forward pass."""
    dictionary = loaded.task.target_dictionary

    def window(sentences):
        tokens = f" {SEPARATOR} ".join(sentences).split()
        return [dictionary.index(token) for token in tokens] + [dictionary.eos()]

    src, tgt = window(source), window(target)
    (model,) = loaded.models
    context = inputs.get("context", inputs)
    inputs = {"context": context} if model.context_format.kind else {}
    with torch.no_grad():
        previous = torch.tensor([tgt[-1:] + tgt[:-1]])
        logits = model(torch.tensor([src]), torch.tensor([len(src)]), previous, **inputs)[0][0]
    logits = logits.double().numpy()
    highest = logits.max(1, keepdims=True)
    log_probs = logits - highest - np.log(np.exp(logits - highest).sum(1, keepdims=True))
    return log_probs[np.arange(len(tgt)), tgt]


# Each: log-probabilities (T,) of a reference's tokens, </s> included, with these sentences before its source.


def document_window(loaded, text, line, context):
    before, after = context[-2:], text["fr"][max(line - len(context), line - 1) : line]
    source, target = [*before, text["en"][line]], [*after, text["fr"][line]]
    sizes = {
        "current_segment": torch.tensor([len(before)]),
        "target_context_sizes": torch.tensor([len(after)]),
    }
    scores = forward(loaded, source, target, **sizes)
    return scores[len(scores) - len(text["fr"][line].split()) - 1 :]


def multi_source(loaded, text, line, context):
    dictionary = loaded.task.source_dictionary
    rows = context[-2:]
    tokens = [[*map(dictionary.index, row.split()), dictionary.eos()] for row in rows] or [[dictionary.eos()]]
    width = max(map(len, tokens))
    index = [-1] * (2 - len(rows)) + list(range(len(rows)))
    lengths = np.array([len(row) for row in tokens])
    inputs = {
        "tokens": torch.tensor([row + [dictionary.pad()] * (width - len(row)) for row in tokens]),
        "index": torch.tensor([index]),
        "distances": torch.tensor([[2, 1]]),
        "roles": torch.full((1, 2), PREVIOUS_SOURCE),
        "sizes": ContextSizes(np.array([index]), np.array([len(text["en"][line].split()) + 1]), lengths),
    }
    return forward(loaded, [text["en"][line]], [text["fr"][line]], context=inputs)


def metadata_context(loaded, text, line, context):
    encoder = load_text_encoder("discrete")
    texts, distances = [], []
    if context is not None:
        fields = json.loads(text["meta.jsonl"][line]).items()
        texts = [metadata_text(*field) for field in fields] + context[-2:] + [text["en"][line]]
        distances = [-1] * len(fields) + list(range(len(context[-2:]), 0, -1)) + [0]
    vectors = encoder.encode(texts) if texts else np.zeros((1, encoder.dimension), np.float32)
    inputs = {
        "vectors": torch.from_numpy(np.asarray(vectors, np.float32))[None],
        "distances": torch.tensor([distances or [-2]]),
    }
    return forward(loaded, [text["en"][line]], [text["fr"][line]], context=inputs)


PLAIN = {
    "document_window": document_window,
    "multi_source": multi_source,
    "metadata_context": metadata_context,
}
