"""Average the parameters of the checkpoints nearest to the best one, itself included.

The result loads like any checkpoint but holds no optimizer state, so training cannot resume from it.

Example: ctxmt average checkpoints --count 5 --output checkpoints/averaged.pt
"""

from pathlib import Path
from typing import Literal, Optional

from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.paths import Folder, Output
from ctxmt_fairseq.cli.options.user_folder import TRUST, UserDir


class Average(Command):
    save_dir: Folder = argument("SAVE_DIR", "fairseq-train's --save-dir, or the folder of its checkpoints/")
    count: int = option("how many checkpoints", 5)
    around: Literal["best", "last"] = option("the checkpoint that they are nearest to", "best")
    output: Optional[Output] = option("what to write (default: averaged.pt beside them)")
    trust_checkpoint: bool = TRUST
    code: UserDir

    def run(self) -> None:
        from ctxmt_fairseq.generation.registration import register

        register()

        from ctxmt_fairseq.base.files import check_outputs, keeping
        from ctxmt_fairseq.checkpoints import averaging

        folder = averaging.save_dir(Path(self.save_dir))
        output = Path(self.output or folder / "averaged.pt")
        with keeping(averaging.checkpoints_in(folder)):
            check_outputs(output)
        how = self.count, self.around, self.trust_checkpoint
        checkpoints = averaging.nearest_checkpoints(folder, *how)
        averaging.write_average(checkpoints, output)
        print(f"{output}: the average of {len(checkpoints)}")
        for checkpoint in checkpoints:
            score = "none" if checkpoint.score is None else f"{checkpoint.score:.4f}"
            print(f"{checkpoint.path.name:<24} {checkpoint.updates:>9} updates   validation score {score}")
