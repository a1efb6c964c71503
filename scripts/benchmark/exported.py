"""Two models, such as a checkpoint and its export, on the same documents: CPU seconds of their translation.

Each is loaded once; then they translate in turn, A B A B, after a warm-up.

Example: python -m scripts.benchmark.exported runs/windows/checkpoints/checkpoint_best.pt out text/test.en \\
    --docids text/test.docids
"""

import sys
import time

from ctxmt_fairseq import Translator
from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.paths import Input
from ctxmt_fairseq.base.tables import aligned_table
from ctxmt_fairseq.cli.main import script
from ctxmt_fairseq.generation.input_documents import read_with_ids
from scripts.benchmark.paired import HEAD, Comparison, alternate


class Exported(Command):
    first: Input = argument("MODEL", "a model")
    second: Input = argument("OTHER", "what its time is divided by")
    text: Input = argument("TEXT", "source sentences")
    docids: Input = option("one document id per line")
    beam: int = option("", 5)
    repeats: int = option("pairs of runs", 5)

    def run(self) -> None:
        documents = read_with_ids(self.text, self.docids)
        starts = documents.documents.starts.tolist()
        text = [documents.sentences[at:end] for at, end in zip(starts, starts[1:], strict=False)]
        models = [
            Translator.load(str(path), device="cpu", beam=self.beam) for path in (self.first, self.second)
        ]

        def measure(model: Translator) -> float:
            start = time.process_time()
            model.translate(text)
            return time.process_time() - start

        values = alternate(lambda _: measure(models[0]), lambda _: measure(models[1]), self.repeats)
        found = Comparison("translate", (self.first, self.second), "CPU s", values)
        print(aligned_table([HEAD, found.row()]))


if __name__ == "__main__":
    sys.exit(script("python -m scripts.benchmark.exported", Exported, sys.argv[1:]))
