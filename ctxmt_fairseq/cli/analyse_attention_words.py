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

import json
from typing import Any, List


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.attention_options import add_text_attention_options
    from ctxmt_fairseq.option_types import positive_int

    add_text_attention_options(parser)
    parser.add_argument("--by", choices=("word", "sentence"), default="word",
                        help="what is shown: the words that attend, or the sentences that are attended to "
                        "(default: %(default)s)")  # fmt: skip
    words = parser.add_argument_group("by word")
    words.add_argument("--min-count", type=positive_int, default=10, metavar="N",
                       help="of words that are shown, and of sentences of a length (default: %(default)s)"
                       )  # fmt: skip
    words.add_argument("--length", type=positive_int, metavar="N",
                       help="positions in sentences of N words alone (default: in all)")  # fmt: skip
    parser.add_argument("--json", metavar="FILE",
                        help="write all words, lengths and positions, or the sentences' shares there"
                        )  # fmt: skip
    parser.add_argument("--output", metavar="FILE.png",
                        help="the curves by length, and in FILE.positions.png those by position; or the "
                        "sentences' shares; .csv in place of .png has the numbers")  # fmt: skip


def run(args) -> None:
    if args.by == "word":
        _words(args)
    else:
        _sentences(args)


def _words(args) -> None:
    from pathlib import Path

    from ctxmt_fairseq.analysis.map_files import check_picture
    from ctxmt_fairseq.analysis.word_attention import word_attention
    from ctxmt_fairseq.cli.attention_options import attention_of_text
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.files import check_outputs, write_files
    from ctxmt_fairseq.plots.charts import chart, chart_records
    from ctxmt_fairseq.provenance import made_by
    from ctxmt_fairseq.tables import csv_text

    pictures: List[Path] = []
    if args.output:
        pictures = [Path(args.output), Path(args.output).with_suffix(".positions.png")]
        for picture in pictures:
            check_picture(picture, (".csv",), [args.json])
    check_outputs(args.json)
    _, text, sentences = attention_of_text(args)
    found = word_attention(sentences, args.length)
    if not found.sentences:
        raise BadInput("expected sentences with context, found none", args.text)
    print(found.table(args.min_count))
    record = {**found.as_dict(args.min_count), "made_by": made_by(args)}
    outputs: List[Any] = [(args.json, json.dumps(record, indent=2, ensure_ascii=False) + "\n")]
    for picture, (across, points) in zip(pictures, found.points(args.min_count).items(), strict=False):
        title = f"{args.path}\n{args.text}, {found.sentences} sentences with context"
        outputs += [
            (picture, chart(points, across, title)),
            (picture.with_suffix(".csv"), csv_text(chart_records(points, across))),
        ]
    write_files(outputs)


def _sentences(args) -> None:
    from ctxmt_fairseq.analysis import sentence_attention as attention
    from ctxmt_fairseq.cli.attention_options import attention_of_text
    from ctxmt_fairseq.cli.chart_options import check_chart_outputs, write_chart
    from ctxmt_fairseq.errors import BadInput

    if args.length:
        raise BadInput("--length: expected --by word")
    check_chart_outputs(args)
    _, _, sentences = attention_of_text(args)
    found = attention.sentence_attention(sentences)
    if not found:
        raise BadInput("expected sentences with context, found none", args.text)
    print(attention.sentence_table(found))
    points = attention.sentence_points(found)
    record = {"attention": attention.sentence_records(found)}
    title = f"{args.path}\n{args.text}"
    write_chart(args, points, "place of the context sentence", record, "context", title=title, bars=True)
