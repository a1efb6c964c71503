"""How much of a window model's attention stays in the current sentence, and how spread out it is.

For concat_transformer, and for transformer on windows. Reads TEXT.SRC, TEXT.TGT (the references, which the
decoder reads) and TEXT.docids, the languages being the model's, and TEXT.current if it is there.

share: of the self-attention that the tokens of the current sentence pay, with its </s>, the part that goes to
the current sentence; mean over heads, layers, tokens, then over the windows that have context. entropy:
-sum a ln a of the weights of all tokens, in nats (focused concatenation, figure 2 and table 5).

Several models are compared with the first, window by window (approximate randomization, Holm's correction).
That is about these trained models. NAME=MODEL several times gives the runs (seeds) of a system: intervals and
p are then over seeds and windows together, as in ctxmt compare translations.

Example: ctxmt analyse attention-share plain.pt discounted.pt text/test --json shares.json
"""

from typing import List, Literal, Optional

from ctxmt_fairseq.base import option_types
from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.option_types import whole_number
from ctxmt_fairseq.base.paths import Map, Named, Output, Prefix
from ctxmt_fairseq.cli.options.model import Model
from ctxmt_fairseq.cli.options.result_files import MapFiles


class Files(MapFiles):
    json: Optional[Output] = option("means, tests, and the values of every window")
    output: Optional[Map] = option(
        "the entropy of every layer and head; FILE.tsv and FILE.json have the numbers"
    )


class AttentionShare(Command):
    models: List[Named] = argument(
        "MODEL", "checkpoints, or NAME=MODEL; several of one name are seeds of a system"
    )
    text: Prefix = argument("TEXT", "prefix of the text's files")
    samples: int = option("shuffles of the windows, for p", 1000, whole_number(100, 10**7))
    seed: int = option("of the shuffles", 1, option_types.seed)
    max_tokens: int = option("per batch", 4000)
    rule: Literal["paper", "program"] = option(
        "program: as the authors' program computes it. The entropy is that of the weights' mean over layers "
        "and heads, the decoder's first token belongs to the current sentence, and windows without context "
        "count",
        "paper",
    )
    files: Files
    model: Model

    def run(self) -> None:
        from ctxmt_fairseq.analysis.system_names import distinct_runs
        from ctxmt_fairseq.analysis.window_attention import window_attention
        from ctxmt_fairseq.analysis.window_attention_report import AttentionReport
        from ctxmt_fairseq.evaluation.probe.probed_text import read_probed_text

        named = distinct_runs(self.models)
        if len({path for _, path in named}) < len(named):
            raise BadInput("two models are the same")
        found = []
        for _, path in named:
            loaded = self.model.load(path).loaded
            text = read_probed_text(self.text, loaded)
            found.append(window_attention(loaded, text, self.max_tokens, self.rule))
        report = AttentionReport([name for name, _ in named], found, self.samples, self.seed)
        print(report.table())
        self.files.draw(report.map(), report.as_dict())
