"""The card of a model: languages, context, size, options, data, training, and the scores found beside it.

MODEL is a checkpoint, or a folder that is a model. Scores are those that ctxmt evaluate has measured of this
very MODEL, in the folder of its training. --markdown writes what the Hugging Face hub reads as README.md.

Example: ctxmt card runs/windows/checkpoints/checkpoint_best.pt --markdown README.md --license mit
"""

from pathlib import Path
from typing import Optional

from ctxmt_fairseq.base import option_types
from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.paths import Folder, Input, Output
from ctxmt_fairseq.cli.options.result_files import Json
from ctxmt_fairseq.cli.options.user_folder import TRUST, UserDir


class OneModel(UserDir):
    """A model, and what it is published as."""

    data: Optional[Folder] = option("data folder (default: the one of the training)")
    trust_checkpoint: bool = TRUST
    license: Optional[str] = option("of the model, such as cc-by-4.0", type=option_types.name, metavar="NAME")


class Card(Command):
    model: Input = argument("MODEL", "a checkpoint, or a folder that is a model")
    markdown: Optional[Output] = option("write the card there, for the hub")
    result: Json
    about: OneModel

    def run(self) -> None:
        from ctxmt_fairseq.generation.registration import register

        register()

        from ctxmt_fairseq.analysis.model_card import card_markdown, card_text, model_card
        from ctxmt_fairseq.generation.exported_models import Trained

        read = Trained.read(self.model, self.about.data, self.about.trust_checkpoint)
        card = model_card(self.model, read, self.about.license)
        readme = card_markdown(card, alone=Path(self.model).is_dir()) if self.markdown else None
        self.result.write(card, (self.markdown, readme))
        print(card_text(card))
