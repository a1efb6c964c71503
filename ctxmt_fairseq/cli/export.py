"""Take a trained model elsewhere: a folder with dictionaries, subwords, text steps and a model card.

--to safetensors: a model without pickle that runs alone; every command takes OUT where it takes a checkpoint.

Example: ctxmt export runs/windows/checkpoints/checkpoint_best.pt OUT --to safetensors --license cc-by-4.0
"""

from pathlib import Path

from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.paths import Input, OutputFolder
from ctxmt_fairseq.cli.card import OneModel


class Export(Command):
    model: Input = argument("MODEL", "a checkpoint, or a folder that is a model")
    out: OutputFolder = argument("OUT", "folder to write")
    to: str = option("what reads it", choices=("safetensors",))
    overwrite: bool = option("replace OUT")
    about: OneModel

    def run(self) -> None:
        from ctxmt_fairseq.analysis.model_card import KEPT, card_markdown, model_card
        from ctxmt_fairseq.generation.exported_models import TARGETS, Trained, export_model
        from ctxmt_fairseq.generation.registration import register

        register()
        read = Trained.read(self.model, self.about.data, self.about.trust_checkpoint)
        card = model_card(self.model, read, self.about.license)
        card["name"] = Path(self.out).name
        kept = {"license": card["license"], "card": {name: card[name] for name in KEPT}}
        export_model(read, self.out, TARGETS[self.to](), kept, card_markdown(card), self.overwrite)
        print(f"{self.out}: {card['architecture']} of {'-'.join(card['languages'])} for {self.to}")
