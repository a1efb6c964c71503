"""Take over a model that another program has trained.

MODEL is a checkpoint of one of these programs, neulab/contextual-mt, lorelupo/focused-concat,
Pawel-M/shortening-context-mt, st-vincent1/MTCue, with dict.LANG.txt of its data; or the folder of a
Hugging Face model on disk: Marian (OPUS-MT), M2M-100, NLLB, mBART-50, FSMT. Nothing in it is run, and nothing
is downloaded. Every command takes OUT where it takes a checkpoint. To train on:

  ctxmt preprocess --like OUT --train text/train --valid text/valid --out data-bin
  fairseq-train data-bin --sentence-checkpoint OUT/checkpoint.pt ...       (Hugging Face)
  fairseq-train data-bin --finetune-from-model OUT/checkpoint.pt ...       (the programs)

Examples: ctxmt import checkpoint_best.pt OUT --data their-data-bin
          ctxmt import opus-mt-en-fr OUT
          ctxmt import nllb-200 OUT --source-lang eng_Latn --target-lang fra_Latn
"""

from pathlib import Path
from typing import Optional

from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Folder, Input, Language, OutputFolder


class Import(Command):
    model: Input = argument("MODEL", "what the program has saved, or a folder of Hugging Face's")
    out: OutputFolder = argument("OUT", "folder to write")
    data: Optional[Folder] = option("the program's data folder, with dictionaries (default: MODEL's)")
    source_lang: Optional[Language] = option("source language (default: what a folder says)")
    target_lang: Optional[Language] = option("target language (default: what a folder says)")
    source_token: Optional[str] = option("what a folder's model calls it (default: --source-lang)")
    target_token: Optional[str] = option("what a folder's model calls it (default: --target-lang)")
    overwrite: bool = option("replace OUT")

    def run(self) -> None:
        from ctxmt_fairseq.generation.registration import register

        register()

        from ctxmt_fairseq.generation import authors_models  # noqa: F401  (the families)
        from ctxmt_fairseq.generation.hub_models import Languages, read_folder
        from ctxmt_fairseq.generation.imported_models import import_model, read_checkpoint

        path = Path(self.model)
        languages = Languages(self.source_lang, self.target_lang, self.source_token, self.target_token)
        if path.is_dir() and self.data or not path.is_dir() and any(languages):
            raise BadInput("--data is for a checkpoint, and the options of languages for a folder", path)
        given = read_folder(path, languages) if path.is_dir() else read_checkpoint(path, self.data)
        print(f"{self.out}: {import_model(given, self.out, self.overwrite)}")
