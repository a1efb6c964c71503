"""What the scripts share: a random text, a program's checkpoint, both sides' numbers, and the table."""

import dataclasses
import sys
import tempfile
import types
from argparse import Namespace
from pathlib import Path

import numpy as np
import torch

EQUAL = 1e-5
IMPORTED: list = []  # the folders of the checkpoints that ctxmt import has taken over
WORDS, DOCUMENTS = 30, (4, 1, 3)
GRADIENTS = (
    "encoder.layers.0.fc1.weight",
    "decoder.layers.0.self_attn.q_proj.weight",
    "decoder.embed_tokens.weight",
)
SIZES = dict(
    encoder_embed_dim=32,
    encoder_ffn_embed_dim=48,
    encoder_layers=2,
    encoder_attention_heads=4,
    dropout=0.0,
    decoder_embed_dim=32,
    decoder_ffn_embed_dim=48,
    decoder_layers=2,
    decoder_attention_heads=4,
    share_decoder_input_output_embed=True,
    share_all_embeddings=False,
)


def shims():
    """What lets programs of their year run on this Python, NumPy and torch."""
    np.float, np.bool = float, bool
    original = dataclasses.dataclass

    def dataclass(kind=None, **options):
        def made(kind):
            found = original(kind, **options)
            if found.__hash__ is None:
                found.__hash__ = object.__hash__  # a default of another dataclass must be hashable
            return found

        return made if kind is None else made(kind)

    dataclasses.dataclass = dataclass
    sys.modules.setdefault("einops", types.SimpleNamespace(rearrange=None, repeat=None))


def checkout():
    """The path on the command line, from which the program is imported."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        print("no checkout given: skipped")
        raise SystemExit
    shims()
    path = Path(sys.argv[1])
    sys.path.insert(0, str(path))
    return path


def folder():
    return Path(tempfile.mkdtemp(prefix="against-authors-"))


def dictionary_in(path, *more):
    """Of the words and ``more``, written to a folder for both languages."""
    from fairseq.data import Dictionary  # late: the one of the program

    symbols = [*(f"w{number}" for number in range(WORDS)), *more]
    for language in ("en", "fr"):
        (path / f"dict.{language}.txt").write_text("".join(f"{symbol} 1\n" for symbol in symbols))
    return Dictionary.load(str(path / "dict.en.txt"))


def text(first=4, seed=3, eos=2):
    """Source and target sentences of random words, as tensors that end with </s>."""
    draw = np.random.default_rng(seed)
    sizes = [draw.integers(1, 7, 2) for _ in range(sum(DOCUMENTS))]
    return [
        [torch.tensor([*draw.integers(first, first + WORDS, size[side]).tolist(), eos]) for size in sizes]
        for side in (0, 1)
    ]


def document_ids():
    return [number for number, length in enumerate(DOCUMENTS) for _ in range(length)]


def randomise(model, seed=5):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            size = parameter.size(-1) ** -0.5 if parameter.dim() > 1 else 0.3
            drawn = torch.randn(parameter.shape, generator=generator) * size
            norm = name.endswith("norm.weight") or "norm2.weight" in name
            parameter.copy_(1 + drawn if norm else drawn)
            if name.endswith("embed_tokens.weight"):
                parameter[1] = 0  # pads
    return model.eval()


def save(path, model, args):
    """As fairseq's trainer saves it."""
    args = vars(args) if isinstance(args, Namespace) else args
    args = {
        name: value for name, value in args.items() if isinstance(value, (str, int, float, bool, type(None)))
    }
    state = {
        "args": None,
        "cfg": {"model": Namespace(**args), "task": Namespace(**args)},
        "model": model.state_dict(),
    }
    torch.save(
        {**state, "optimizer_history": [{"num_updates": 1}], "extra_state": {}}, path / "checkpoint.pt"
    )


def imported(path):
    """What ``ctxmt import`` makes of it."""
    from ctxmt_fairseq.cli.main import main
    from ctxmt_fairseq.generation.loading import load_models

    assert main(["import", str(path / "checkpoint.pt"), str(path / "out")]) == 0
    IMPORTED.append(path)
    return load_models(path / "out", device="cpu")


