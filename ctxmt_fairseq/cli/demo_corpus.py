"""Write a small English-French corpus whose ambiguities need context, with contrastive sets.

The documents come from a grammar (no downloads); the same options give the same files.
DIR/contrastive/sets.json lists the sets: which phenomenon, which context answers it, which format.

Example: ctxmt demo-corpus demo --documents 8000
"""

import json
from pathlib import Path
from typing import Literal, Optional

from ctxmt_fairseq.base import option_types
from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.paths import OutputFolder


class DemoCorpus(Command):
    directory: OutputFolder = argument("DIR", "a new or empty folder")
    seed: int = option("of what is drawn", 1, option_types.seed)
    documents: int = option("training documents", 8000)
    evaluation_documents: int = option("documents in valid, and in test", 200)
    document_length: Optional[int] = option("sentences of every document (default: 4 to 8)")
    examples: int = option("examples per contrastive set, an even number", 300)
    phenomena: Optional[str] = option(
        "what the documents are about: pronoun, lexical-choice, lexical-cohesion, deixis, ellipsis, "
        "cataphora, speaker-gender, addressee-gender (default: everything; few are learned sooner)",
        metavar="A,B",
    )
    formality: Literal["stated", "implied"] = option(
        "where tu and vous come from: a metadata field that states the formality, or genre, plot and "
        "sentences that imply it, while no text names it",
        "stated",
    )
    json: bool = option("print JSON instead of a table")

    def run(self) -> None:
        from ctxmt_fairseq.corpora.demo_corpus.write import write_demo_corpus

        written = write_demo_corpus(
            Path(self.directory),
            self.seed,
            self.documents,
            self.evaluation_documents,
            self.document_length,
            self.examples,
            None if self.phenomena is None else self.phenomena.split(","),
            self.formality,
        )
        if self.json:
            print(json.dumps({"directory": str(self.directory), **written}, indent=2))
            return
        print(f"{'split':<20} {'documents':>9} {'sentences':>9}")
        for split in written["splits"]:
            print(f"{split['name']:<20} {split['documents']:>9} {split['sentences']:>9}")
        print(f"\n{'contrastive set':<20} {'examples':>9} {'format':>9}  {'distances':<9}  answered by")
        for entry in written["sets"]:
            distances = ", ".join(map(str, entry["distances"]))
            size = f"{entry['examples']:>9} {entry['format']:>9}"
            print(f"{entry['name']:<20} {size}  {distances:<9}  {entry['context']}")
