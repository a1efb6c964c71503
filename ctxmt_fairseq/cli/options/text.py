"""The sentence, or the text with a model, that an analysis looks at."""

import argparse
import glob
import os
from typing import TYPE_CHECKING, Iterator, List, Literal, Optional, Tuple

from ctxmt_fairseq.base.command import OptionGroup, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input, Prefix
from ctxmt_fairseq.cli.options.model import OfModel

if TYPE_CHECKING:
    from ctxmt_fairseq.analysis.passage import Passage
    from ctxmt_fairseq.analysis.text_attention import AttendedSentence
    from ctxmt_fairseq.evaluation.probe.probed_text import ProbedText

Side = Optional[Literal["encoder", "decoder"]]
MAP = "the picture; FILE.tsv and FILE.json beside it have the numbers"  # of a sentence
SIDE = "whose attention (default: the encoder's, if it attends to context)"


def prompt(text: str) -> str:
    """Metadata itself, and not the name of files that have some."""
    if os.path.isfile(text) or glob.glob(f"{glob.escape(text)}.meta.*"):
        found = f"expected text, found the name of a file or its beginning, {text[:40]!r}"
        raise argparse.ArgumentTypeError(f"{found}; ctxmt translate --contexts reads files")
    return text


class Sentence(OptionGroup):
    heading = "text: --sentence or --document"

    sentence: Optional[str] = option("a source sentence", metavar="TEXT")
    context: List[str] = option(
        "a source sentence before it; repeated for more, farthest first", [], action="append", metavar="TEXT"
    )
    metadata: List[str] = option(
        "what else is known (models of the task metadata_context); repeated for more",
        [],
        prompt,
        action="append",
        metavar="TEXT",
    )
    document: Optional[Input] = option("source text, blank lines between documents")
    line: Optional[int] = option("of FILE, from 1 (default: its last sentence)")

    def read(self) -> "Passage":
        from dataclasses import replace

        from ctxmt_fairseq.analysis.passage import given_passage, read_passage
        from ctxmt_fairseq.text.metadata_text import prompts

        known = prompts(self.metadata)
        if (self.sentence is None) == (self.document is None):
            raise BadInput("give --sentence or --document, one of them")
        if self.sentence is not None and self.line is not None:
            raise BadInput("--line needs --document")
        if self.document is not None and self.context:
            raise BadInput("--context goes with --sentence; of a document the lines before are the context")
        if self.document is not None:
            return replace(read_passage(self.document, self.line), metadata=known)
        return replace(given_passage(self.sentence or "", self.context), metadata=known)


class TextAttention(OfModel):
    """What looks at a model's attention to the context, in a whole text."""

    text: Prefix = argument("TEXT", "prefix of the text's files")
    layer: Optional[int] = option("from 1 (default: the last that attends to context)")
    max_tokens: int = option("per batch", 4000)

    def attention(self, side: Side) -> Tuple["ProbedText", Iterator["AttendedSentence"]]:
        """The text, and the attention of its sentences, one after the other."""
        from ctxmt_fairseq.analysis.text_attention import attended_sentences
        from ctxmt_fairseq.evaluation.probe.probed_text import read_probed_text

        loaded = self.model.load(self.path).loaded
        text = read_probed_text(self.text, loaded)
        return text, attended_sentences(loaded, text, side, self.layer, self.max_tokens)
