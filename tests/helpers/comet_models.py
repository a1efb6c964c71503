"""Tiny models of COMET, with random weights, as its users have them on the disk."""

import torch
import yaml
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import XLMRobertaConfig, XLMRobertaTokenizerFast

POSITIONS = 34  # of the encoder; COMET cuts off what follows token 30
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
OPTIONS = {
    "encoder_model": "XLM-RoBERTa", "pretrained_model": "encoder", "hidden_sizes": [12, 6], "pool": "avg",
    "layer": "mix", "layer_norm": False, "nr_frozen_epochs": 0.3, "activations": "Tanh", "dropout": 0.1,
}  # fmt: skip


def write_encoder(folder):
    """The configuration and tokenizer of an XLM-R whose words are single letters and blanks."""
    letters = ["\u2581", *"abcdefghijklmnopqrstuvwxyz."]
    vocabulary = [(symbol, 0.0) for symbol in SPECIAL] + [(letter, -2.0) for letter in letters]
    tokenizer = Tokenizer(models.Unigram([*vocabulary, ("<mask>", 0.0)], unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    XLMRobertaTokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)
    XLMRobertaConfig(
        vocab_size=len(vocabulary) + 1, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=POSITIONS, type_vocab_size=1, pad_token_id=1,
        bos_token_id=0, eos_token_id=2,
    ).save_pretrained(folder)  # fmt: skip


def write_comet(folder, kind="regression_metric", seed=1, **options):
    """A model of one of COMET's classes; returns its folder."""
    from comet.models import str2model

    write_encoder(folder / "encoder")
    torch.manual_seed(seed)
    options = {**OPTIONS, **options}
    built = {**options, "pretrained_model": str(folder / "encoder")}
    model = str2model[kind](**built, load_pretrained_weights=False, local_files_only=True)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    write_files(folder, {**options, "class_identifier": kind}, model.state_dict())
    return folder


def write_files(folder, options, parameters, **more):
    """As Lightning saves them."""
    (folder / "hparams.yaml").write_text(yaml.safe_dump(options))
    (folder / "checkpoints").mkdir(exist_ok=True)
    state = {
        "state_dict": parameters,
        "hyper_parameters": options,
        "pytorch-lightning_version": "2.0.0",
        **more,
    }
    torch.save(state, folder / "checkpoints" / "model.ckpt")
