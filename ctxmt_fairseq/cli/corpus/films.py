"""Metadata of films for a corpus of subtitles: genre, PG rating, writers, year, country, plot (MTCue).

The ids of the documents of PREFIX must be YEAR/IMDB/FILE, as "ctxmt corpus opensubtitles" writes them. --omdb
are records of the Open Movie Database: .json files, .jsonl with one on each line, or folders of them. --imdb
are IMDb's dumps: title.basics (genre, year), title.crew and name.basics (writers). Both may be compressed;
what both know is taken from --omdb. "N/A" and the like are no values; of years such as 2009-2013 the
document's own counts if it is among them, else the first. PREFIX.meta.jsonl keeps the other fields that it
has.

Prints, and writes to PREFIX.films.json, the share of sentences with each field, with 1 to 5 sentences before
them in their document, and with any context.

Example: ctxmt corpus films text/train --omdb omdb/ --imdb title.basics.tsv.gz title.crew.tsv.gz \\
             name.basics.tsv.gz
"""

from collections import Counter
from typing import List

from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input, OutputPrefix


class Films(Command):
    out: OutputPrefix = argument("PREFIX", "how the names of the corpus' files begin; .meta.jsonl is written")
    omdb: List[Input] = option("records (JSON)", [], metavar="FOLDER|FILE")
    imdb: List[Input] = option("dumps (.tsv, .tsv.gz)", [])

    def run(self) -> None:
        from ctxmt_fairseq.base.files import check_outputs
        from ctxmt_fairseq.base.tables import aligned_table
        from ctxmt_fairseq.corpora.film_metadata import add_film_metadata, films_of, joined
        from ctxmt_fairseq.corpora.film_records import read_imdb, read_omdb

        if not (self.omdb or self.imdb):
            raise BadInput("give --omdb or --imdb, the records of the films")
        check_outputs(f"{self.out}.meta.jsonl", f"{self.out}.films.json")
        wanted = films_of(self.out)
        seen: Counter = Counter()
        films = joined(read_omdb(self.omdb, wanted, seen), read_imdb(self.imdb, wanted))
        if not films:
            raise BadInput(f"none of the {len(wanted)} films of {self.out} is in --omdb or --imdb")
        record = add_film_metadata(self.out, films, seen)
        shares = record.pop("coverage")
        print(aligned_table([["", "sentences"], *([row, f"{share:.1%}"] for row, share in shares.items())]))
        print()
        for name, number in record.items():
            if name != "kind":
                print(f"{name}: {number}")
