"""Few-shot settings of one training set: its metadata with annotations kept on k examples per combination.

The annotations are the chosen attributes, fields of PREFIX's metadata; the values that a line has for them
are its combination. For every k of --counts a folder K below --out gets the metadata in which k lines of each
combination (all, where there are fewer) keep them; setting.json, which says how many those are; and links to
PREFIX's other files. So OUT/K/NAME is a prefix for ctxmt embed, and one data folder of ctxmt preprocess
serves all settings. Other fields stay, and lines that keep their annotations for a small k keep them for a
larger one.

With --sentences the kept attributes are written as sentences:
  {"speaker": {"feminine": "I am a woman", "masculine": "I am a man"},
   "addressee+number": {"mixed+many": "I'm talking to a group of people", "feminine+": ""}}
(several attributes in one sentence are joined by +; an attribute that is missing has no value; an empty
sentence says nothing).

Examples:
  ctxmt control few-shot corpus/train --attributes speaker,formality --counts 0,1,5,30,300,all --out few-shot
  ctxmt embed data-bin --train few-shot/5/train --valid corpus/valid --out data-bin/contexts-5
"""

import re
from typing import Any, Dict, List, Optional

from ctxmt_fairseq.base import option_types
from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input, OutputFolder, Prefix


class FewShot(Command):
    prefix: Prefix = argument("PREFIX", "of a text and its metadata")
    attributes: str = option("fields, joined by commas", metavar="NAMES")
    counts: str = option("examples per combination, joined by commas: 0,1,5,30,all", metavar="K")
    out: OutputFolder = option("a new or empty folder")
    seed: int = option("of the draw", 1, option_types.seed)
    sentences: Optional[Input] = option("JSON: attribute -> value -> sentence")

    def run(self) -> None:
        from ctxmt_fairseq.base.tables import aligned_table
        from ctxmt_fairseq.evaluation.attribute_control import attribute_sentences
        from ctxmt_fairseq.evaluation.attribute_control.few_shot import write_settings

        attributes = self.attributes.split(",")
        if not all(attributes) or len(set(attributes)) < len(attributes):
            raise BadInput(f"--attributes {self.attributes}: expected distinct names joined by commas")
        sentences = None
        if self.sentences:
            sentences = attribute_sentences.read_sentences_of_attributes(self.sentences)
            attribute_sentences.check_attributes(sentences, attributes)
        counts = _counts(self.counts)
        settings = write_settings(self.prefix, attributes, counts, self.out, self.seed, sentences)
        head = ["per combination", "kept", "combinations", "of them complete", "% of annotated", "lines"]
        print(aligned_table([head, *map(_row, settings)]))


def _row(setting: Dict[str, Any]) -> List[str]:
    """A setting in the table."""
    count, kept, combinations = setting["count"], setting["kept"], setting["combinations"]
    complete = sum(count in ("all", entry["kept"]) for entry in combinations)
    share = f"{100 * kept / setting['annotated']:.2f}"
    return [*map(str, (count, kept, len(combinations), complete)), share, str(setting["lines"])]


def _counts(text: str) -> List[Optional[int]]:
    """Numbers joined by commas, None for "all"."""
    counts: List[Optional[int]] = []
    for part in text.split(","):
        if part != "all" and not re.fullmatch("[0-9]{1,18}", part):
            expected = "expected whole numbers or 'all', joined by commas"
            raise BadInput(f"--counts {text}: {expected}, found {part!r}")
        counts.append(None if part == "all" else int(part))
    if len(set(counts)) < len(counts):
        raise BadInput(f"--counts {text}: give every number once")
    return counts
