"""Metadata of films for a corpus: databases as they come, the join by IMDb's ids, the coverage."""

import bz2
import gzip
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.film_metadata import film_texts
from ctxmt_fairseq.corpora.film_records import read_omdb
from ctxmt_fairseq.corpora.films import Film, film_of_document

OMDB = {
    "Title": "Supernatural", "Year": "2005–2020", "Rated": "TV-14", "Released": "13 Sep 2005",
    "Genre": "Drama, Fantasy",
    "Writer": "Eric Kripke, Ben Edlund", "Plot": 'Dean and Sam get to\nknow "Lucifer".',
    "Country": "United States, Canada",
    "Ratings": [{"Source": "Internet Movie Database", "Value": "8.4/10"}],
    "imdbID": "tt0460681", "Response": "True",
}  # fmt: skip
NOTHING = {
    "Year": "1999",
    "Rated": "Not Rated",
    "Genre": "N/A",
    "Writer": "N/A",
    "Plot": "N/A",
    "imdbID": "tt0133093",
}
BASICS = (
    "tconst\ttitleType\tprimaryTitle\toriginalTitle\tisAdult\tstartYear\tendYear\truntimeMinutes\tgenres\n"
    'tt0000001\tshort\t"Un\tquoted\t0\t1894\t\\N\t1\tShort\n'
    "tt0133093\tmovie\tThe Matrix\tThe Matrix\t0\t1998\t\\N\t136\tAction,Sci-Fi\n"
    "tt10000000\tmovie\tX\tX\t0\t\\N\t\\N\t\\N\t\\N\n"
)
CREW = "tconst\tdirectors\twriters\ntt0133093\tnm1\tnm0905154,nm0905152,nm9\ntt10000000\tnm1\t\\N\n"
NAMES = "nconst\tprimaryName\tbirthYear\nnm0905152\tLilly Wachowski\t\\N\nnm0905154\tLana Wachowski\t\\N\n"
IDS = [
    *["2009/460681/8"] * 3,
    "2009/460681/8/2",
    *["1999/133093/7"] * 3,
    "0/10000000/1",
    "ep-00-01-17/6",
    "7",
]


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "train.docids").write_text("".join(f"{name}\n" for name in IDS))
    (tmp_path / "omdb" / "s").mkdir(parents=True)
    (tmp_path / "omdb" / "s" / "tt0460681.json").write_text(json.dumps(OMDB))
    lines = [NOTHING, {"Response": "False", "Error": "Incorrect IMDb ID."}, {**OMDB, "imdbID": "tt5"}, OMDB]
    (tmp_path / "omdb" / "rest.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "title.basics.tsv").write_text(BASICS)
    (tmp_path / "title.crew.tsv.gz").write_bytes(gzip.compress(CREW.encode()))
    (tmp_path / "name.basics.tsv").write_text(NAMES)
    return tmp_path


def films(folder, *options):
    main(["corpus", "films", str(folder / "train"), *map(str, options)])
    lines = (folder / "train.meta.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines], json.loads((folder / "train.films.json").read_text())


def imdb(folder):
    return "--imdb", *(folder / name for name in ("name.basics.tsv", "title.crew.tsv.gz", "title.basics.tsv"))


def test_fields_from_both_databases(corpus, capsys):
    (corpus / "train.meta.jsonl").write_text(
        '{"speaker": "Dean", "genre": "old"}\n' * 8 + '{"genre": "?"}\n\n'
    )
    (corpus / "train.current").write_text("0\n" + "1\n" * 9)
    lines, record = films(corpus, "--omdb", corpus / "omdb", *imdb(corpus))
    series = {
        "genre": "Drama, Fantasy", "pg_rating": "TV-14", "writers": "Eric Kripke, Ben Edlund", "year": "2009",
        "country": "United States, Canada", "plot": 'Dean and Sam get to know "Lucifer".',
    }  # fmt: skip
    matrix = {"genre": "Action, Sci-Fi", "writers": "Lana Wachowski, Lilly Wachowski", "year": "1999"}
    assert lines[:4] == [{"speaker": "Dean", **series}] * 4
    assert lines[4:7] == [{"speaker": "Dean", **matrix}] * 3
    assert lines[7:] == [{"speaker": "Dean", "genre": "old"}, {"genre": "?"}, {}]
    assert record["coverage"] == {
        # of 9 sentences: 3 of the series, 3 of the Matrix, and one whose genre was there
        "genre": 7 / 9, "pg_rating": 3 / 9, "writers": 6 / 9, "year": 6 / 9, "country": 3 / 9, "plot": 3 / 9,
        "n-1": 4 / 9, "n-2": 2 / 9, "n-3": 0, "n-4": 0, "n-5": 0, "any context": 7 / 9,
    }  # fmt: skip
    assert {key: value for key, value in record.items() if key != "coverage"} == {
        "kind": "films", "lines": 10, "sentences": 9, "documents": 6, "documents that name no film": 2,
        "films": 3, "films with metadata": 2, "records": 5, "records that name no film": 1,
        "records of films that the corpus has not": 1, "further records of a film": 1,
    }  # fmt: skip
    printed = capsys.readouterr().out
    assert "any context      77.8%" in printed and "films with metadata: 2" in printed
    # once more: the same
    assert films(corpus, "--omdb", corpus / "omdb", *imdb(corpus)) == (lines, record)


def test_one_database(corpus):
    lines, record = films(corpus, "--imdb", corpus / "title.basics.tsv")
    assert lines[0] == {} and lines[4] == {"genre": "Action, Sci-Fi", "year": "1998"} and lines[7] == {}
    (corpus / "list.json").write_text(json.dumps([{**NOTHING, "Rated": "R", "Ratings": []}]))
    (corpus / "train.meta.jsonl").unlink()
    lines, record = films(corpus, "--omdb", corpus / "list.json")
    assert lines[4] == {"pg_rating": "R", "year": "1999"} and record["films with metadata"] == 1


@pytest.mark.parametrize("year, text, expected", [
    (2009, "2005–2020", "2009"), (2009, "2005-", "2009"), (2001, "2005–2020", "2005"),
    (None, "2005–2020", "2005"),
    (2009, "1999", "1999"), (2009, "N/A", None), (2030, "2005-2020", "2005"),
])  # fmt: skip
def test_ranges_of_years(year, text, expected):
    assert film_texts(Film("1", year), {"year": text}).get("year") == expected


@given(
    st.integers(0, 9999), st.integers(1, 10**8), st.integers(0, 10**8), st.sampled_from(["", "/2", "/2#3"])
)
def test_films_by_their_documents(year, number, file, end):
    for name in (
        f"{year}/{number}/{file}{end}",
        f"{year}/tt{number:07}/{file}{end}",
        f"1.2/{year}/{number}/{file}",
    ):
        assert film_of_document(name) == Film(str(number), year or None)


@pytest.mark.parametrize("name", ["7", "ep-00-01-17/6", "a/b/c", "12/34", "x/1/2"])
def test_documents_without_a_film(name):
    assert film_of_document(name) is None


def test_refusals(corpus, refusal):
    def refused(*options):
        line = refusal(films, corpus, *options)
        assert not list(corpus.glob("train.[mf]*"))
        return line

    assert "give --omdb or --imdb" in refused()
    (corpus / "bad.jsonl").write_text(json.dumps(NOTHING) + '\n{"imdbID": "tt0133093"\n')
    assert "bad.jsonl:2: expected JSON" in refused("--omdb", corpus / "bad.jsonl")
    (corpus / "bad.json").write_text(json.dumps({**NOTHING, "Plot": [True]}))
    assert "bad.json: expected a JSON object of strings, found another value of the field 'plot'" in refused(
        "--omdb", corpus / "bad.json"
    )
    (corpus / "bad.json").write_text("[3]")
    assert "bad.json: expected a record of the Open Movie Database" in refused("--omdb", corpus / "bad.json")
    (corpus / "empty").mkdir()
    assert "empty: the folder has no records (*.json, *.jsonl" in refused("--omdb", corpus / "empty")
    (corpus / "bad.json").write_text(json.dumps({**OMDB, "imdbID": "tt5"}))
    assert "none of the 3 films of" in refused("--omdb", corpus / "bad.json")
    assert "give name.basics.tsv too" in refused("--imdb", corpus / "title.crew.tsv.gz")
    (corpus / "names.tsv").write_text("nconst\tprimaryName\nnm0\tNobody\n")  # it is there, but knows none
    assert "none of the 3 films of" in refused("--imdb", corpus / "title.crew.tsv.gz", corpus / "names.tsv")
    assert "train.docids: does not have the columns of IMDb's title.basics" in refused(
        "--imdb", corpus / "train.docids"
    )
    (corpus / "cut.gz").write_bytes((corpus / "title.crew.tsv.gz").read_bytes()[:60])
    assert "cut.gz:2: damaged" in refused("--imdb", corpus / "cut.gz")
    (corpus / "short.tsv").write_text(BASICS + "tt0460681\tmovie\n")
    assert "short.tsv:5: expected 9 columns, found 2" in refused("--imdb", corpus / "short.tsv")
    (corpus / "train.current").write_text("1\n")
    assert "train.current: expected as many lines as" in refused(*imdb(corpus))
    (corpus / "train.current").write_text("1\n" * 9 + "2\n")
    assert "train.current:10: expected 0 or 1, found '2'" in refused(*imdb(corpus))
    (corpus / "train.current").unlink()
    (corpus / "train.docids").write_text("a\nb\n")
    assert "train.docids: has no document with an id as YEAR/IMDB/FILE" in refused(*imdb(corpus))


def test_a_field_in_a_file_of_its_own(corpus, refusal):
    (corpus / "train.meta.plot").write_text("x\n")
    assert "train.meta.plot: is there already, but a field is in one file: remove it" in refusal(
        films, corpus, *imdb(corpus)
    )
    assert not (corpus / "train.meta.jsonl").exists()


def test_compressed_records_are_not_passed_over(tmp_path):
    for name, records in (("a.json.gz", ["1"]), ("b.jsonl.gz", ["2", "3"]), ("tt4.json.bz2", [""])):
        pack = bz2.compress if name.endswith("bz2") else gzip.compress
        lines = (json.dumps({"imdbID": f"tt{film}" if film else None, "Genre": "Drama"}) for film in records)
        (tmp_path / name).write_bytes(pack("\n".join(lines).encode()))
    assert set(read_omdb([tmp_path], {"1", "2", "3", "4"}, Counter())) == {"1", "2", "3", "4"}


def test_a_missing_file_is_named():
    from ctxmt_fairseq.corpora.film_records import read_imdb

    with pytest.raises(BadInput, match="none.tsv: no such file"):
        read_imdb(["none.tsv"], {"1"})
