"""The command lines of ``ctxmt corpus`` that the fuzzer starts from."""

from typing import List

from tests.fuzz.command import LANGUAGES, Command, given
from tests.helpers.public_corpora import SAMPLES

_RAW = {
    "opensubtitles": "--alignment raw/alignment.xml --xml raw/xml",
    "opus": "--alignment raw/alignment.xml.gz --xml raw/both.zip",
    "ted": "--source raw/talks.en --target raw/talks.fr",
    "europarl": "--source raw/speeches.en.txt --target raw/speeches.fr.txt",
    "voita": "--source raw/joined.en --target raw/joined.fr --current last",
    "moses": "--source raw/joined.en --target raw/joined.fr --ids raw/pairs.ids",
    "wmt": "--source raw/news.en.sgm --target raw/news.fr.sgm",
    "tmx": "--tmx raw/crawl.tmx",
    "aligned": "--source raw/page.en --target raw/page.fr --alignment raw/page.aligned",
    "scat": "raw/scat/test.en --highlights marks",
    "records": "raw/columns --fields document=1 en=2 fr=3",
    "filter deduplicate": "raw/films",
    "filter select": "raw/films --scores raw/scores.tsv --threshold 0.4",
}
_RAW_OPTIONS = {
    "opensubtitles": given(
        "--min-overlap 0|1 --max-gap 0|9 --clean none|all|-music|dashes,ocr --skip-broken "
        "--held-out test=0.5 --metadata own|none"
    ),
    "opus": given("--unaligned end|keep --clean none|all --skip-broken"),
    "aligned": given("--unaligned end|keep"),
    "moses": given("--clean none|all --skip-broken"),
    "ted": given("--skip-broken"),
    "voita": given("--skip-broken"),
    "europarl": given("--skip-broken"),
    "wmt": given("--by A|any --system S1 --blank-lines --docs raw/names --skip-broken"),
    "tmx": given("--clean none|all --skip-broken"),
    "records": given("--skip-broken --blank-lines --fields speaker=4 --leave-out 4=0.5 --separator ."),
    "filter select": given("--document-scores new.tsv"),
}
CORPUS_COMMANDS: List[Command] = []
for _kind, _files in _RAW.items():
    _line = f"corpus {_kind} {_files} {LANGUAGES} --out new"
    CORPUS_COMMANDS.append(Command(f"corpus {_kind}", _line, "raw", 12, _RAW_OPTIONS.get(_kind, {})))
for _preset, (_files, _languages, _) in SAMPLES.items():
    _first, *_beside = (f"public/{_preset}/{_name}" for _name in _files)
    _line = f"corpus records {_first} {'--beside' * bool(_beside)} {' '.join(_beside)} --preset {_preset}"
    _line += f" --out new --source-lang {_languages[0]} --target-lang {_languages[1]}"
    CORPUS_COMMANDS.append(
        Command(
            f"corpus records {_preset}", _line, f"public/{_preset}/", 4, given("--skip-broken --split-lines")
        )
    )
for _name, _files in {
    "xml": "--source raw/news.xml --target raw/news.xml",
    "docs": "--source text.en --target text.fr --docs raw/names",
}.items():
    _line = f"corpus wmt {_files} {LANGUAGES} --out new"
    CORPUS_COMMANDS.append(Command(f"corpus wmt {_name}", _line, "raw/n text.", 6))
_DUMPS = "raw/title.basics.tsv raw/title.crew.tsv raw/name.basics.tsv"
_line = f"corpus films raw/films --omdb raw/omdb.jsonl --imdb {_DUMPS}"
CORPUS_COMMANDS.append(Command("corpus films", _line, "raw/films raw/omdb raw/title raw/name.", 12))
_SPLIT = "--held-out two=0.3|0.1 --by document|film --duplicates context|leave-out|keep"
for _kind, _line, _more in (
    ("split", "text --held-out one=0.6 --out new", given(_SPLIT)),
    ("split film", "raw/films --held-out one=raw/list --by film --out new", given("--held-out two=0.1")),
    (
        "sample",
        "text --size 2 --out new",
        given("--context 0|9 --context-after 0|1 --seed 2 --share 0.9 --with-metadata"),
    ),
    ("mix", "text=1 raw/films=2 --out new", {}),
    ("stats", "text --json json", given("--data data|. --longer-than 1|9 --lengths lengths")),
    ("check overlap", "text raw/films --json json", {}),
    ("check", "text --json json", given("--source-admits en|cs --target-admits fr")),
):
    _line = f"corpus {_kind.split()[0]} {_line} {LANGUAGES}"
    CORPUS_COMMANDS.append(Command(f"corpus {_kind}", _line, "text. data raw/films raw/list", 8, _more))
