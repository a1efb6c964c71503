"""Texts of contexts as points, before and after a model's context encoder: two maps, made with UMAP.

For mtcue_transformer and cue_transformer. Before is the text encoder's vector, after the context encoder's
output for this context alone. Colours show an attribute of the texts or a measured score, as figure 3 of the
MTCue paper; markers a second attribute; up to 30 points are named. How well the vectors themselves separate
the attributes is printed.

Contexts are
  --texts FILE   a text per line, and after tabs up to two attributes (strings or numbers): colour and marker
  --split NAME   all distinct metadata of a split of the data folder, the attribute is the field
  --scores FILE  the prompts that ctxmt control formality --json measured; with --texts or --split, of
                 their texts those that have a score. Then the score comes before other attributes.
  --previous FILE  sentences, as --texts, beside the metadata of --texts or --split in one map: the model
                 takes them for the previous sentence, and a further attribute tells them apart.

Example: ctxmt analyse contexts mtcue.pt --texts contexts.tsv --output contexts.png
"""


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.model_options import add_model_options
    from ctxmt_fairseq.option_types import seed

    parser.add_argument("path", metavar="MODEL", help="a checkpoint")
    texts = parser.add_argument_group("contexts")
    texts.add_argument(
        "--texts", metavar="FILE", help="text, or text TAB attribute (TAB attribute), per line"
    )
    texts.add_argument("--split", metavar="NAME", help="the metadata of train, valid, test, ..")
    texts.add_argument("--previous", metavar="FILE", help="previous sentences beside them, one per line")
    texts.add_argument("--scores", metavar="FILE.json", help="result of ctxmt control formality --json")
    texts.add_argument(
        "--sentences",
        action="store_true",
        help="the model takes the texts for the previous sentence, not for metadata",
    )
    parser.add_argument("--seed", type=seed, default=1, metavar="N", help="of the maps (default: 1)")
    parser.add_argument(
        "--output",
        metavar="FILE.png",
        default="contexts.png",
        help="the picture; FILE.csv and FILE.json beside it have the numbers (default: %(default)s)",
    )
    add_model_options(parser)


def run(args) -> None:
    from ctxmt_fairseq.analysis.architecture import architecture
    from ctxmt_fairseq.analysis.context_map import NUMBERS, context_map, write_context_map
    from ctxmt_fairseq.analysis.context_space import METADATA, PREVIOUS, check_distance, context_space
    from ctxmt_fairseq.analysis.formality_scores import SCORE, read_formality_scores
    from ctxmt_fairseq.analysis.labelled_texts import (
        LabelledTexts,
        metadata_and_sentences,
        metadata_texts,
        read_labelled_texts,
    )
    from ctxmt_fairseq.analysis.map_files import check_picture
    from ctxmt_fairseq.analysis.projection import check_umap
    from ctxmt_fairseq.cli.sentence_options import load_one_model
    from ctxmt_fairseq.errors import BadInput

    if args.texts is not None and args.split is not None or not (args.texts or args.split or args.scores):
        raise BadInput("expected --texts, --split or --scores, and not the first two together")
    if args.previous is not None and (args.sentences or args.scores):
        raise BadInput("--previous: expected neither --sentences nor --scores")
    check_picture(args.output, NUMBERS)
    check_umap()
    scores = read_formality_scores(args.scores) if args.scores else {}
    labelled = read_labelled_texts(args.texts) if args.texts else LabelledTexts(list(scores))
    previous = read_labelled_texts(args.previous) if args.previous else None
    loaded = load_one_model(args)
    distance = PREVIOUS if args.sentences or previous else METADATA
    check_distance(loaded.models[0], distance)
    if args.split:
        loaded.task.load_dataset(args.split)
        labelled = metadata_texts(loaded.task.dataset(args.split).contexts)
    if args.scores:
        known = len(labelled.texts)
        labelled = labelled.scored(SCORE, scores)
        print(f"{len(labelled.texts)} of {known} texts have a score")
    distances = [distance] * len(labelled.texts)
    if previous:
        distances = [METADATA] * len(labelled.texts) + [PREVIOUS] * len(previous.texts)
        labelled = metadata_and_sentences(labelled, previous)
    space = context_space(loaded, labelled.texts, distances)
    shown = context_map(
        labelled, space, loaded.task.known["encoder"], architecture(loaded.models[0]), args.seed
    )
    sizes = " to ".join(map(str, shown.dimensions))
    print(f"{len(labelled.texts)} texts, {sizes} dimensions", shown.table(), sep="\n\n")
    print("", *write_context_map(args.output, shown), sep="\n")
