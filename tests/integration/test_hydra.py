"""``fairseq-hydra-train`` with the YAML file of the examples, and what is then read of the checkpoint."""

from pathlib import Path

import pytest

from ctxmt_fairseq import Translator
from ctxmt_fairseq.checkpoints.reading import FAST_PATH, peek
from tests.integration.commands import USER_DIR, run

pytestmark = pytest.mark.slow
EXAMPLE = Path(__file__).parents[2] / "examples" / "hydra"
SIZES = [
    f"model.{side}.{name}={value}"
    for side in ("encoder", "decoder")
    for name, value in (("layers", 1), ("embed_dim", 16), ("ffn_embed_dim", 32), ("attention_heads", 2))
]
PLAIN = ("~model.segment_positions",)
ROWS = ("task._name=multi_source", *PLAIN)
VECTORS = ("task._name=metadata_context", "~task.target_context", *PLAIN)
SYSTEMS = {
    "concat_transformer": SIZES,
    "gated_context_transformer": (*SIZES, *ROWS),
    "transformer": (*SIZES, *PLAIN),
    "caching_transformer": (*SIZES, *ROWS, "+model.shortening=select"),
    "context_encoder_transformer": (*SIZES, *ROWS, "+model.context_layers=1"),
    "dual_encoder_transformer": (*SIZES, *ROWS, "+model.context_layout=joined"),
    "mtcue_transformer": (*SIZES, *VECTORS, "+model.context_layers=1"),
    "cue_transformer": (*SIZES, *VECTORS, "+model.context_qk_norm='no'"),
    "tagging_transformer": (*SIZES, *VECTORS),
    "context_gru_tiny": (*PLAIN, "~model.encoder", "~model.decoder", "+model.gru_encoder_depth=1"),
}


@pytest.mark.parametrize("arch", SYSTEMS)
def test_the_example_trains_and_loads(arch, data, contexts, tmp_path):
    options, how = [*SYSTEMS[arch]], {"device": "cpu", "max_len_b": 5}
    if "task._name=metadata_context" in options:
        options.append(f"+task.context_store={contexts}")
        how["context_store"] = contexts

    def train(updates):
        run(
            *("fairseq-hydra-train", "--config-dir", EXAMPLE, "--config-name", "windows", *options),
            *(f"common.user_dir={USER_DIR}", f"task.data={data}", f"model._name={arch}"),
            *(f"checkpoint.save_dir={tmp_path}/saved", f"hydra.run.dir={tmp_path}/log", "common.cpu=true"),
            *(f"optimization.max_update={updates}", "dataset.num_workers=0"),
            *("lr_scheduler.warmup_updates=10", "optimization.lr=[0.005]", "dataset.max_tokens=1000"),
            cwd=tmp_path,
        )
        return peek(tmp_path / "saved" / "checkpoint_last.pt")

    assert train(4)["optimizer_history"][-1]["num_updates"] == 4
    state = train(6)  # resumes
    assert state["optimizer_history"][-1]["num_updates"] == 6
    model = Translator.load(tmp_path / "saved" / "checkpoint_last.pt", **how)
    assert [len(document) for document in model.translate([["a", "b"], ["c"]])] == [2, 1]
    if arch != "context_gru_tiny":
        assert len(model.loaded.model.encoder.layers) == 1
    for name, value in model.loaded.model.named_parameters():
        assert FAST_PATH.fullmatch(name) or value.equal(state["model"][name]), name
