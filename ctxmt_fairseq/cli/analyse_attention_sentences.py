"""Which of the context sentences a model attends to: the share of each by its place (-1 is the sentence
before), and the entropy over them, -sum p ln p in nats, beside that of equal shares.

Head average; without <bos> and </s>; the mean over the words of a sentence, then over sentences with as many
context sentences. For the models of ctxmt analyse attention-words, trained with several context sentences.
Reads TEXT.SRC, TEXT.TGT and TEXT.docids, the languages being the model's, and TEXT.current if it is there.

Example: ctxmt analyse attention-sentences checkpoint_best.pt text/test --output sentences.png
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.attention_options import add_text_attention_options
    from ctxmt_fairseq.cli.chart_options import add_output_options

    add_text_attention_options(parser)
    add_output_options(parser)


def run(args) -> None:
    from ctxmt_fairseq.analysis import sentence_attention as attention
    from ctxmt_fairseq.cli.attention_options import attention_of_text
    from ctxmt_fairseq.cli.chart_options import check_chart_outputs, write_chart
    from ctxmt_fairseq.errors import BadInput

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
