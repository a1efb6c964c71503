"""Take a trained model elsewhere: a folder with dictionaries, subwords, text steps and a model card.

--to safetensors: a model without pickle; every command takes OUT where it takes a checkpoint.
--to ctranslate2: fairseq's transformer, and concat_transformer whose target windows have no segment
positions. OUT translates and scores as MODEL does, and CTranslate2's own programs read it, too.
--to hf: fairseq's post-norm transformer, and concat_transformer without segment positions, as Marian of
Hugging Face's transformers; the text has SentencePiece and no steps. README.md of OUT says how to use it.

Example: ctxmt export runs/windows/checkpoints/checkpoint_best.pt OUT --to safetensors --license cc-by-4.0
"""

from pathlib import Path
from typing import Literal, Optional

from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input, OutputFolder
from ctxmt_fairseq.cli.card import OneModel


class Export(Command):
    model: Input = argument("MODEL", "a checkpoint, or a folder that is a model")
    out: OutputFolder = argument("OUT", "folder to write")
    to: Literal["safetensors", "ctranslate2", "hf"] = option("what reads OUT")
    quantization: Optional[Literal["int8"]] = option("with --to ctranslate2: matrices of 8-bit numbers")
    overwrite: bool = option("replace OUT")
    about: OneModel

    def run(self) -> None:
        from ctxmt_fairseq.generation.registration import register

        register()

        from ctxmt_fairseq.analysis.model_card import KEPT, card_markdown, model_card
        from ctxmt_fairseq.generation.ctranslate2_export import CTranslate2
        from ctxmt_fairseq.generation.exported_models import Safetensors, Trained, export_model
        from ctxmt_fairseq.generation.hub_export import HuggingFace

        if self.quantization and self.to != "ctranslate2":
            raise BadInput("--quantization needs --to ctranslate2")
        to_ctranslate2 = CTranslate2(self.quantization)
        target = {"safetensors": Safetensors(), "ctranslate2": to_ctranslate2, "hf": HuggingFace()}[self.to]
        read = Trained.read(self.model, self.about.data, self.about.trust_checkpoint)
        card = model_card(self.model, read, self.about.license)
        card["name"] = Path(self.out).name
        kept = {"license": card["license"], "card": {name: card[name] for name in KEPT}}
        if not target.loads:  # else the model itself says it
            kept["context"] = read.loaded.task.options
        export_model(read, self.out, target, kept, card_markdown(card, type(target)), self.overwrite)
        print(f"{self.out}: {card['architecture']} of {'-'.join(card['languages'])} for {self.to}")
