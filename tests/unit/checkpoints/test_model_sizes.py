"""A checkpoint whose options describe a larger model than its parameters are is refused before memory is
taken for it, by every door."""

import copy
import tracemalloc

import pytest
import torch
from fairseq import checkpoint_utils

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.checkpoints.averaging import Checkpoint
from ctxmt_fairseq.generation.loading import load_models
from tests.helpers.allocated import peak_allocated
from tests.helpers.hostile_checkpoints import ensemble, fairseqs_own
from tests.helpers.saved_models import TINY, save, section, trained

MANY = 10_000_000  # times the 8 units of these models: 320 MB for each matrix
SYSTEMS = {
    "window": ("concat_transformer", "document_window", TINY),
    "stock": ("transformer", "translation", TINY),
    "gru": ("context_gru", "document_window", ("--gru-embed-dim", "8", "--gru-size", "8")),
    "groups": ("caching_transformer", "multi_source", (*TINY, "--shortening", "group")),
}


@pytest.fixture(scope="module")
def states(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    made = {}
    for name, (arch, task, size) in SYSTEMS.items():
        (folder / name).mkdir()
        made[name] = trained(folder / name, arch=arch, task=task, size=size)[0]
    return made


@pytest.mark.parametrize(
    "system, option, value",
    [
        ("window", "encoder_ffn_embed_dim", MANY),
        ("window", "decoder_embed_dim", MANY),
        ("window", "max_source_positions", MANY),  # a table that is no parameter
        ("window", "decoder_ffn_embed_dim", 2**60),
        ("stock", "encoder_ffn_embed_dim", MANY),
        ("stock", "adaptive_softmax_cutoff", f"{MANY}"),
        ("gru", "gru_size", MANY),
        ("groups", "shortening_size", MANY),
    ],
)
@pytest.mark.parametrize("load", [ensemble, fairseqs_own, load_models])
def test_what_the_options_describe_is_what_the_file_has(states, tmp_path, system, option, value, load):
    if load is load_models and system == "stock":
        pytest.skip("not of this plugin's tasks")
    state = copy.deepcopy(states[system])
    assert option in section(state, "model")
    section(state, "model")[option] = value
    path = save(tmp_path / "large.pt", state)

    def refuse():
        with pytest.raises(BadInput) as refused:
            load(str(path))
        assert str(refused.value).startswith(f"{path}: ") and "\n" not in str(refused.value)

    assert peak_allocated(refuse, torch.device("cpu")) < 50


def test_more_parameters_than_the_file_has(states, tmp_path):
    """Layers are counted by what they are made of: the checkpoint has enough names for their number."""
    state = copy.deepcopy(states["window"])
    state["model"].update({f"layer.{number}": torch.zeros(1) for number in range(2000)})
    section(state, "model")["encoder_layers"] = 2000
    made = []
    original = torch.nn.LayerNorm.__init__

    def counted(self, *args, **kwargs):
        made.append(1)
        original(self, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(BadInput, match="more of them"):
        patch.setattr(torch.nn.LayerNorm, "__init__", counted)
        ensemble(save(tmp_path / "deep.pt", state))
    assert len(made) < 1000


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_check_changes_nothing(states, tmp_path, system):
    path = save(tmp_path / "good.pt", states[system])
    (model,), _, _ = ensemble(path)
    assert all(parameter.device.type == "cpu" for parameter in model.parameters())
    for name, value in model.state_dict().items():
        if name in states[system]["model"]:
            assert torch.equal(value, states[system]["model"][name])
    positions = [module.weights for module in model.modules() if hasattr(module, "weights")]
    assert all(torch.isfinite(table).all() and table.abs().sum() > 0 for table in positions)


def test_batches_are_not_padded_to_what_a_checkpoint_says(states, tmp_path):
    state = copy.deepcopy(states["window"])
    section(state, "task")["required_seq_len_multiple"] = MANY
    with pytest.raises(BadInput, match="--required-seq-len-multiple"):
        load_models(save(tmp_path / "padded.pt", state))


def test_several_files_a_checkpoint_are_refused(states, tmp_path):
    path = save(tmp_path / "a.pt", states["window"])
    with pytest.raises(BadInput, match="--checkpoint-shard-count 2"):
        checkpoint_utils.load_model_ensemble([str(path)], strict=False, num_shards=2)


class Calls:
    """Is pickled as a call."""

    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call[0], self.call[1:]


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("call", [(bytearray, MANY), (torch.Tensor, MANY, 8), (torch.cuda.FloatTensor, MANY)])
def test_a_file_cannot_ask_for_memory(states, tmp_path, call, zipped):
    state = copy.deepcopy(states["window"])
    first = next(iter(state["model"]))
    state["model"][first] = Calls(*call)
    path = tmp_path / "small.pt"
    torch.save(state, path, _use_new_zipfile_serialization=zipped)
    tracemalloc.start()
    try:
        with pytest.raises(BadInput, match="small.pt: is no checkpoint, or a damaged one: it calls "):
            load_models(str(path))
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()


def test_lists_in_lists_are_no_settings(states, tmp_path):
    state, nested = copy.deepcopy(states["window"]), [0] * 10
    for _ in range(6):
        nested = [nested] * 10
    state["task_state"]["context"]["anything"] = nested
    state["task_state"]["store"] = {"encoder": nested, "dimension": nested, "tags": nested}
    assert sum(map(len, Checkpoint.read(save(tmp_path / "lists.pt", state)).settings.values())) < 10_000
