"""Parameters of models and of their parts, counted on the device "meta", without memory for weights."""

import argparse
from types import SimpleNamespace
from typing import Any

import torch
from fairseq.data import Dictionary
from fairseq.models import ARCH_CONFIG_REGISTRY, build_model

import ctxmt_fairseq  # noqa: F401

D = 512
ATTENTION = 4 * (D * D + D)
NORM = 2 * D


def layer(ffn):
    """Of an encoder."""
    return ATTENTION + (D * ffn + ffn) + (ffn * D + D) + 2 * NORM


LAYER = layer(2048)
STOCK = 6 * LAYER + 6 * (LAYER + ATTENTION + NORM)  # Transformer-base without embeddings


def dictionary(symbols):
    words = Dictionary()
    for number in range(symbols - len(words)):
        words.add_symbol(f"w{number}")
    return words


def parameters(arch, words, task=None, **options):
    """Their number in a model; shared ones count once.

    Args:
        words: the dictionary of both sides.
        task: what else the model asks of its task.
    """
    args = argparse.Namespace(arch=arch, **options)
    ARCH_CONFIG_REGISTRY[arch](args)
    asked: Any = {"source_dictionary": words, "target_dictionary": words, **(task or {})}
    with torch.device("meta"):
        model = build_model(args, SimpleNamespace(**asked))
    return sum(parameter.numel() for parameter in model.parameters())