def our_batches(loaded, sources, targets, **more):
    """The batch of each line, and the number of target tokens before its current sentence."""
    from ctxmt_fairseq.tasks.search.running_document import Sentences
    from ctxmt_fairseq.text.documents import Documents

    dataset = loaded.task.build_dataset(
        "text", Sentences(sources), Sentences(targets), Documents.from_lengths(DOCUMENTS), None, False, **more
    )
    for line in range(len(sources)):
        example = dataset[line]
        yield dataset.collater([example]), example["target_first"]


def source_states(loaded, batches):
    """What the encoder makes of the source (S, D) of each of ``our_batches``."""
    encoder = loaded.models[0].encoder
    with torch.no_grad():
        return [encoder(each["net_input"]["src_tokens"], None)["encoder_out"][0][:, 0] for each, _ in batches]


def our_numbers(loaded, batch, first):
    """Log-probabilities of the current sentence (T, V), the sum of their losses, and some gradients."""
    model = loaded.models[0]
    output = model(**batch["net_input"])
    scores = model.get_normalized_probs(output, True)[0, first:]
    return numbers(model, scores, batch["target"][0, first:])


def our_scores(loaded, sources, targets):
    """The log-probability of each sentence, as contrastive sets are scored."""
    from ctxmt_fairseq.generation.forced_scoring import TranslationScorer
    from ctxmt_fairseq.text.documents import Documents

    scorer = TranslationScorer(sources, targets, Documents.from_lengths(DOCUMENTS))
    return [float(each.current.sum()) for each in scorer.scores(loaded, progress=False)]


def numbers(model, scores, target, gradients=GRADIENTS):
    """(T, V) scores, and of the label-smoothed loss over (T,) targets its value and gradients."""
    model.zero_grad()
    loss = -scores.gather(1, target[:, None]).sum()
    loss.backward()
    named = dict(model.named_parameters())
    found = {
        name: named[name].grad.clone() for name in gradients if name in named and named[name].grad is not None
    }
    return {"log-probabilities": scores.detach(), "loss": loss.detach(), "gradients": found}


class Table:
    """Rows: what was compared, the largest difference, and why it is no smaller."""

    def __init__(self, title):
        self.title, self.rows = title, []

    def add(self, what, difference, because=""):
        said = "equal" if difference < EQUAL else f"differs: {because}"
        self.rows.append((what, f"{difference:.1e}", said))

    def say(self, what, said):
        self.rows.append((what, "", said))

    def compare(self, what, ours, theirs, because="", columns=None):
        """Add the rows of two lists of ``numbers``."""
        pairs = list(zip(ours, theirs, strict=True))
        order = slice(None) if columns is None else columns
        scores = [(a["log-probabilities"][:, order] - b["log-probabilities"]).abs().max() for a, b in pairs]
        self.add(f"{what}: log-probabilities", float(max(scores)), because)
        self.add(f"{what}: loss", max(float((a["loss"] - b["loss"]).abs()) for a, b in pairs), because)
        found = [
            float((a["gradients"][name][: len(value)] - value).abs().max())
            for a, b in pairs
            for name, value in b["gradients"].items()
            if name != GRADIENTS[2] and name in a["gradients"]
        ]
        if found:
            self.add(f"{what}: gradients", max(found), because)

    def compare_states(self, what, ours, theirs):
        """Add the rows of two lists of an encoder's states."""
        found = [float((a - b).detach().abs().max()) for a, b in zip(ours, theirs, strict=True)]
        self.add(f"{what}: encoder states", max(found))

    def compare_scores(self, what, loaded, theirs, **papers):
        """Add what contrastive sets ask for, and how far the paper's rule is from it."""
        rule = ", ".join(f"{k} {v}" for k, v in papers.items())
        for options, name, because in (({}, "contrastive scores", ""), (papers, "by the paper's rule", rule)):
            pairs = zip(our_scores(loaded.with_options(**options), *text()), theirs, strict=True)
            self.add(f"{what}: {name}", max(abs(a + float(b["loss"])) for a, b in pairs), because)

    def show(self):
        print(f"\n{self.title}")
        width = max(len(row[0]) for row in self.rows)
        for what, difference, said in self.rows:
            print(f"{what:{width}}  {difference:>8}  {said}")
