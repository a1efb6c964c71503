"""Models that a YAML file of ``fairseq-hydra-train`` describes are those of the command line."""

import pytest
import torch
from fairseq import options, tasks
from fairseq.dataclass.initialize import add_defaults, hydra_init
from fairseq.dataclass.utils import convert_namespace_to_omegaconf, omegaconf_no_object_check
from fairseq.models import ARCH_MODEL_REGISTRY
from fairseq.trainer import Trainer
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.checkpoints.fairseq_fixes import CHECKS
from ctxmt_fairseq.checkpoints.options import declared_options
from ctxmt_fairseq.checkpoints.shapes import shapes_only
from ctxmt_fairseq.checkpoints.yaml_files import check_configurations
from ctxmt_fairseq.models.context_model import MultiSourceModel
from ctxmt_fairseq.models.metadata_model import MetadataModel
from tests.helpers.saved_models import data_folder

TASKS = {MultiSourceModel: "multi_source", MetadataModel: "metadata_context"}
OURS = {
    name: kind for name, kind in ARCH_MODEL_REGISTRY.items() if kind.__module__.startswith("ctxmt_fairseq.")
}
TINY = [name for name in OURS if name.endswith("_tiny")]
MEASURED = {"vector_dimension": 7, "contexts_per_sample": 3.0, "tag_count": 9}  # without a context store
YAML = """# @package _group_
task: {_name: "", data: "", source_lang: en, target_lang: fr}
model: {_name: ""}
criterion: {_name: cross_entropy}
optimizer: {_name: adam}
lr_scheduler: {_name: fixed}
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return data_folder(tmp_path_factory.mktemp("data"))


def task_of(arch):
    return next(
        (task for kind, task in TASKS.items() if issubclass(ARCH_MODEL_REGISTRY[arch], kind)),
        "document_window",
    )


def by_command_line(data, arch, *words):
    line = [str(data), "--source-lang", "en", "--target-lang", "fr", "--task", task_of(arch), "--arch", arch]
    args = options.parse_args_and_arch(options.get_training_parser(), [*line, "--optimizer", "adam", *words])
    return convert_namespace_to_omegaconf(args)


def by_hydra(data, folder, arch, *overrides):
    """The configuration as ``fairseq_cli.hydra_train`` hands it on."""
    (folder / "windows.yaml").write_text(YAML)
    hydra_init("windows")
    GlobalHydra.instance().clear()
    named = (f"task._name={task_of(arch)}", f"task.data={data}", f"model._name={arch}")
    with initialize_config_dir(str(folder)):
        cfg = compose("windows", overrides=[*named, *overrides])
    add_defaults(cfg)
    with omegaconf_no_object_check():
        cfg = OmegaConf.create(OmegaConf.to_container(cfg, resolve=True, enum_to_str=True))
    OmegaConf.set_struct(cfg, True)
    return cfg


def built(cfg, monkeypatch):
    task = tasks.setup_task(cfg.task)
    if cfg.task._name == "metadata_context":
        for name, value in MEASURED.items():
            monkeypatch.setattr(type(task), name, value, raising=False)
    torch.manual_seed(1)
    return task.build_model(cfg.model)


@pytest.mark.parametrize("arch", TINY)
def test_the_same_parameters(arch, data, tmp_path, monkeypatch):
    deeper = "gru_encoder_depth" if arch.startswith("context_gru") else "encoder_layers"
    line = by_command_line(data, arch, f"--{deeper.replace('_', '-')}", "3", "--dropout", "0.3")
    ours = built(by_hydra(data, tmp_path, arch, f"+model.{deeper}=3", "+model.dropout=0.3"), monkeypatch)
    theirs = built(line, monkeypatch)
    assert [*ours.state_dict()] == [*theirs.state_dict()]
    assert all(value.equal(theirs.state_dict()[name]) for name, value in ours.state_dict().items())
    for name in declared_options(OURS[arch]):
        assert getattr(ours.args, name, None) == getattr(theirs.args, name, None), name


@pytest.mark.parametrize("arch", ["transformer_tiny", "lstm"])
def test_fairseqs_own_have_the_same_size(arch, data, tmp_path, monkeypatch):
    one, other = (
        built(cfg, monkeypatch) for cfg in (by_command_line(data, arch), by_hydra(data, tmp_path, arch))
    )
    shapes = [{name: each.shape for name, each in model.named_parameters()} for model in (one, other)]
    assert shapes[0] == shapes[1] and shapes[0]


@pytest.mark.slow
@pytest.mark.parametrize("arch", sorted(OURS.keys() - {*TINY}))
def test_the_same_sizes(arch, data, tmp_path, monkeypatch):
    with shapes_only():
        one, other = (
            built(cfg, monkeypatch) for cfg in (by_command_line(data, arch), by_hydra(data, tmp_path, arch))
        )
    shapes = [{name: each.shape for name, each in model.named_parameters()} for model in (one, other)]
    assert shapes[0] == shapes[1] and shapes[0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("segment_position=shift", "--segment-position: there is no such option of concat_transformer_tiny"),
        ("segment_positions=shfit", "--segment-positions: expected one of none, .*, found 'shfit'"),
        ("encoder_layers=two", "--encoder-layers: expected int, found 'two'"),
        ("dropout=[0.1]", "--dropout: expected float, found a list"),
        ("encoder={layer: 1}", "encoder: layer: expected one of embed_path, embed_dim, "),
    ],
)
def test_what_a_yaml_file_gives_is_checked(given, message, data, tmp_path, monkeypatch):
    """fairseq takes what it does not know for granted, and ignores it."""
    with pytest.raises(BadInput, match=f"^{message}"):
        built(by_hydra(data, tmp_path, "concat_transformer_tiny", f"+model.{given}"), monkeypatch)


CHECKED = {
    "++task.truncate_source=true": "--truncate-source: of a window that is too long",
    "++dataset.combine_valid_subsets=true": "--combine-valid-subsets: name the sets",
    "++dataset.train_subset='train,train1'": "--train-subset train,train1: expected one split",
    "++model.encoder_layers_to_keep='0'": "--encoder-layers-to-keep: --encoder-layers says",
    "++checkpoint.best_checkpoint_metric=blue": "--best-checkpoint-metric blue: expected one of loss,",
    "+scoring=wer": "--scoring wer: expected bleu,",
    "++dataset.num_workers=3": None,
}


@pytest.mark.parametrize("given", CHECKED)
def test_what_a_command_line_refuses_is_refused(given, data, tmp_path, monkeypatch):
    begun = []
    monkeypatch.setattr(Trainer, "__init__", lambda training, *args: begun.append(args))
    check_configurations(CHECKS)
    cfg = by_hydra(data, tmp_path, "concat_transformer_tiny", given)
    if CHECKED[given] is None:
        Trainer(cfg, "task")
        assert begun == [(cfg, "task")]
    else:
        with pytest.raises(BadInput, match=f"^{CHECKED[given]}"):
            Trainer(cfg, "task")
        assert not begun
