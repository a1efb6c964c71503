"""From the files that people download to a paper's text: the commands of a recipe's CORPORA."""

import os
import shlex
from pathlib import Path
from typing import Any, List

from recipe_running import BadRecipe

# The TED talks of IWSLT 2017, with the test sets of 2011 to 2014 for development and that of 2015 for test.
_TALKS = "{raw}/train.tags.{s}-{t}.%s"
_SET = "{raw}/IWSLT17.TED.tst20%s.{s}-{t}.%s.xml"
_DEVELOPMENT = [" ".join(_SET % (year, side) for year in (11, 12, 13, 14)) for side in ("{s}", "{t}")]
IWSLT17 = f"""
    ted --source {_TALKS % "{s}"} --target {_TALKS % "{t}"} --out {{train}}
    ted --source {_DEVELOPMENT[0]} --target {_DEVELOPMENT[1]} --out {{valid}}
    ted --source {_SET % (15, "{s}")} --target {_SET % (15, "{t}")} --out {{test}}
"""
EVERYWHERE = "--source-lang {s} --target-lang {t}"
NO_LANGUAGES = ("films",)


def corpus_commands(recipe: Any, args: Any) -> List[List[str]]:
    """The ``ctxmt corpus`` commands that make the text of a data folder; ``args`` are options of prepare.sh.

    A line of a table is a command without ``ctxmt corpus`` and the languages; in it {raw} is the folder of
    the downloaded files, {train} and {valid} are the prefixes of the text, {test} is "test" beside {valid},
    {s} and {t} the languages, {first} and {second} by alphabet, {pair} both so joined as OPUS does, {foreign}
    the one that is not English, {workers} the processes, {held-out} a share of the documents.
    """
    if args.corpus not in recipe.corpora:
        raise BadRecipe(f"--corpus {args.corpus}: expected one of {', '.join(recipe.corpora)}")
    source, target = args.source_lang, args.target_lang
    places = {
        **{"raw": args.raw, "train": args.train, "valid": args.valid, "s": source, "t": target},
        "test": str(Path(args.valid).with_name("test")),
        "pair": "-".join(sorted((source, target))),
        **dict(zip(("first", "second"), sorted((source, target)), strict=True)),
        "foreign": target if source == "en" else source,
        **{"workers": args.workers, "held-out": args.held_out},
    }
    commands = []
    for line in filter(str.strip, recipe.corpora[args.corpus].splitlines()):
        kind, *words = shlex.split(line)
        everywhere = [] if kind in NO_LANGUAGES else EVERYWHERE.split()
        commands.append(
            ["ctxmt", "corpus", kind, *(word.format_map(places) for word in (*words, *everywhere))]
        )
    return commands


def make_folders(args: Any) -> None:
    """The folders of the text."""
    if not os.path.isdir(args.raw):
        raise BadRecipe(f"{args.raw}: no such folder; expected the downloaded files that the README lists")
    for prefix in (args.train, args.valid):
        Path(prefix).parent.mkdir(parents=True, exist_ok=True)
