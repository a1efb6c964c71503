"""lorelupo/focused-concat (Lupo et al. 2022) beside ours.

It is a fairseq of its own, so a process of its own runs it.
"""

import argparse
import logging
import os
import re
import subprocess
import sys
import types
from argparse import Namespace
from pathlib import Path

import torch

from scripts.against_authors import comparison as c

CASES = {
    "plain": {},
    "shift 5": {"segment_shifted_positions": True, "position_shift": 5},
    "shift by the window's mean": {"segment_shifted_positions": True, "position_shift": -1},
    "learned segments": {"use_segment_emb": True, "lrn_segment_emb": True},
    "sinusoidal segments": {"use_segment_emb": True},
}
DISCOUNTS = (1, 0.5, 0.01, 0)
SENTENCES = 3


def build(path, options, layers=2):
    """Their model, its dictionary and options."""
    from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_REGISTRY

    path.mkdir()
    dictionary = c.dictionary_in(path)
    dictionary.add_symbol("<END>")
    parser = argparse.ArgumentParser()
    ARCH_MODEL_REGISTRY["concat_voita_fairseq"].add_args(parser)
    defaults = {name: value for name, value in vars(parser.parse_args([])).items() if value is not None}
    sizes = {**c.SIZES, "encoder_layers": layers, "decoder_layers": layers}
    given = dict(
        **sizes,
        **options,
        arch="concat_voita_fairseq",
        source_lang="en",
        target_lang="fr",
        num_sent=SENTENCES,
        mode="slide_n2n",
        need_seg_label=True,
        add_doc_markup=False,
        encoder_layers_to_keep=None,
        decoder_layers_to_keep=None,
        max_source_positions=1024,
        max_target_positions=1024,
        pse_segment_dim=0,
        need_encoder_self_attn=layers == 6,
        need_decoder_self_attn=layers == 6,
        need_cross_attn=0,
    )
    args = Namespace(**{**defaults, **given})
    ARCH_CONFIG_REGISTRY[args.arch](args)
    task = Namespace(source_dictionary=dictionary, target_dictionary=dictionary)
    model = c.randomise(ARCH_MODEL_REGISTRY[args.arch].build_model(args, task))
    state = {
        "args": args,
        "model": model.state_dict(),
        "optimizer_history": [{"num_updates": 1}],
        "extra_state": {},
    }
    torch.save(state, path / "checkpoint.pt")
    return model, dictionary


def their_batches(dictionary):
    from fairseq.data.sent2doc_dataset import Sent2DocDataset

    sources, targets = c.text()
    heads = [sum(c.DOCUMENTS[:number]) for number in range(len(c.DOCUMENTS))]
    dataset = Sent2DocDataset(
        "train", sources, [len(s) for s in sources], dictionary,
        targets, [len(s) for s in targets], dictionary, heads,
        mode="slide_n2n", num_sent=SENTENCES, need_seg_label=True, shuffle=False,
    )  # fmt: skip
    dataset.ordered_indices()
    for line in range(len(sources)):
        yield dataset.collater([dataset[line]])


def child(folder):
    """In the process of their fairseq: what it computes, as a file for each case."""
    for name in ("data_utils_fast", "token_block_utils_fast"):
        sys.modules[f"fairseq.data.{name}"] = types.ModuleType(name)
    import fairseq  # noqa: F401
    from fairseq.tasks.doc2doc_translation import Doc2DocTranslation

    for case, options in CASES.items():
        path = folder / case
        model, dictionary = build(path, options)
        found = []
        for batch in their_batches(dictionary):
            output = model(**batch["net_input"])
            scores = model.get_normalized_probs(output, True)[0]
            one = c.numbers(model, scores, batch["target"][0])
            losses = -one["log-probabilities"].gather(1, batch["target"][0][:, None])[:, 0]
            for discount in DISCOUNTS:
                task = Namespace(context_discount=discount)
                labels = batch["net_input"]["po_segment_labels"]
                weights = Doc2DocTranslation.build_loss_weights(task, batch["target"], labels)
                one[discount] = (
                    float((weights.view(-1) * losses).sum()) if discount != 1 else float(losses.sum())
                )
            found.append(one)
        torch.save(found, path / "numbers.pt")
    attention(folder / "attention")


