"""Average the parameters of the checkpoints nearest to the best one, itself included.

The result loads like any checkpoint but holds no optimizer state, so training cannot resume from it.

Example: ctxmt average checkpoints --count 5 --output checkpoints/averaged.pt
"""

from pathlib import Path


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.model_options import add_user_dir
    from ctxmt_fairseq.option_types import positive_int

    parser.add_argument(
        "save_dir",
        metavar="SAVE_DIR",
        type=Path,
        help="fairseq-train's --save-dir, or the folder of its checkpoints/",
    )
    parser.add_argument("--count", type=positive_int, default=5, metavar="N", help="how many (default 5)")
    parser.add_argument(
        "--around", choices=["best", "last"], default="best", help="nearest to which one (default best)"
    )
    add_user_dir(parser)
    parser.add_argument("--output", type=Path, metavar="FILE", help="default averaged.pt, beside them")


def run(args) -> None:
    from ctxmt_fairseq import register
    from ctxmt_fairseq.checkpoints import checkpoints_in, nearest_checkpoints, save_dir, write_average
    from ctxmt_fairseq.files import check_outputs, keeping

    register()
    folder = save_dir(args.save_dir)
    output = args.output or folder / "averaged.pt"
    with keeping(checkpoints_in(folder)):
        check_outputs(output)
    checkpoints = nearest_checkpoints(folder, args.count, args.around)
    write_average(checkpoints, output)
    print(f"{output}: the average of {len(checkpoints)}")
    for checkpoint in checkpoints:
        score = "none" if checkpoint.score is None else f"{checkpoint.score:.4f}"
        print(f"{checkpoint.path.name:<24} {checkpoint.updates:>9} updates   validation score {score}")
