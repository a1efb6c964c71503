"""What fairseq does for people who have nothing to do with this plugin, with the plugin imported and without.

``python -m tests.helpers.stock_situations FOLDER [--plugin] [--slow]`` goes through all situations in one
process, with tiny models, and prints what each gives as JSON. ``FOLDER`` is empty; its name shows nowhere in
the results. Nothing here imports the plugin but ``--plugin``.
"""

import argparse
import importlib
import json
import logging
import re
import sys
import warnings
from pathlib import Path

import fairseq  # noqa: F401  (before the plugin, so that its import registers itself)
import numpy as np
import torch

from tests.helpers.stock_commands import command, functions, learned, modules, results, train

TINY = (
    "--encoder-embed-dim 8 --encoder-ffn-embed-dim 8 --encoder-layers 1 --decoder-layers 1 "
    "--decoder-embed-dim 8 --decoder-ffn-embed-dim 8 --encoder-attention-heads 2 --decoder-attention-heads 2 "
)
TRAINING = (
    "--cpu --optimizer adam --lr 0.01 --max-tokens 200 --num-workers 0 --seed 3 --log-format json "
    "--no-epoch-checkpoints --max-update "
)
PAIR = "--source-lang en --target-lang fr "
FCONV = "--encoder-embed-dim 8 --decoder-embed-dim 8 --decoder-out-embed-dim 8 "
FCONV += "--encoder-layers [(8,3)] --decoder-layers [(8,3)] "
LM = "--decoder-embed-dim 8 --decoder-ffn-embed-dim 8 --decoder-layers 1 --decoder-attention-heads 2 "
SIZES = {  # models that are built and not trained: what a configuration says of each
    "masked_lm": LM.replace("decoder", "encoder"),
    "bart_base": TINY,
    "wav2vec2": "--encoder-layers 1 --encoder-embed-dim 16 --encoder-ffn-embed-dim 8 "
    "--encoder-attention-heads 2 --conv-feature-layers [(8,3,2)] --conv-pos 2 --conv-pos-groups 2 "
    "--final-dim 8",
}
SECOND_PLUGIN = """
from fairseq.tasks import register_task
from fairseq.tasks.translation import TranslationConfig, TranslationTask

@register_task("their_translation", dataclass=TranslationConfig)
class TheirTask(TranslationTask):
    pass
"""
SITUATIONS: dict[bool, list] = {False: [], True: []}  # slow or not: functions, in their order


def situation(function=None, *, slow=False):
    """Register a function of the folder; it returns what is compared."""
    if function is None:
        return lambda function: situation(function, slow=slow)
    SITUATIONS[slow].append(function)
    return function


# ---- situations --------------------------------------------------------------------------------------


@situation
def state_of_the_process(folder):
    root = logging.getLogger()
    return {
        "excepthook": repr(sys.excepthook),
        "argv": sys.argv == ARGV,
        "meta_path": [getattr(each, "__name__", type(each).__name__) for each in sys.meta_path],
        "path_hooks": len(sys.path_hooks),
        "filters": [str(each) for each in warnings.filters],
        "logging": [root.level, [str(type(handler)) for handler in root.handlers], logging.root.disabled],
        "random": torch.initial_seed() == SEED,
        "default": [str(torch.get_default_dtype()), torch.is_grad_enabled(), torch.get_num_threads()],
    }


@situation
def functions_of_fairseq(folder):
    return functions()


@situation
def preprocess(folder):
    languages = folder / "text"
    languages.mkdir()
    draw = np.random.RandomState(0)
    for split, lines in (("train", 40), ("valid", 8), ("test", 8)):
        text = ["".join(f"{word} " for word in draw.choice(list("abcdefgh"), 5)) for _ in range(lines)]
        for language in ("en", "fr"):
            (languages / f"{split}.{language}").write_text("\n".join(text) + "\n")
    prefixes = [f"--{split}pref={languages / split}" for split in ("train", "valid", "test")]
    command("preprocess", PAIR + "--joined-dictionary --destdir", folder / "data", *prefixes)
    for split in ("train", "valid", "test"):
        text = (languages / f"{split}.en").read_text()
        (languages / f"{split}.txt").write_text(text)
    prefixes = [f"--{split}pref={languages / split}.en" for split in ("train", "valid", "test")]
    command("preprocess", "--only-source --destdir", folder / "words", *prefixes)
    return sorted(path.name for each in ("data", "words") for path in (folder / each).iterdir())


