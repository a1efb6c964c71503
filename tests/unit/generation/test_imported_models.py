"""Checkpoints of the authors' programs: renamed by hand from ours, they come back as they were."""

import argparse
import math
import re

import pytest
import torch

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.generation import authors_models  # noqa: F401
from ctxmt_fairseq.generation.imported_models import import_model, read_checkpoint
from ctxmt_fairseq.generation.loading import load_models
from tests.helpers.context_stores import make_store, write_split
from tests.helpers.saved_models import save, trained

LEARNED = {"context_sentence_learned_pos": True, "shortening_group_learned_pos": True}
GROUPS = {"shortening_groups": 9, "shortening_ffn_hidden": 512, "shortening_use_sparsemax": True}
CONTEXT = {"source_context_size": 2, "target_context_size": 0}


def focused(parameters):
    """Their sentences end with </s>, and windows with <END>: symbol 2 and one behind those of the file."""
    table = parameters.pop("encoder.embed_positions.segment_table.weight")[:4]
    del parameters["decoder.embed_positions.segment_table.weight"]
    for side in ("encoder", "decoder"):
        parameters[f"{side}.embed_segments.weight"] = table
    separator = len(parameters["encoder.embed_tokens.weight"]) - 2
    for name, rows in list(parameters.items()):
        if name.endswith(("embed_tokens.weight", "output_projection.weight")):
            rows = rows[:-1].clone()
            rows[[2, separator]] = rows[[separator, 2]]
            parameters[name] = rows


def shortening(parameters):
    del parameters["encoder.context_embeddings.roles.weight"]
    segments = parameters.pop("encoder.context_embeddings.segments.weight")
    places = parameters.pop("encoder.context_embeddings.positions.weight")
    pad = torch.zeros(1, places.size(1))
    parameters["encoder.group_positions.weight"] = torch.cat([pad, places])
    parameters["decoder.sentence_positions.weight"] = torch.cat([pad, segments[:3].flip(0), pad])


def mtcue(parameters):
    for name in ("cxt_encoder.lin_proj.weight", "cxt_encoder.doc_pos_embed.weight"):
        parameters[name] = parameters[name] / math.sqrt(8)
    del parameters["cxt_encoder.lin_proj.bias"]
    parameters["cxt_encoder.layers.0.fc1_bias"] = torch.zeros(8)  # fairseq 0.12.2's fast path
    for name in [name for name in parameters if name.endswith("scaling.scale")]:
        parameters[name] = parameters[name][0]


# Ours: task, architecture, options; what its parameters are called there, and what else is different; theirs.
FAMILIES = {
    "contextual-mt": (
        ("document_window", "transformer", ("--source-context", "2")),
        (),
        None,
        {"arch": "contextual_transformer", "source_context_size": 2, "target_context_size": 1},
    ),
    "focused-concat": (
        (
            "document_window",
            "concat_transformer",
            ("--segment-positions", "learned", "--segment-types", "distance"),
        ),
        (),
        focused,
        {
            "arch": "concat_lrn_seg",
            "num_sent": 3,
            "mode": "slide_n2n",
            "use_segment_emb": True,
            "lrn_segment_emb": True,
        },
    ),
    "shortening": (
        (
            "multi_source",
            "caching_transformer",
            ("--shortening", "group", "--context-fusion", "separate", "--context-gate", "branch"),
        ),
        (
            ("encoder.context_shortening.categoriser", "encoder.shortening_cat"),
            ("encoder.context_shortening.attention.attention", "encoder.shortening_attn"),
            ("encoder.context_shortening.attention.layer_norm", "encoder.shortening_layer_norm"),
            ("context_attn.attention", "context_attn"),
            ("context_gate.projection", "context_gate.0"),
        ),
        shortening,
        {
            "arch": "shortening_contextual_transformer",
            **CONTEXT,
            **LEARNED,
            **GROUPS,
            "context_use_parallel_cross_attention": True,
            "context_use_gated_context_attention": True,
        },
    ),
    "MTCue": (
        (
            "metadata_context",
            "mtcue_transformer",
            (
                "--context-fusion",
                "parallel-mean",
                "--context-qk-norm",
                "all",
                "--source-context",
                "2",
                "--context-layers",
                "1",
            ),
        ),
        (
            ("encoder.context_encoder.projection", "cxt_encoder.lin_proj"),
            ("encoder.context_encoder.distance_embeddings", "cxt_encoder.doc_pos_embed"),
            ("encoder.context_encoder.", "cxt_encoder."),
            ("context_attn.attention", "encoder_attn2"),
            ("qk_scale", "scaling.scale"),
        ),
        mtcue,
        {
            "arch": "mtcue_aug_parallel_qk",
            "doc_context_len": 3,
            "context_layer": 1,
            "context_inclusion": "aug",
        },
    ),
}


