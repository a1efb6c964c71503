"""Embed the sentences and metadata of a data folder once, into a context store for the task metadata_context.

A split is the text that ctxmt preprocess read: PREFIX.SRC and PREFIX.TGT, PREFIX.docids. Its metadata are
PREFIX.meta.jsonl (one JSON object of strings per line) and files PREFIX.meta.FIELD (one value per line, blank
where there is none). Every distinct text is embedded once. Values such as N/A are left out, and values that
say too little get a prefix ("PG rating: R"); --dry-run shows the texts and writes nothing.

The same command continues an interrupted run. Where a store exists, it is verified, and only what is new is
embedded.

Encoders: minilm (384 dimensions; from an installed package, nothing is downloaded), discrete (a random vector
for each text, the paper's ablation), or any sentence-transformers or transformers model by folder or name.
cls:NAME takes the state of its first token (as the MTCue authors use DistilBERT), mean:NAME the mean of all;
NAME alone does as the model says, else mean.

Example: ctxmt embed data-bin --train text/train --valid text/valid --test text/test --dry-run
"""

from pathlib import Path
from typing import Any, Optional

from ctxmt_fairseq.base.command import argument, option
from ctxmt_fairseq.base.option_types import name, non_negative_int
from ctxmt_fairseq.base.paths import Folder, Output, OutputFolder
from ctxmt_fairseq.base.shared_command import SharedCommand
from ctxmt_fairseq.cli.options.device import Device
from ctxmt_fairseq.cli.options.result_files import as_json
from ctxmt_fairseq.cli.options.split_prefixes import Splits
from ctxmt_fairseq.vectors.context_store import DTYPES
from ctxmt_fairseq.vectors.text_encoders import BATCH, DEFAULT_ENCODER


class Embed(SharedCommand):
    data: Folder = argument("DATA", "a data folder of ctxmt preprocess")
    splits: Splits
    out: Optional[OutputFolder] = option("the store's folder (default: DATA/contexts)")
    encoder: str = option("minilm, discrete, or a sentence-transformers model", DEFAULT_ENCODER, name)
    dtype: str = option("of the vectors", "float32", choices=list(DTYPES))
    fields: Optional[str] = option(
        "metadata to embed: all, none, or names (default: all that are found)", metavar="A,B"
    )
    no_sentences: bool = option("embed metadata only")
    blank_lines: bool = option("a blank line on both sides ends a document; there are no ids")
    batch_size: int = option("texts encoded together", BATCH)
    hardware: Device
    dry_run: Optional[int] = option(
        "show the texts of the first N sentences (default 3) of each split, and counts; write nothing",
        type=non_negative_int,
        nargs="?",
        const=3,
    )
    json: Optional[Output] = option("write the counts there too")

    def run(self) -> None:
        from ctxmt_fairseq.generation.registration import register

        register()

        from ctxmt_fairseq.base.files import write_files
        from ctxmt_fairseq.corpora.embed import Request, embed
        from ctxmt_fairseq.corpora.embed_preview import preview, preview_text
        from ctxmt_fairseq.generation.loading import chosen_device

        fields = {None: None, "all": None, "none": []}.get(self.fields, (self.fields or "").split(","))
        splits = self.splits.prefixes()
        request = Request(self.data, splits, fields, not self.no_sentences, self.blank_lines)
        out = self.out or str(Path(self.data) / "contexts")
        if self.dry_run is not None:
            report = preview(request, out, self.dry_run)
            print(preview_text(report))
        else:
            device = str(chosen_device(self.hardware.chosen))
            report = embed(request, out, self.encoder, self.dtype, device, self.batch_size)
            print(result_text(report) if report else "")
        write_files([(self.json, as_json(report))])


def result_text(report: Any) -> str:
    """The table of splits, and what the store saves."""
    from ctxmt_fairseq.base.tables import aligned_table

    table = [["split", "sentences", "contexts", "new vectors"]]
    for split, part in report["splits"].items():
        table.append([split, *(str(part[key]) for key in ("sentences", "contexts", "new"))])
    return (
        f"{aligned_table(table)}\n\n"
        f"{report['store']}: {report['distinct']} distinct texts of {report['contexts']} contexts, "
        f"{report['bytes'] / 1e6:.1f} MB where a vector for every context takes "
        f"{report['bytes_one_per_context'] / 1e6:.1f} MB ({report['saving']:.1%} saved)"
    )
