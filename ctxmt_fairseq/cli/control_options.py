"""What the evaluations of attribute control share: a model or translations, and a result to write."""

import json
from typing import Any, Dict, Iterable


def add_evaluation_options(parser: Any) -> None:
    """The options of the search, of the result's files, and of the model."""
    from ctxmt_fairseq.cli.model_options import add_model_options
    from ctxmt_fairseq.cli.search_options import add_search_options
    from ctxmt_fairseq.option_types import positive_int

    parser.add_argument(
        "--unspaced", action="store_true", help="a language without spaces: phrases are found anywhere"
    )
    result = parser.add_argument_group("result")
    result.add_argument("--json", metavar="FILE", help="write the result there too")
    result.add_argument(
        "--examples", metavar="FILE", help="write every translation and what it shows as JSON lines"
    )
    result.add_argument(
        "--system", metavar="NAME", help="what the result is called (default: the model's path)"
    )
    result.add_argument(
        "--setting",
        metavar="FILE",
        help="the setting.json of the training, which ctxmt analyse results --across examples needs",
    )
    add_search_options(parser, ("beam", "lenpen")).add_argument(
        "--batch-size", type=positive_int, default=32, metavar="N", help="sentences side by side"
    )
    add_model_options(parser)


def check_system(args: Any, *hypotheses: str) -> None:
    """Raises BadInput: not either a model or the options named, all of them; no writable output."""
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.files import check_outputs

    given = [getattr(args, name.lstrip("-").replace("-", "_")) is not None for name in hypotheses]
    if (args.path is not None) == any(given) or any(given) != all(given):
        raise BadInput(f"expected either MODEL or {' and '.join(hypotheses)}")
    check_outputs(args.json, args.examples)


def read_setting(args: Any) -> Any:
    """What the result says of --setting; None without it.

    Raises:
        BadInput: not the file of a few-shot setting.
    """
    from ctxmt_fairseq.data.json_files import Place, get, load_json

    if args.setting is None:
        return None
    place, record = Place(args.setting), load_json(args.setting)
    get(place, record, "kept", int)
    return {name: record[name] for name in ("count", "kept", "seed") if name in record}


def rule_of(args: Any, spaced: Any, loaded: Any = None) -> Any:
    """Whether a phrase occurs in a translation: by the rule ``spaced``, or with --unspaced anywhere. Both are
    compared as the data folder of the model, or that which --data names, has its text: in lower case, say.

    Raises:
        BadInput: no such data folder.
    """
    from ctxmt_fairseq.corpora.text_steps import steps_of_language
    from ctxmt_fairseq.evaluation.attribute_control.judging import anywhere, in_surface_form

    steps = steps_of_language(args.data, "target") if loaded is None else loaded.target_subwords.steps
    return in_surface_form(anywhere if args.unspaced else spaced, steps.surface)


def load_translate(args: Any) -> Any:
    """The models that the options name, and a function that translates sentences, each a document of its own.

    Without ``--current-vector yes`` the current sentence's own vector is no context, as in the MTCue authors'
    evaluation: what an evaluation gives as context is all, and without context there is none.

    Raises:
        BadInput: see ``Translator.load``.
    """
    from ctxmt_fairseq.cli.model_options import load_from_options

    model = load_from_options(args, args.batch_size)
    reads_metadata = model.loaded.reads_metadata
    if reads_metadata:
        args.current_vector = args.current_vector or "no"
        model = model.with_options(current_vector=args.current_vector)

    def translate(sentences, metadata):
        contexts = [[fields] for fields in metadata] if reads_metadata else None
        return [best for (best,) in model.translate([[sentence] for sentence in sentences], contexts)]

    return model.loaded, translate


def write_result(
    args: Any, system: str, setting: Any, report: Dict[str, Any], examples: Iterable[str]
) -> None:
    """The files that --json and --examples name.

    Args:
        system: the result's name, unless --system names it.
    """
    from ctxmt_fairseq.files import write_files

    current = {"current_vector": args.current_vector} if args.current_vector else {}
    result = {"system": args.system or system, "setting": setting, **current, **report}
    report_json = json.dumps(result, indent=2, ensure_ascii=False) + "\n"
    write_files([(args.json, report_json), (args.examples, "".join(line + "\n" for line in examples))])