@situation
def load_before_anything_is_allowed(folder):
    """The only one in which fairseq may do better with the plugin: see the test."""
    train(folder, "first", "--task translation --arch transformer " + PAIR + TINY + TRAINING + "1")
    from fairseq import checkpoint_utils

    checkpoint_utils.load_checkpoint_to_cpu(str(folder / "first" / "checkpoint_last.pt"))
    return "loads"


@situation
def train_translation(folder):
    """From here on torch loads checkpoints: every user of fairseq on current torch has to allow it."""
    functions = {"_reconstruct": np.empty(0).__reduce__()[0], "scalar": np.float64(0).__reduce__()[0]}
    names = [argparse.Namespace, np.ndarray, np.dtype, np.dtypes.Float64DType]
    torch.serialization.add_safe_globals([*names, *functions.values()])
    return train(folder, "mt", "--task translation --arch transformer " + PAIR + TINY + TRAINING + "3")


@situation
def resume(folder):
    return train(folder, "mt", "--task translation --arch transformer " + PAIR + TINY + TRAINING + "5")


@situation
def generate(folder):
    line = "--cpu --beam 2 --max-len-b 8 --batch-size 3 --path"
    return results(command("generate", line, folder / "mt" / "checkpoint_last.pt", folder / "data"))


@situation
def generate_with_an_ensemble(folder):
    path = ":".join(str(folder / name / "checkpoint_last.pt") for name in ("mt", "first"))
    return results(command("generate", "--cpu --beam 2 --max-len-b 8 --path", path, folder / "data"))


@situation
def generate_without_the_checkpoint(folder):
    return command("generate", "--cpu --path", folder.parent / "nothing.pt", folder / "data")


@situation
def validate(folder):
    line = PAIR + "--task translation --cpu --batch-size 3 --path"
    printed = command("validate", line, folder / "mt" / "checkpoint_last.pt", folder / "data")
    return re.findall(r"valid on .* \| ppl \S+", printed)


@situation
def interactive(folder):
    words = ("--path", folder / "mt" / "checkpoint_last.pt", folder / "data")
    return results(command("interactive", "--cpu --beam 2 --max-len-b 8", *words, input="a b c\nd e\n"))


@situation
def from_pretrained_translates(folder):
    from fairseq.models.transformer import TransformerModel

    hub = TransformerModel.from_pretrained(str(folder / "mt"), "checkpoint_last.pt", str(folder / "data"))
    return [hub.translate(["a b c", "d e"], beam=2), *modules(*hub.models)]


@situation
def a_checkpoint_of_strings_that_fairseq_evaluates(folder):
    """fconv: whoever loads such a file with fairseq alone trusts it."""
    line = "--task translation --arch fconv " + PAIR + FCONV + TRAINING + "1"
    found = train(folder, "fconv", line)
    path = ("--path", folder / "fconv" / "checkpoint_last.pt", folder / "data")
    return found + results(command("generate", "--cpu --beam 2 --max-len-b 8", *path))


@situation
def bf16_of_other_tasks(folder):
    from fairseq import options

    line = "data --task translation --arch transformer --bf16 " + TRAINING + "1"
    args = options.parse_args_and_arch(options.get_training_parser(), line.split())
    return {name: repr(value) for name, value in sorted(vars(args).items())}


@situation
def help_of_other_tasks(folder):
    command("generate", "data --task translation --help")


def _built(arch, task, line):
    from fairseq import models, options, tasks
    from fairseq.dataclass.utils import convert_namespace_to_omegaconf

    words = ["words", "--task", task, "--arch", arch, *SIZES[arch].split(), *line.split()]
    cfg = convert_namespace_to_omegaconf(options.parse_args_and_arch(options.get_training_parser(), words))
    torch.manual_seed(1)
    if task == "audio_pretraining":
        model = models.build_model(cfg.model, None)
    else:
        cfg.task.data = str(FOLDER / "words")
        model = tasks.setup_task(cfg.task).build_model(cfg.model)
    sums = {name: float(value.double().sum()) for name, value in model.named_parameters()}
    return [sums, *modules(model, *model.modules())]


@situation
def masked_language_model(folder):
    return _built("masked_lm", "masked_lm", "--criterion masked_lm --max-positions 20")


@situation
def bart(folder):
    return _built("bart_base", "denoising", "--mask 0.1 --tokens-per-sample 20")


@situation
def wav2vec2(folder):
    return _built("wav2vec2", "audio_pretraining", "--criterion wav2vec")


