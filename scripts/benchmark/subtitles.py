"""Subtitles as OPUS packs them, and two programs that read them; imports nothing that these do not need."""

import gzip
import os
import random
import time
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Callable, Iterator, List, NamedTuple, Sequence

from ctxmt_fairseq.corpora.formats.opus_pairs import Pairing
from ctxmt_fairseq.corpora.formats.opus_xml import read_links
from ctxmt_fairseq.corpora.pairs import distinct
from ctxmt_fairseq.corpora.workers import in_order
from ctxmt_fairseq.corpora.writer import write_corpus
from tests.helpers.process import resident

LANGUAGES = ("en", "fr")
OVERLAP, PAUSE = 0.9, 7.0
FILM = 1000  # links of a film, a line of subtitles each
_WORDS = 5000


class Cost(NamedTuple):
    """What a run took."""

    seconds: float  # on the wall
    processor: float  # seconds of this process, not of its workers
    memory: float  # MiB of this process at most


def _cost(work: Callable[[], object]) -> Cost:
    start, busy = time.perf_counter(), time.process_time()
    work()
    return Cost(time.perf_counter() - start, time.process_time() - busy, resident(peak=True))


def write_subtitles(folder: Path, links: int) -> None:
    """en.zip, fr.zip and en-fr.xml.gz: lines of 2 to 10 random words, every 20th with too little overlap."""
    draw = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(draw.choices(letters, k=draw.randint(1, 9))) for _ in range(_WORDS)]
    names = [
        [f"{language}/2001/{film}/{film}.xml" for language in LANGUAGES] for film in range(links // FILM)
    ]
    for side, language in enumerate(LANGUAGES):
        with zipfile.ZipFile(folder / f"{language}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as films:
            for film in names:
                films.writestr(f"OpenSubtitles/xml/{film[side]}", "".join(_film(draw, words)))
    with gzip.open(folder / "en-fr.xml.gz", "wt", compresslevel=1) as stream:
        stream.write('<?xml version="1.0" encoding="utf-8"?>\n<cesAlign version="1.0">\n')
        for source, target in names:
            stream.write(f'<linkGrp targType="s" fromDoc="{source}.gz" toDoc="{target}.gz">\n')
            for number in range(1, FILM + 1):
                overlap = 0.95 if number % 20 else 0.5
                stream.write(f'<link id="SL{number}" xtargets="{number};{number}" overlap="{overlap}" />\n')
            stream.write("</linkGrp>\n")
        stream.write("</cesAlign>\n")


def _film(draw: random.Random, words: List[str]) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="utf-8"?>\n<document id="1">\n'
    for number in range(1, FILM + 1):
        yield f'  <s id="{number}">\n    <time id="T{number}S" value="{_clock(3 * number)}" />\n'
        for place, word in enumerate(draw.choices(words, k=draw.randint(2, 10)), 1):
            yield f'    <w id="{number}.{place}">{word}</w>\n'
        yield f'    <time id="T{number}E" value="{_clock(3 * number + 2)}" />\n  </s>\n'
    yield "</document>\n"


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02},000"


def make_corpus(folder: Path, workers: int, cleaning: Sequence[str] = ()) -> Cost:
    """What ``ctxmt corpus opensubtitles`` does, with some steps of cleaning."""
    archives = tuple(str(folder / f"{language}.zip") for language in LANGUAGES)
    opus = Pairing(archives, *LANGUAGES, tuple(cleaning), min_overlap=OVERLAP, max_gap=PAUSE)
    parts = distinct(in_order(opus.part, read_links(folder / "en-fr.xml.gz", *LANGUAGES), workers))
    return _cost(lambda: write_corpus(parts, [str(folder / "corpus")], LANGUAGES, {}))


def read_by_opustools(folder: Path) -> Cost:
    """What ``opus_read`` does with the same files and the same overlap: aligned lines without documents."""
    from opustools import OpusRead

    zips = {f"{side}_zip": str(folder / f"{language}.zip") for side, language in
            zip(("source", "target"), LANGUAGES, strict=True)}  # fmt: skip
    # It draws progress bars whether anybody looks or not.
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        return _cost(
            lambda: OpusRead(
                directory="OpenSubtitles",
                source=LANGUAGES[0],
                target=LANGUAGES[1],
                release="v2018",
                alignment_file=str(folder / "en-fr.xml.gz"),
                attribute="overlap",
                threshold=OVERLAP,
                leave_non_alignments_out=True,
                write=[str(folder / f"moses.{language}") for language in LANGUAGES],
                write_mode="moses",
                **zips,
            ).printPairs()
        )
