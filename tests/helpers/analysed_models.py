"""Tiny models with a handful of subwords, as the commands load them."""

import argparse

import torch
from fairseq.data import Dictionary
from fairseq.models import ARCH_CONFIG_REGISTRY

from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.generation.loading import LoadedModels
from ctxmt_fairseq.tasks.multi_source import MultiSourceConfig, MultiSourceTask

SUBWORDS = "▁It ▁was ▁a ▁beat ing ▁heart . , ! ▁— ▁Il ▁bat ▁coeur ▁un".split()
POSITIONS = 60


def loaded_model(arch, context, seed=1, task=(MultiSourceTask, MultiSourceConfig), **options):
    """A random model in evaluation mode.

    Args:
        context: options of the task.
        options: of the model.
    """
    dictionary = Dictionary()
    for piece in SUBWORDS:
        dictionary.add_symbol(piece)
    config = {"seed": 1, "required_seq_len_multiple": 1, **context}
    kind, configuration = task
    task = kind(configuration(**config), dictionary, dictionary)
    sizes = {"encoder_embed_dim": 32, "max_source_positions": POSITIONS, "max_target_positions": POSITIONS}
    args = argparse.Namespace(arch=f"{arch}_tiny", dropout=0.1, **sizes, **options)
    ARCH_CONFIG_REGISTRY[args.arch](args)
    torch.manual_seed(seed)
    model = task.build_model(args).eval()
    for parameter in model.parameters():  # fairseq's first weights make an attention uniform: no error shows
        torch.nn.init.normal_(parameter, std=0.4 if parameter.dim() > 1 else 0.2)
    for module in model.modules():
        if isinstance(module, torch.nn.LayerNorm):
            torch.nn.init.normal_(module.weight, 1, 0.2)
    if hasattr(model.decoder, "layers"):  # untrained transformers would never end a translation
        torch.nn.init.ones_(model.decoder.layers[-1].final_layer_norm.bias)
        torch.nn.init.constant_(model.decoder.output_projection.weight[dictionary.eos()], 0.3)
    return LoadedModels([model], task, torch.device("cpu"), Subwords(), Subwords())


def encode(loaded, *words):
    """Tokens (L,) of subwords and special symbols, as they are."""
    return torch.tensor([loaded.task.source_dictionary.index(word) for word in words])