@situation
def a_second_plugin(folder):
    (folder / "their_code").mkdir()
    (folder / "their_code" / "__init__.py").write_text(SECOND_PLUGIN)
    line = "--task their_translation --arch transformer " + PAIR + TINY + TRAINING + "1"
    return train(folder, "theirs", line + " --user-dir " + str(folder / "their_code"))


@situation(slow=True)
def language_model(folder):
    line = "--task language_modeling --arch transformer_lm --tokens-per-sample 9 "
    line += "--required-batch-size-multiple 1 " + LM + TRAINING + "3"
    found = train(folder, "lm", line, data="words")
    path = folder / "lm" / "checkpoint_last.pt"
    printed = command("eval_lm", "--cpu --gen-subset test --path", path, folder / "words")
    return [found, re.findall(r"Loss \(base 2\): \S+", printed)]


@situation(slow=True)
def multilingual_translation(folder):
    for path in (folder / "data").glob("*.en-fr.*"):  # the two sides are the same text
        (folder / "data" / path.name.replace("en-fr", "fr-en")).write_bytes(path.read_bytes())
    line = "--task multilingual_translation --arch multilingual_transformer --lang-pairs en-fr,fr-en "
    found = train(folder, "multilingual", line + TINY + TRAINING + "3")
    line = "--task multilingual_translation --lang-pairs en-fr,fr-en --cpu --max-len-b 8 --beam 2 " + PAIR
    path = ("--path", folder / "multilingual" / "checkpoint_last.pt", folder / "data")
    return [found, results(command("generate", line, *path))]


@situation(slow=True)
def other_architectures(folder):
    sizes = {"lstm": "--encoder-embed-dim 8 --decoder-embed-dim 8 --decoder-out-embed-dim 8 "}
    sizes.update(fconv_self_att_wp="", transformer_align=TINY)
    line = "--task translation " + PAIR + TRAINING + "1 --arch "
    return [train(folder, arch, f"{line}{arch} {size}") for arch, size in sizes.items()]


@situation(slow=True)
def hydra(folder):
    (folder / "config").mkdir()
    settings = {
        "task": {"_name": "language_modeling", "data": str(folder / "words"), "tokens_per_sample": 9},
        "model": {"_name": "transformer_lm", "decoder_layers": 1, "decoder_embed_dim": 8},
        "criterion": {"_name": "cross_entropy"},
        "optimizer": {"_name": "adam", "lr": [0.01]},
        "lr_scheduler": {"_name": "fixed"},
        "common": {"cpu": True, "seed": 3},
        "dataset": {"max_tokens": 200, "num_workers": 0, "required_batch_size_multiple": 1},
        "optimization": {"max_update": 3, "lr": [0.01]},
        "checkpoint": {"save_dir": str(folder / "hydra")},
    }
    settings["model"].update(decoder_ffn_embed_dim=8, decoder_attention_heads=2)
    text = json.dumps(settings)  # JSON is YAML
    (folder / "config" / "tiny.yaml").write_text("# @package _group_\n" + text)
    words = ("--config-dir", folder / "config", "--config-name", "tiny", f"hydra.run.dir={folder / 'run'}")
    command("hydra_train", "", *words)
    return learned(folder / "hydra" / "checkpoint_last.pt")


@situation
def state_at_the_end(folder):
    return [state_of_the_process(folder), functions()]


# ------------------------------------------------------------------------------------------------------


def outcome(function, folder):
    """What a situation gives; an exception is a result, too."""
    try:
        found = function(folder)
    except (Exception, SystemExit) as error:
        found = [type(error).__name__, str(error).splitlines()[:1]]
    return json.loads(json.dumps(found).replace(str(folder), "FOLDER"))


def main(folder, plugin, slow):
    """What each situation gives, by its name; ``folder`` is empty."""
    global ARGV, FOLDER, SEED
    ARGV, FOLDER, SEED = list(sys.argv), Path(folder), torch.initial_seed()
    torch.set_num_threads(1)
    if plugin:
        importlib.import_module("ctxmt_fairseq")
    assert plugin == ("ctxmt_fairseq" in sys.modules)
    *chosen, last = SITUATIONS[False]
    found = {}
    for function in (*chosen, *(SITUATIONS[True] if slow else ()), last):
        found[function.__name__] = outcome(function, FOLDER)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--plugin", action="store_true", help="import the plugin first")
    parser.add_argument("--slow", action="store_true", help="those that train for longer, too")
    given = parser.parse_args()
    print(json.dumps(main(given.folder, given.plugin, given.slow), indent=1))