def given(folder, family):
    """A program's checkpoint with its dictionaries, and our parameters that it was made of."""
    (task, arch, options), names, change, theirs = FAMILIES[family]
    more = ()
    if task == "metadata_context":
        (folder / "data").mkdir()
        write_split(folder, "train")
        (folder / "data" / "train.en-fr.docids").write_text("0\n" * 6)
        more = ("--context-store", str(make_store(folder, "train")[0]))
    state, args = trained(folder, *options, *more, arch=arch, task=task)
    ours = state["model"]
    for name, parameter in ours.items():
        if name.endswith("context_encoder.projection.bias"):
            parameter.zero_()
        elif parameter.is_floating_point() and parameter.dim():
            torch.nn.init.normal_(parameter, std=0.5)
    tables = [name for name in ours if name.endswith("segment_table.weight")]
    ours.update((name, ours[tables[0]]) for name in tables)  # they have one for both sides
    ours["encoder.version"], ours["decoder.version"] = torch.tensor([3.0]), torch.tensor([3.0])
    parameters = {}
    for name, value in ours.items():
        for new, old in names:
            name = name.replace(new, old)
        parameters[name] = value.clone()
    if change is not None:
        change(parameters)
    if family != "focused-concat":
        for language in ("en", "fr"):
            with open(folder / "data" / f"dict.{language}.txt", "a") as stream:
                stream.write("<brk> 1\n<mask> 1\n")
    options = {name: value for name, value in vars(args).items() if type(value) in (int, float, str, bool)}
    values = argparse.Namespace(**{**options, **theirs})
    model = argparse.Namespace(**{**vars(values), "source_lang": None, "target_lang": None})  # the task's
    old = {"args": values} if family == "focused-concat" else {"cfg": {"task": values, "model": model}}
    return save(folder / "theirs.pt", {**old, "model": parameters}), ours


@pytest.mark.parametrize("family", FAMILIES)
def test_parameters_and_options_come_back(family, tmp_path, capsys, refusal):
    path, ours = given(tmp_path, family)
    assert main(["import", str(path), str(tmp_path / "out"), "--data", str(tmp_path / "data")]) == 0
    assert FAMILIES[family][0][1] in capsys.readouterr().out
    for given_twice in ((path, "--source-lang", "de"), (tmp_path / "out", "--data", tmp_path / "data")):
        assert "--data is for a checkpoint, and the options of languages" in refusal(
            main, ["import", str(given_twice[0]), str(tmp_path / "new"), *map(str, given_twice[1:])]
        )
    loaded = load_models(tmp_path / "out", device="cpu")
    found = loaded.models[0].state_dict()
    assert found.keys() == ours.keys()
    for name, expected in ours.items():
        value = found[name]
        if "segments.weight" in name or "segment_table" in name:  # their tables end; ours repeat the last row
            value, expected = value[:3], expected[:3]
        elif "roles" in name:
            assert not value.any()
            continue
        elif len(value) and name.endswith(("embed_tokens.weight", "output_projection.weight")):
            value, expected = value[:-1], expected[:-1]  # <mask> is new to focused-concat
        torch.testing.assert_close(value, expected, atol=1e-6, rtol=1e-6, msg=name)
    options = loaded.task.options
    expected = {"contextual-mt": (2, 1), "focused-concat": (2, 2), "shortening": (2, 0), "MTCue": (2, 0)}
    assert (options["source_context"], options["target_context"]) == expected[family]


def test_symbols_that_a_program_lacks_have_a_logit_of_minus_30(tmp_path):
    path, _ = given(tmp_path, "focused-concat")
    import_model(read_checkpoint(path, tmp_path / "data"), tmp_path / "out")
    model = load_models(tmp_path / "out", device="cpu").models[0]
    nothing = {"current_segment": torch.tensor([0]), "target_context_sizes": torch.tensor([0])}
    tokens = torch.tensor([[4, 5, 2]]), torch.tensor([3]), torch.tensor([[2, 6, 7]])
    logits, _ = model(*tokens, context=nothing)
    torch.testing.assert_close(logits[..., -1], torch.full((1, 3), -30.0), atol=1e-3, rtol=0)


@pytest.mark.parametrize(
    "family, change, message",
    [
        ("contextual-mt", {"arch": "transformer"}, "expected an architecture of neulab/contextual-mt"),
        ("contextual-mt", {"multi_encoder": True}, "--multi-encoder True: this cannot be imported"),
        ("contextual-mt", {"source_lang": "../en"}, "the names of two languages"),
        ("contextual-mt", {"source_context_size": 10**9}, "source-context"),
        ("contextual-mt", {"encoder_layers": 2}, "does not fit"),
        ("shortening", {"shortening_groups": "x"}, "theirs.pt: --shortening-size: expected int"),
        ("shortening", {"shortening_ffn_hidden": 64}, "only 512"),
        ("MTCue", {"context_inclusion": "cxt-src-concat"}, "--context-inclusion cxt-src-concat"),
    ],
)
def test_what_cannot_be_imported_is_refused_and_leaves_nothing(family, change, message, tmp_path):
    path, _ = given(tmp_path, family)
    state = torch.load(path, weights_only=False)
    for name, value in change.items():
        setattr(state["cfg"]["task" if name == "source_lang" else "model"], name, value)
    save(path, state)
    with pytest.raises(BadInput, match=re.escape(message)):
        import_model(read_checkpoint(path, tmp_path / "data"), tmp_path / "out")
    assert not (tmp_path / "out").exists()
