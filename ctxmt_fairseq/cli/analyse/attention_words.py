"""Which words look at the context: useful attention of a text's words (Voita et al. 2018, table 2); or, with
--by sentence, which of the context sentences they look at.

Useful is the attention to words of the context, without <bos>, </s> and punctuation; head average; mean over
a word's subwords. Shown are the words with the highest mean, at all positions and after the first; the curves
are by the number of words of the sentence and of its context (figure 2), and by position (figure 3).

--by sentence: the share of each context sentence by its place (-1 is the sentence before), and the entropy
over them, -sum p ln p in nats, beside that of equal shares. Without <bos> and </s>; the mean over the words
of a sentence, then over sentences with as many context sentences; of models trained with several.

For gated_context_transformer and context_encoder_transformer, whose encoder attends to context (words of the
source), and for the decoders of dual_encoder_transformer and caching_transformer with --context-fusion
serial, parallel, separate or hierarchical (words of the reference, as they are produced). Reads TEXT.SRC,
TEXT.TGT and TEXT.docids, the languages being the model's, and TEXT.current if it is there.

Example: ctxmt analyse attention-words checkpoint_best.pt text/test --json words.json --output words.png
"""

import os
from typing import Any, List, Literal, Optional, Tuple

from ctxmt_fairseq.base.command import OptionGroup, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Chart, Output
from ctxmt_fairseq.cli.options.result_files import ChartFiles
from ctxmt_fairseq.cli.options.text import SIDE, Side, TextAttention


class ByWord(OptionGroup):
    heading = "by word"

    min_count: int = option("of words that are shown, and of sentences of a length", 10)
    length: Optional[int] = option("positions in sentences of N words alone (default: in all)")


class Files(ChartFiles):
    json: Optional[Output] = option("write all words, lengths and positions, or the sentences' shares there")
    output: Optional[Chart] = option(
        "the curves by length, and in FILE.positions.png those by position; or the sentences' shares; .csv "
        "in place of .png has the numbers"
    )


class AttentionWords(TextAttention):
    side: Side = option(SIDE)
    by: Literal["word", "sentence"] = option(
        "what is shown: the words that attend, or the sentences that are attended to", "word"
    )
    words: ByWord
    files: Files

    def run(self) -> None:
        if self.by == "word":
            self._words()
        else:
            self._sentences()

    def _words(self) -> None:
        from ctxmt_fairseq.analysis.word_attention import word_attention
        from ctxmt_fairseq.base.files import check_outputs
        from ctxmt_fairseq.base.plots.charts import chart_records, draw_chart
        from ctxmt_fairseq.base.tables import csv_text

        pictures: List[Chart] = []
        if self.files.output:
            pictures = [self.files.output, Chart(os.path.splitext(self.files.output)[0] + ".positions.png")]
        check_outputs(self.files.json, *(path for picture in pictures for path in picture.files()))
        _, sentences = self.attention(self.side)
        found = word_attention(sentences, self.words.length)
        if not found.sentences:
            raise BadInput("expected sentences with context, found none", self.text)
        print(found.table(self.words.min_count))
        files: List[Tuple[str, Any]] = []
        curves = found.points(self.words.min_count).items()
        for picture, (across, points) in zip(pictures, curves, strict=False):
            if not points:
                least = f"lengths and positions of {self.words.min_count} words or sentences"
                raise BadInput(f"expected {least}, found none for {picture}; lower --min-count")
            title = f"{self.path}\n{self.text}, {found.sentences} sentences with context"
            contents = draw_chart(points, across, title), csv_text(chart_records(points, across))
            files += zip(picture.files(), contents, strict=True)
        self.files.write(found.as_dict(self.words.min_count), *files)

    def _sentences(self) -> None:
        from ctxmt_fairseq.analysis import sentence_attention as attention

        if self.words.length:
            raise BadInput("--length needs --by word")
        _, sentences = self.attention(self.side)
        found = attention.sentence_attention(sentences)
        if not found:
            raise BadInput("expected sentences with context, found none", self.text)
        print(attention.sentence_table(found))
        points = attention.sentence_points(found)
        record = {"attention": [each._asdict() for each in found]}
        title = f"{self.path}\n{self.text}"
        self.files.draw(points, "place of the context sentence", record, "context", title=title, bars=True)