def attention(path):
    lines = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    logging.getLogger("fairseq.models.concat_transformer").addHandler(handler)
    logging.getLogger("fairseq.models.concat_transformer").setLevel(logging.INFO)
    model, dictionary = build(path, {}, layers=6)
    for batch in their_batches(dictionary):
        model(**batch["net_input"])
    found = {
        (side, what): [
            float(line.split()[-1]) for line in lines if line.startswith(f"{side} all layer {what}")
        ]
        for side in ("Encoder", "Decoder")
        for what in ("cur2cur attn", "avg attn entropy")
    }
    torch.save(found, path / "numbers.pt")


def compare(folder, table):
    for case in CASES:
        loaded = c.imported(folder / case)
        theirs = torch.load(folder / case / "numbers.pt")
        order = torch.arange(theirs[0]["log-probabilities"].size(1))
        order[[2, len(order) - 1]] = order[[len(order) - 1, 2]]  # </s> and <END> are our <sep> and </s>
        batches = [batch for batch, _ in c.our_batches(loaded, *c.text())]
        ours = [c.our_numbers(loaded, batch, 0) for batch in batches]
        table.compare(case, ours, theirs, columns=order)
        for discount in DISCOUNTS:
            pairs = zip(ours, theirs, batches, strict=True)
            differences = [
                abs(loss(loaded, mine, batch, discount) - one[discount]) for mine, one, batch in pairs
            ]
            table.add(f"{case}: discount {discount}", max(differences))
    path = folder / "attention"
    loaded, theirs = c.imported(path), torch.load(path / "numbers.pt")
    for rule in ("program", "paper"):
        found = our_attention(loaded, path, rule)
        for key, values in theirs.items():
            side, what = key[0].lower(), "share" if key[1].startswith("cur") else "entropy"
            difference = float(abs(found[side, what] - torch.tensor(values)).nan_to_num(0).max())
            table.add(f"attention {what} of the {side}, --rule {rule}", difference, "the paper's rule")


def loss(loaded, mine, batch, discount):
    from ctxmt_fairseq.criterions.context_discounted import target_weights

    words = loaded.task.target_dictionary
    weights = target_weights(batch["target"], words.index("<sep>"), words.pad(), discount)[0]
    return -float((weights * mine["log-probabilities"].gather(1, batch["target"][0][:, None])[:, 0]).sum())


def our_attention(loaded, path, rule):
    from ctxmt_fairseq.analysis.window_attention import window_attention
    from ctxmt_fairseq.evaluation.probe.probed_text import read_probed_text

    for language, sentences in zip(("en", "fr"), c.text(), strict=True):
        lines = [" ".join(f"w{token - 4}" for token in sentence.tolist()[:-1]) for sentence in sentences]
        (path / f"text.{language}").write_text("".join(f"{line}\n" for line in lines))
    (path / "text.docids").write_text("".join(f"{number}\n" for number in c.document_ids()))
    found = window_attention(loaded, read_probed_text(str(path / "text"), loaded), rule=rule)
    entropies = {side: torch.tensor(found.entropy(f"{side} self")) for side in ("encoder", "decoder")}
    shares = {(side, "share"): torch.tensor(values) for side, values in found.shares.items()}
    return {**shares, **{(side, "entropy"): values for side, values in entropies.items()}}


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "child":
        c.shims()
        child(Path(sys.argv[3]))
        return
    path = c.checkout()
    sys.path.remove(str(path))
    folder = c.folder()
    paths = os.pathsep.join([str(path.resolve()), os.getcwd()])
    command = [sys.executable, "-m", "scripts.against_authors.focused_concat", "child", path, folder]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": paths}, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(re.sub(r"(?s).*(Traceback)", r"\1", done.stderr))
    table = c.Table("lorelupo/focused-concat and ours with --segment-types distance")
    compare(folder, table)
    from scripts.against_authors.usage import used  # the child's fairseq is another one

    table.say("used and trained on", used(c.IMPORTED[0]))
    table.show()


if __name__ == "__main__":
    main()
