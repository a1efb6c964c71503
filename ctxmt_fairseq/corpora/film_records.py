"""Reads databases of films: records of the Open Movie Database, and the dumps of IMDb.

Only the films of a corpus are kept. Ids are as OPUS writes them, without tt and zeros.
"""

import re
from collections import Counter
from pathlib import Path
from typing import AbstractSet, Any, Dict, Iterator, List, Sequence, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.films import normal_id
from ctxmt_fairseq.text.json_files import Place, json_lines, load_json
from ctxmt_fairseq.text.metadata_text import texts_by_field
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines

Films = Dict[str, Dict[str, str]]  # id -> value by field
OMDB = {
    "genre": "Genre", "pg_rating": "Rated", "writers": "Writer",
    "year": "Year", "country": "Country", "plot": "Plot",
}  # fmt: skip
FIELDS = tuple(OMDB)  # MTCue's, in the order of its table 1
_FILE = re.compile(r".*\.(json|(?P<lines>jsonl|ndjson))(\.(gz|zst|xz|bz2))?")
_NOTHING = r"\N"


def read_omdb(paths: Sequence[PathLike], wanted: AbstractSet[str], seen: Counter) -> Films:
    """Find wanted films among records of the Open Movie Database: film -> its texts, unchanged, for each
    field. A film's first record counts.

    Args:
        paths: files, compressed or not, with a record, a list (JSON) or lines of them (.jsonl, .ndjson), or
            folders of these.
        seen: counts the records, and the useless ones by reason.
    """
    films: Films = {}
    for path in _record_files(paths):
        for place, record in _records(path):
            if not isinstance(record, dict):
                raise place.error("expected a record of the Open Movie Database, a JSON object")
            seen["records"] += 1
            stem = path.name.partition(".")[0]
            name = record.get("imdbID") or (stem if re.fullmatch(r"tt\d+", stem) else None)
            if record.get("Response") == "False" or not isinstance(name, str):
                seen["records that name no film"] += 1
            elif normal_id(name) not in wanted:
                seen["records of films that the corpus has not"] += 1
            elif normal_id(name) in films:
                seen["further records of a film"] += 1
            else:
                known = {field: record.get(key) for field, key in OMDB.items()}
                films[normal_id(name)] = texts_by_field(known, place.error)
    return films


def _record_files(paths: Sequence[PathLike]) -> Iterator[Path]:
    for path in map(Path, paths):
        if not path.is_dir():
            yield path
            continue
        files = sorted(file for file in path.rglob("*") if _FILE.fullmatch(file.name))
        if not files:
            raise BadInput("the folder has no records (*.json, *.jsonl, *.ndjson, compressed or not)", path)
        yield from files


def _records(path: Path) -> Iterator[Tuple[Place, Any]]:
    found = _FILE.fullmatch(path.name)
    if found and found["lines"]:
        yield from json_lines(path)
        return
    content = load_json(path)
    for record in content if isinstance(content, list) else [content]:
        yield Place(path), record


def read_imdb(paths: Sequence[PathLike], wanted: AbstractSet[str]) -> Films:
    """Find films in IMDb's dumps, compressed or not.

    The columns tell the dumps apart: ``title.basics.tsv`` has genre and year, ``title.crew.tsv`` the numbers
    of writers, and ``name.basics.tsv`` their names.
    """
    films: Films = {}
    writers: Dict[str, List[str]] = {}
    names: Dict[str, str] = {}
    heads = {path: next(iterate_lines(path), "").split("\t") for path in paths}
    for path, head in sorted(heads.items(), key=lambda item: "nconst" in item[1]):  # names come last
        if {"tconst", "genres", "startYear"} <= set(head):
            for film, row in _rows(path, head, wanted):
                found = {"genre": ", ".join(row["genres"].split(",")), "year": row["startYear"]}
                films.setdefault(film, {}).update(
                    {key: text for key, text in found.items() if text != _NOTHING}
                )
        elif {"tconst", "writers"} <= set(head):
            for film, row in _rows(path, head, wanted):
                if row["writers"] != _NOTHING:
                    writers[film] = row["writers"].split(",")
        elif {"nconst", "primaryName"} <= set(head):
            people = {normal_id(person) for each in writers.values() for person in each}
            names |= {person: row["primaryName"] for person, row in _rows(path, head, people)}
        else:
            names_of_dumps = "title.basics, title.crew or name.basics"
            raise BadInput(f"does not have the columns of IMDb's {names_of_dumps}", path)
    if writers and not any("primaryName" in head for head in heads.values()):
        raise BadInput("give name.basics.tsv too, because title.crew has only numbers of writers")
    for film, people_of in writers.items():
        known = [names[normal_id(person)] for person in people_of if normal_id(person) in names]
        if known:
            films.setdefault(film, {})["writers"] = ", ".join(known)
    return films


def _rows(path: PathLike, head: List[str], wanted: AbstractSet[str]) -> Iterator[Tuple[str, Dict[str, str]]]:
    """Read the lines of wanted ids, which are in the first column; these files quote nothing."""
    lines = iterate_lines(path)
    next(lines, None)
    for number, line in enumerate(lines, 2):
        name = normal_id(line.partition("\t")[0])
        if name not in wanted:
            continue
        columns = line.split("\t")
        if len(columns) != len(head):
            raise BadInput(f"expected {len(head)} columns, found {len(columns)}", path, number)
        yield name, dict(zip(head, columns, strict=True))
