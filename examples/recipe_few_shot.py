"""MTCue's few-shot settings (section 3.2, figure 4): the same training text throughout, its attributes known
for K examples of each combination of their values; accuracy against K."""

import os
import shutil
from pathlib import Path
from typing import Any, List, Sequence

from recipe_running import BadRecipe, OptionParser, run, split_extra
from recipe_steps import train

from ctxmt_fairseq.corpora.data_folder import read_description
from ctxmt_fairseq.text.text_lines import iterate_lines

STARTS = {"MTCUE": "MTCUE", "TAGGING": "BASE-PM"}  # system -> the run that its training starts from
DESCRIPTION = """
TRAIN and VALID are prefixes of annotated text (TRAIN.SRC, TRAIN.TGT and its metadata), SET is what ctxmt
control attributes reads. DATA is the data folder of RUNS/MTCUE and RUNS/BASE-PM, from which training starts,
and which are evaluated for K = 0. Every line is a document of its own: attributes are the only context. All
results: OUT/SYSTEM-K.json, OUT/few-shot.png. A finished training is not repeated; the options
of train.sh come from the environment (GPUS=4 ...).
"""


def few_shot(recipe: Any, arguments: Sequence[str]) -> None:
    """Train every system on every setting, and measure it."""
    arguments, extra = split_extra(arguments)
    parser = OptionParser(
        prog="few_shot.sh",
        usage="few_shot.sh TRAIN VALID SET DATA RUNS OUT --attributes NAMES [OPTIONS] "
        "[-- OPTIONS OF fairseq-train]",
        description=DESCRIPTION,
    )
    for name in ("train", "valid", "set", "data", "runs", "out"):
        parser.add_argument(name, metavar=name.upper())
    parser.add_option("attributes", "", "fields of the metadata, joined by commas")
    parser.add_option(
        "sentences", "", "JSON, attribute -> value -> the sentence for it, see ctxmt control few-shot"
    )
    counts = "examples per combination; 0, the paper's zero-shot; all"
    parser.add_option("counts", "0,1,5,30,300,3000,30000,all", counts)
    parser.add_option("systems", "MTCUE TAGGING", "MTCUE, TAGGING")
    parser.add_option("encoder", "minilm", "that of DATA/contexts")
    parser.add_option("seed", "1", "of the draw and of the training")
    parser.add_dry_run()
    args = parser.parse_args(arguments)
    systems = args.systems.split()
    for system in systems:
        if system not in STARTS:
            raise BadRecipe(f"--systems {system}: expected {' or '.join(STARTS)}")
    if not args.attributes:
        raise BadRecipe(f"--attributes: expected fields of the metadata of {args.train}")
    if not args.dry_run:
        _prepare(args)
    results = [
        _system(recipe, args, system, count, extra) for system in systems for count in args.counts.split(",")
    ]
    if not args.dry_run:
        picture = ["--across", "examples", "--output", f"{args.out}/few-shot.png"]
        run(["ctxmt", "analyse", "results", *results, *picture], False)


def _prepare(args: Any) -> None:
    """The metadata of all settings, and a data folder that serves them all."""
    description = read_description(args.data)
    source, target = description["source_lang"], description["target_lang"]
    text = Path(args.out, "text")
    text.mkdir(parents=True, exist_ok=True)
    for prefix, name in ((args.train, "train"), (args.valid, "valid")):
        _lines_as_documents(Path(prefix), text / name, source)
    draw = ["--attributes", args.attributes, "--seed", args.seed, *_sentences(args)]
    for name, counts, folder in (("train", args.counts, "settings"), ("valid", "all", "valid")):
        settings = Path(args.out, folder)
        if not all((settings / count).is_dir() for count in counts.split(",")):
            shutil.rmtree(settings, ignore_errors=True)  # of fewer counts; those are drawn as they were
            command = ["ctxmt", "control", "few-shot", text / name, *draw]
            run([*command, "--counts", counts, "--out", settings], False)
    if not Path(args.out, "data").is_dir():
        command = ["ctxmt", "preprocess", "--source-lang", source, "--target-lang", target]
        command += ["--like", args.data, "--train", text / "train", "--valid", text / "valid"]
        run([*command, "--out", Path(args.out, "data")], False)


def _lines_as_documents(prefix: Path, link: Path, source: str) -> None:
    """Links to a text under another prefix, with a document id for every line."""
    files = list(prefix.parent.glob(f"{prefix.name}.*"))
    if not any(file.name.startswith(f"{prefix.name}.meta.") for file in files):
        raise BadRecipe(f"{prefix}.meta.jsonl: no such file; expected the annotated text's metadata")
    for file in files:
        ending = file.name[len(prefix.name) :]
        if ending != ".docids":
            place = link.with_name(link.name + ending)
            place.unlink(missing_ok=True)
            place.symlink_to(file.resolve())
    ids = "".join(f"{number}\n" for number, _ in enumerate(iterate_lines(f"{prefix}.{source}"), 1))
    link.with_name(link.name + ".docids").write_text(ids)


def _sentences(args: Any) -> List[str]:
    return ["--sentences", args.sentences] if args.sentences else []


def _system(recipe: Any, args: Any, system: str, count: str, extra: Sequence[str]) -> str:
    """Train a system on K examples, unless that is done, and measure it; returns the file of the results."""
    start, folder = f"{args.runs}/{STARTS[system]}", f"{args.out}/{system}-{count}"
    if count == "0":
        folder = start
    elif not Path(folder, "finished").exists():
        store = f"{args.out}/contexts-{count}"
        command = ["ctxmt", "embed", f"{args.out}/data", "--train", f"{args.out}/settings/{count}/train"]
        command += ["--valid", f"{args.out}/valid/all/valid", "--no-sentences", "--encoder", args.encoder]
        if not args.dry_run:
            run([*command, "--out", store], False)
        options = ["--store", store, "--start-from", start, "--seed", args.seed]
        flags = ["--current-vector", "no"]
        if system == "MTCUE":
            flags += ["--source-context", "0", "--farthest-context", "5"]  # 5: as in RUNS/MTCUE
        options += ["--dry-run"] if args.dry_run else []
        if train(recipe, [system, f"{args.out}/data", folder, *options, "--", *flags, *extra]):
            Path(folder, "finished").touch()
    result = f"{args.out}/{system}-{count}.json"
    command = ["ctxmt", "control", "attributes", f"{folder}/checkpoints/checkpoint_best.pt", args.set]
    command += ["--data", f"{args.out}/data", *_sentences(args), "--system", system, "--json", result]
    command += ["--setting", f"{args.out}/settings/{count}/setting.json"]
    if count != "0":
        command += ["--context-store", f"{args.out}/contexts-{count}"]  # tags are looked up there
    if not args.dry_run:
        run([*command, *(["--cpu"] if os.environ.get("GPUS") == "0" else [])], False)
    return result
