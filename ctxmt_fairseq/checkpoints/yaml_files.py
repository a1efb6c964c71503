"""What a YAML file of fairseq-hydra-train says passes the checks of a command line."""

import argparse
import functools
from typing import Any, Callable, Dict, Sequence

from fairseq.dataclass.configs import FairseqConfig
from fairseq.dataclass.initialize import add_defaults
from omegaconf import OmegaConf

from ctxmt_fairseq.checkpoints.options import as_flat

Check = Callable[[argparse.Namespace, argparse.ArgumentParser], None]
_NAMED = "task", "criterion", "scoring"


def check_configurations(checks: Sequence[Check]) -> None:
    """Run the checks where a training begins: before, no task of ours sees more than its own section."""
    from fairseq import trainer

    begin = trainer.Trainer.__init__

    @functools.wraps(begin)
    def begin_checked(training: Any, cfg: Any, *args: Any, **kwargs: Any) -> None:
        check_configuration(cfg, checks)
        begin(training, cfg, *args, **kwargs)

    trainer.Trainer.__init__ = begin_checked


def check_configuration(cfg: Any, checks: Sequence[Check]) -> None:
    """Run the checks on all that a configuration says."""
    names = {section: cfg[section]._name for section in _NAMED if cfg[section]}
    plain = OmegaConf.structured(FairseqConfig)
    plain.update(model=None, **{section: {"_name": name} for section, name in names.items()})
    add_defaults(plain)
    parser = argparse.ArgumentParser(add_help=False)
    parser.set_defaults(**_flat(plain))
    options = argparse.Namespace(**{**_flat(cfg), **names, "arch": cfg.model._name})
    for check in checks:
        check(options, parser)


def _flat(cfg: Any) -> Dict[str, Any]:
    sections = OmegaConf.to_container(cfg, resolve=True, enum_to_str=True)
    assert isinstance(sections, dict)
    return {
        name: value
        for section, values in sections.items()
        if isinstance(values, dict)
        for name, value in (as_flat(values) if section == "model" else values).items()
        if name != "_name"
    }
