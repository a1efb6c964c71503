"""Which latent group a sentence's tokens are assigned to: a heat map of tokens and groups.

For a caching_transformer with --shortening group (every token's weights sum to 1) or select (every group's
do), as figure 3 of the sequence-shortening paper. The groups are those of the sentence itself: its context,
which the options name as for the other analyses, does not change them.

Example: ctxmt analyse groups checkpoint_best.pt --sentence "What's your plan?" --output groups.png
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.sentence_options import add_sentence_options

    add_sentence_options(parser)


def run(args) -> None:
    from ctxmt_fairseq.analysis.map_files import NUMBERS, check_picture, write_map
    from ctxmt_fairseq.analysis.token_groups import token_groups, used_groups
    from ctxmt_fairseq.cli.sentence_options import load_one_model, read_sentence

    passage = read_sentence(args)
    check_picture(args.output, NUMBERS)
    groups = token_groups(load_one_model(args), passage.sentences[passage.current])
    print(f"{len(groups.rows)} tokens in {used_groups(groups.values)} of {len(groups.columns)} groups\n")
    print(*write_map(args.output, groups, annotate=True, highest=1.0), sep="\n")
