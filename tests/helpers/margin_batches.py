"""A small batch of windows, a model whose scores are easy to follow, and the thesis' equations in NumPy."""

import numpy as np
import torch
from fairseq.models import BaseFairseqModel

from ctxmt_fairseq.criterions.context_margin import (
    LEVELS,
    ContextMarginCriterion,
    ContextMarginCriterionConfig,
)
from ctxmt_fairseq.data.context_exchange import WindowFormat, exchange_windows
from ctxmt_fairseq.data.context_sizes import WindowParts
from tests.helpers.window_datasets import EOS, PAD, SEP, VOCABULARY, joined

EPSILON = 0.1
MARGINS = {"margin_data": 0.3, "margin_sentence": 0.2, "margin_token": 0.1}
SOURCE, TARGET = WindowFormat(SEP, PAD, EOS, left_pad=True), WindowFormat(SEP, PAD, EOS)


class Task:
    """What a criterion and a model ask of their task."""

    source_dictionary = target_dictionary = VOCABULARY

    def exchange_context(self, sample, order):
        return exchange_windows(sample, order, SOURCE, TARGET)


class Bag(BaseFairseqModel):
    """Scores each next token by the one before it and by the means of the source and the target window."""

    def __init__(self, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        self.table = torch.nn.Parameter(torch.randn(3, len(VOCABULARY), len(VOCABULARY), dtype=torch.float64))

    def forward(self, src_tokens, src_lengths, prev_output_tokens):
        def mean(table, tokens):
            real = tokens.ne(PAD).unsqueeze(-1)
            return ((table[tokens] * real).sum(1) / real.sum(1)).unsqueeze(1)

        previous, source, target = self.table
        logits = previous[prev_output_tokens] + mean(source, src_tokens) + mean(target, prev_output_tokens)
        return (logits,)

    def get_normalized_probs(self, net_output, log_probs, sample=None):
        return torch.log_softmax(net_output[0], -1)  # fairseq's gives float32


# (source before, current source, source after), (target before, current target), in words; the first example
# has no context
TEXT = [
    (([], [21, 22], []), ([], [23, 24, 25])),
    (([[26]], [27], [[28, 29]]), ([[31], [32, 33]], [34, 35])),
    (([[36, 37], [38]], [39], []), ([[41]], [42, 43, 44, 45])),
    (([[46]], [47, 48], []), ([], [])),
]


def windows(current, context):
    """The source and the target window, as lists, of one example's current sentence in another's context."""
    ((_, source, _), (_, target)), ((before, _, after), (target_before, _)) = TEXT[current], TEXT[context]
    return tuple(
        joined([[*sentence, EOS] for sentence in sentences])
        for sentences in ([*before, source, *after], [*target_before, target])
    )


def _span(before, current, _):
    """A current sentence's first token and the first after it."""
    return _size(before), _size(before) + len(current) + 1


def sample(chosen=(0, 1, 2, 3)):
    pairs = [windows(number, number) for number in chosen]
    width, target_width = (max(len(pair[side]) for pair in pairs) for side in (0, 1))
    target = torch.tensor([row + [PAD] * (target_width - len(row)) for _, row in pairs])
    previous = [[EOS, *row[:-1]] + [PAD] * (target_width - len(row)) for _, row in pairs]
    texts = [TEXT[number] for number in chosen]
    return {
        "id": torch.tensor(chosen),
        "ntokens": sum(len(row) for _, row in pairs),
        "net_input": {
            "src_tokens": torch.tensor([[PAD] * (width - len(row)) + row for row, _ in pairs]),
            "src_lengths": torch.tensor([len(row) for row, _ in pairs]),
            "prev_output_tokens": torch.tensor(previous),
        },
        "target": target,
        "windows": {
            "current_segment": torch.tensor([len(source[0]) for source, _ in texts]),
            "current_span": torch.tensor([_span(*source) for source, _ in texts]),
            "target_context_sizes": torch.tensor([len(target[0]) for _, target in texts]),
        },
        "parts": WindowParts(
            np.array(chosen),
            np.array([], np.int64),
            np.array([], np.int64),
            np.array([len(row) for row, _ in pairs]),
            np.array([len(target[0]) for _, target in texts]),
            _parts([source for source, _ in texts]),
            _parts([(*target, []) for _, target in texts]),
        ),
    }


def _parts(sides):
    """Tokens before, of and after the current sentence, each sentence with its end."""
    return np.array([(_size(before), len(current) + 1, _size(after)) for before, current, after in sides])


def _size(sentences):
    return sum(len(sentence) + 1 for sentence in sentences)


def criterion(task=None, **options):
    given = {"sentence_avg": False, "label_smoothing": EPSILON, **options}
    return ContextMarginCriterion(ContextMarginCriterionConfig(**given), task or Task())


NOTHING = {f"margin_{level}_weight": 0.0 for level in LEVELS}


def only(level, **options):
    return criterion(**{**NOTHING, f"margin_{level}_weight": 1.0, **MARGINS, **options})


# ---- the thesis


def log_softmax(logits):
    return logits - np.log(np.exp(logits - logits.max()).sum()) - logits.max()


def token_scores(model, current, context):
    """log p of each current target token and </s>, in one window: equation 2.8, s_tok."""
    previous, source, target = model.table.detach().numpy()
    source_window, target_window = windows(current, context)
    decoder_input = [EOS, *target_window[:-1]]
    shared = source[source_window].mean(0) + target[decoder_input].mean(0)
    scores = [log_softmax(previous[a] + shared)[b] for a, b in zip(decoder_input, target_window, strict=True)]
    return np.array(scores[-(len(TEXT[current][1][1]) + 1) :])


def from_the_thesis(model, orders, other_model=None):
    """Equations 2.8 to 2.10 with the random contexts of ``orders``, a list of M permutations, and the gap.

    ``other_model``, if there is one, gives the scores with random contexts.
    """
    delta_data, delta_sentence, delta_token = MARGINS.values()
    result = dict.fromkeys([*LEVELS, "gap", "tokens"], 0.0)
    data = 0.0
    for current in range(len(TEXT)):
        own = token_scores(model, current, current)
        random = [token_scores(other_model or model, current, order[current]) for order in orders]
        sentence = np.log(np.mean([np.exp(scores.sum()) for scores in random]))
        data += own.sum() - sentence
        result["sentence"] += max(0, len(own) * delta_sentence - own.sum() + sentence)
        for place, score in enumerate(own):
            without = np.log(np.mean([np.exp(scores[place]) for scores in random]))
            result["token"] += max(0, delta_token - score + without)
            result["gap"] += score - without
            result["tokens"] += 1
    result["data"] = max(0, result["tokens"] * delta_data - data)
    return result
