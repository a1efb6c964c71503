"""Take over a model that another program has trained.

Reads a checkpoint of one of these programs, and dict.LANG.txt of its data: neulab/contextual-mt,
lorelupo/focused-concat, Pawel-M/shortening-context-mt, st-vincent1/MTCue. Nothing in the checkpoint is run.
Every command takes OUT where it takes a checkpoint; text is cut by the program's SentencePiece models
(spm.model, spm.LANG.model), if they are beside the dictionaries, or at blanks. To train on:

  ctxmt preprocess --like OUT --train text/train --valid text/valid --out data-bin
  fairseq-train data-bin --finetune-from-model OUT/checkpoint.pt ...

Example: ctxmt import checkpoint_best.pt OUT --data their-data-bin
"""

from pathlib import Path
from typing import Optional

from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.paths import Folder, Input, OutputFolder


class Import(Command):
    checkpoint: Input = argument("CHECKPOINT", "what the program has saved")
    out: OutputFolder = argument("OUT", "folder to write")
    data: Optional[Folder] = option("the program's data folder, with dictionaries (default: CHECKPOINT's)")
    overwrite: bool = option("replace OUT")

    def run(self) -> None:
        from ctxmt_fairseq.generation import authors_models  # noqa: F401  (the families)
        from ctxmt_fairseq.generation.imported_models import import_model
        from ctxmt_fairseq.generation.registration import register

        register()
        print(f"{self.out}: {import_model(Path(self.checkpoint), self.out, self.data, self.overwrite)}")
