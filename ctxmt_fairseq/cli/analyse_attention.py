"""How a sentence's tokens attend to its context: a heat map of attention weights, averaged over heads.

For gated_context_transformer (its last encoder layer; figure 5 of Voita et al. 2018),
context_encoder_transformer (every layer of encoder and decoder), and dual_encoder_transformer and
caching_transformer (every decoder layer) with --context-fusion serial, parallel, separate or hierarchical;
and for mtcue_transformer (every decoder layer), whose context is whole texts. Useful is the attention to
words: without <bos>, <eos> and punctuation.

Example: ctxmt analyse attention checkpoint_best.pt --document talk.en --line 12 --output attention.png
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.sentence_options import add_sentence_options
    from ctxmt_fairseq.option_types import positive_int

    parser.add_argument(
        "--side",
        choices=("encoder", "decoder"),
        help="whose attention (default: the encoder's, if it attends to context)",
    )
    parser.add_argument(
        "--layer", type=positive_int, metavar="N", help="from 1 (default: the last that attends to context)"
    )
    parser.add_argument(
        "--target",
        metavar="TEXT",
        help="the translation that the decoder reads (default: the model's own, beam 4)",
    )
    add_sentence_options(parser)


def run(args) -> None:
    from ctxmt_fairseq.analysis.attention_map import attention_map
    from ctxmt_fairseq.analysis.map_files import NUMBERS, check_picture, write_map
    from ctxmt_fairseq.cli.sentence_options import load_one_model, read_sentence

    passage = read_sentence(args)
    check_picture(args.output, NUMBERS)
    loaded = load_one_model(args)
    attention = attention_map(loaded, passage, args.side, args.layer, args.target)
    print(attention.table())
    if attention.mean_useful is not None:
        print(f"\nuseful, mean over the words: {attention.mean_useful:.3f}")
    print("", *write_map(args.output, attention.map, attention.as_dict()), sep="\n")
