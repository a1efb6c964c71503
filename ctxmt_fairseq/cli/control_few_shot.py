"""Few-shot settings of one training set: its metadata with annotations kept on k examples per combination.

The annotations are the chosen attributes, fields of PREFIX's metadata; the values that a line has for them
are its combination. For every k of --counts a folder K below --out gets the metadata in which k lines of each
combination (all, where there are fewer) keep them; setting.json, which says how many those are; and links to
PREFIX's other files. So OUT/K/NAME is a prefix for ctxmt embed, and one data folder of ctxmt preprocess
serves all settings. Other fields stay, and the lines that keep annotations for a small k do so for a larger.

With --sentences the kept attributes are written as sentences:
  {"speaker": {"feminine": "I am a woman", "masculine": "I am a man"},
   "addressee+number": {"mixed+many": "I'm talking to a group of people", "feminine+": ""}}
(several attributes in one sentence are joined by +; an attribute that is missing has no value; an empty
sentence says nothing).

Examples:
  ctxmt control few-shot corpus/train --attributes speaker,formality --counts 0,1,5,30,300,all --out few-shot
  ctxmt embed data-bin --train few-shot/5/train --valid corpus/valid --out data-bin/contexts-5
"""

from typing import List, Optional


def add_arguments(parser) -> None:
    from ctxmt_fairseq.option_types import name, seed

    parser.add_argument("prefix", metavar="PREFIX", help="of a text and its metadata")
    parser.add_argument("--attributes", metavar="NAMES", required=True, help="fields, joined by commas")
    parser.add_argument(
        "--counts",
        metavar="K",
        required=True,
        help="examples per combination, joined by commas: 0,1,5,30,all",
    )
    parser.add_argument("--out", type=name, metavar="DIR", required=True, help="a new or empty folder")
    parser.add_argument("--seed", type=seed, default=1, metavar="N", help="of the draw (default: 1)")
    parser.add_argument("--sentences", metavar="FILE", help="JSON: attribute -> value -> sentence")


def run(args) -> None:
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.evaluation.attribute_control.attributes import (
        check_attributes,
        read_sentences_of_attributes,
    )
    from ctxmt_fairseq.evaluation.attribute_control.few_shot import write_settings
    from ctxmt_fairseq.tables import aligned_table

    attributes = args.attributes.split(",")
    if not all(attributes) or len(set(attributes)) < len(attributes):
        raise BadInput(f"--attributes {args.attributes}: expected distinct names joined by commas")
    sentences = None
    if args.sentences:
        sentences = read_sentences_of_attributes(args.sentences)
        check_attributes(sentences, attributes)
    settings = write_settings(args.prefix, attributes, _counts(args.counts), args.out, args.seed, sentences)
    rows = [["per combination", "kept", "combinations", "of them complete", "% of annotated", "lines"]]
    for setting in settings:
        combinations = setting["combinations"]
        complete = sum(entry["kept"] == setting["count"] for entry in combinations)
        rows.append(
            [
                str(setting["count"]),
                str(setting["kept"]),
                str(len(combinations)),
                str(len(combinations) if setting["count"] == "all" else complete),
                f"{100 * setting['kept'] / setting['annotated']:.2f}",
                str(setting["lines"]),
            ]
        )
    print(aligned_table(rows))


def _counts(text: str) -> List[Optional[int]]:
    """Numbers joined by commas, None for "all".

    Raises:
        BadInput: something else, or one of them twice.
    """
    from ctxmt_fairseq.errors import BadInput

    counts: List[Optional[int]] = []
    for part in text.split(","):
        if part != "all" and not (part.isascii() and part.isdigit()):
            raise BadInput(
                f"--counts {text}: expected whole numbers or 'all', joined by commas, found {part!r}"
            )
        counts.append(None if part == "all" else int(part))
    if len(set(counts)) < len(counts):
        raise BadInput(f"--counts {text}: expected every number once")
    return counts
