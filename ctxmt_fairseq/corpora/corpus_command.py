"""Commands that read a corpus or make one: their options, and what is printed at the end."""

import functools
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Dict, Iterable, List, Optional, Sequence, Tuple

from ctxmt_fairseq.base import option_types
from ctxmt_fairseq.base.command import Command, OptionGroup, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Language, OutputPrefix, Prefix
from ctxmt_fairseq.corpora.cleaning import chosen_steps
from ctxmt_fairseq.corpora.pairs import Part

if TYPE_CHECKING:
    from ctxmt_fairseq.corpora.films import HeldOut
    from ctxmt_fairseq.corpora.text_rows import TextFiles

_SHOWN = 20  # so many broken units are printed


class OfLanguages(Command):
    source_lang: Language = option("")
    target_lang: Language = option("")

    @property
    def languages(self) -> Tuple[str, str]:
        return self.source_lang, self.target_lang


class OfCorpus(OfLanguages):
    prefix: Prefix = argument("PREFIX", "how the names of the corpus' files begin")

    def text_files(self, ids_optional: bool = False) -> "TextFiles":
        from ctxmt_fairseq.corpora.text_rows import TextFiles

        return TextFiles(self.prefix, *self.languages, ids_optional=ids_optional)


class NewCorpus(OfLanguages):
    """A command that makes a corpus, or several with --held-out; the account calls it ``kind`` (or by the
    command), and counts the input in ``unit``."""

    kind: ClassVar[str] = ""
    unit: ClassVar[str] = "lines"

    out: OutputPrefix = option("how the names of the new files begin")

    def parts(self) -> Iterable[Part]:
        """Yield what is written."""
        raise NotImplementedError

    def start(self) -> Optional[int]:
        """``run``; an error names the command that reads a file which looks like another kind of corpus."""
        from ctxmt_fairseq.corpora.file_kinds import hint_of

        try:
            return super().start()
        except BadInput as error:
            if self.kind or "this looks like" in str(error):
                raise
            raise BadInput(f"{error}{hint_of(self.inputs(), type(self).__name__.lower())}") from None

    def run(self) -> None:
        self.write(self.parts())

    def write(self, parts: Iterable[Part], held_out: Optional["HeldOut"] = None) -> None:
        """Write parts, and print the account; held-out documents go to other corpora."""
        from ctxmt_fairseq.corpora.films import HeldOut
        from ctxmt_fairseq.corpora.writer import write_corpus

        held_out = held_out or HeldOut(())
        settings = {name: value for name, value in self.settings().items() if name != "workers"}
        record = write_corpus(
            parts,
            [self.out, *held_out.prefixes],
            self.languages,
            {"kind": self.kind or type(self).__name__.lower(), "unit": self.unit, "settings": settings},
            held_out,
        )
        print_counts(record)


def print_counts(record: Dict[str, Any]) -> None:
    for corpus, counts in record["corpora"].items():
        print(f"{corpus}: {counts['sentences']} sentences in {counts['documents']} documents")
    print(f"{record['read']} {record['unit']} read, {record['kept']} kept")
    for reason, number in record["left_out"].items():
        print(f"  left out, {reason}: {number}")
    for remark, number in record["remarks"].items():
        if number:
            print(f"  {remark}: {number}")
    for broken in record["broken"][:_SHOWN]:
        print(f"  broken: {broken}")
    if len(record["broken"]) > _SHOWN:
        print(f"  and {len(record['broken']) - _SHOWN} more that are broken, in PREFIX.counts.json")


def processes() -> Any:
    return option("processes", 1, option_types.workers)


def skip_broken(units: str = "lines") -> Any:
    return option(f"leave out broken {units}, and list them")


def cleaning(default: Sequence[str] = ()) -> Any:
    """A field with the names of steps of cleaning, by default none or all."""
    text = f"steps of cleaning, see opensubtitles (default: {'all' if default else 'none'})"
    return option(text, default, chosen_steps, metavar="NAMES")


class FileWise(OptionGroup):
    """How many processes read the files, and what happens to broken ones."""

    workers: int = processes()
    skip_broken: bool = skip_broken("files")

    def parts(self, work: Callable, units: Callable, items: Iterable[Any]) -> Iterable[Part]:
        """Parts of items, made by ``work`` in so many workers; ``units`` counts those of a broken item."""
        from ctxmt_fairseq.corpora.workers import in_order, skipping

        work = functools.partial(skipping, work, units) if self.skip_broken else work
        return in_order(work, items, self.workers)


class Admitted(OptionGroup):
    source_admits: Optional[List[str]] = option(
        "languages that the source side may be in", type=option_types.language_code, metavar="CODE"
    )
    target_admits: Optional[List[str]] = option(
        "languages that the target side may be in", type=option_types.language_code, metavar="CODE"
    )
