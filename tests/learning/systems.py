"""The systems of the slow tier: what each is trained with, and which contrastive sets its context answers."""

from typing import NamedTuple, Tuple

# (set, distance) pairs; distance None for sets that have one only
SOURCE = (("pronoun-distance-1", None), ("lexical-choice", None), ("ellipsis", None))
TARGET = (("lexical-cohesion", "1"), ("deixis", "1"))
FURTHER = (("pronoun-distance-2", None),)
NEXT = (("cataphora", None),)


class System(NamedTuple):
    """A row of the table: --arch ARCH_tiny with options; the rest of the command is the same for all."""

    arch: str
    options: Tuple[str, ...]
    answers: Tuple[Tuple[str, object], ...]
    task: str = "multi_source"
    updates: int = 1200


def _options(text: str) -> Tuple[str, ...]:
    return tuple(text.split())


_BOTH = "--source-context 1 --target-context-on-source 1 --batch-runs 8 "
_DUAL, _CACHING, _CONTEXT = "dual_encoder_transformer", "caching_transformer", "context_encoder_transformer"
SYSTEMS = {
    "gated": System("gated_context_transformer", _options(_BOTH), SOURCE + TARGET),
    "gated, next": System("gated_context_transformer", _options("--source-context-after 1"), NEXT),
    "dual serial": System(_DUAL, _options(_BOTH), SOURCE + TARGET),
    "dual parallel": System(_DUAL, _options(_BOTH + "--context-fusion parallel"), SOURCE + TARGET),
    "dual hierarchical": System(
        _DUAL, _options(_BOTH + "--context-fusion hierarchical"), SOURCE + TARGET, updates=1800
    ),
    "dual flat": System(_DUAL, _options(_BOTH + "--context-fusion flat"), SOURCE + TARGET, updates=6300),
    "dual shared + token": System(
        _DUAL, _options(_BOTH + "--context-encoder shared-token"), SOURCE + TARGET, updates=1800
    ),
    "dual shared + token, concat": System(
        _DUAL,
        _options(_BOTH + "--context-encoder shared-token --context-fusion concat"),
        SOURCE + TARGET,
        updates=4000,
    ),
    "dual joined": System(
        _DUAL,
        _options("--source-context 2 --target-context 1 --context-layout joined --seed 2"),
        SOURCE + FURTHER + TARGET,
        updates=2800,
    ),
    "context encoder": System(_CONTEXT, _options(_BOTH), SOURCE + TARGET),
    "context encoder, zhang": System(
        _CONTEXT, _options(_BOTH + "--context-gate zhang --context-order source-first"), SOURCE + TARGET
    ),
    "caching tokens": System(
        _CACHING,
        _options("--source-context 2 --target-context-on-source 1 --batch-runs 8"),
        SOURCE + FURTHER + TARGET,
    ),
    "caching sentence": System(
        _CACHING, _options(_BOTH + "--shortening sentence --seed 2"), SOURCE + TARGET, updates=7500
    ),
    **{
        f"shortening {kind}": System(
            _CACHING, _options(_BOTH + f"--shortening {kind}"), SOURCE + TARGET, updates=1800
        )
        for kind in ("mean", "max", "linear", "group", "select")
    },
    "context_gru": System(
        "context_gru",
        _options("--source-context 1 --target-context-on-source 1 --lr 3e-3"),
        SOURCE + TARGET,
        task="document_window",
    ),
}
# The first system of every architecture.
ARCHITECTURES = tuple({system.arch: name for name, system in reversed(SYSTEMS.items())}.values())
