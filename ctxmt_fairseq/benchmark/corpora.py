"""Subtitles as OPUS packs them to a corpus: with several workers, with more links, and by opustools."""

import gzip
import importlib.util
import os
import random
import tempfile
import time
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Iterator, List, Tuple

from ctxmt_fairseq.benchmark.paired import Comparison, alternate
from ctxmt_fairseq.benchmark.process import in_new_process, resident
from ctxmt_fairseq.corpora.assembly.workers import in_order
from ctxmt_fairseq.corpora.assembly.writer import write_corpus
from ctxmt_fairseq.corpora.opus import Opus
from ctxmt_fairseq.corpora.raw.opus_links import read_links

LANGUAGES = ("en", "fr")
OVERLAP, PAUSE = 0.9, 7.0
FILM = 1000  # links of a film, a line of subtitles each
_WORDS = 5000


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


def make_corpus(folder: Path, workers: int) -> Tuple[float, float]:
    """What ``ctxmt corpus opensubtitles --clean none`` does: seconds, and MiB of this process at most."""
    start = time.perf_counter()
    archives = tuple(str(folder / f"{language}.zip") for language in LANGUAGES)
    opus = Opus(archives, *LANGUAGES, min_overlap=OVERLAP, max_gap=PAUSE)
    parts = in_order(opus.part, read_links(folder / "en-fr.xml.gz", *LANGUAGES), workers)
    write_corpus(parts, [str(folder / "corpus")], LANGUAGES, {})
    return time.perf_counter() - start, resident(peak=True)


def read_by_opustools(folder: Path) -> Tuple[float, float]:
    """What ``opus_read`` does with the same files and the same overlap: aligned lines without documents."""
    from opustools import OpusRead

    start = time.perf_counter()
    zips = {f"{side}_zip": str(folder / f"{language}.zip") for side, language in
            zip(("source", "target"), LANGUAGES, strict=True)}  # fmt: skip
    # It draws progress bars whether anybody looks or not.
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        OpusRead(
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
    return time.perf_counter() - start, resident(peak=True)


def corpora(links: int, repeats: int) -> List[Comparison]:
    """Each run in a process of its own; opustools is compared where it is installed."""
    with tempfile.TemporaryDirectory(prefix="ctxmt-benchmark-") as name:
        some, many = Path(name, "some"), Path(name, "many")
        for folder, factor in ((some, 1), (many, 8)):
            folder.mkdir()
            write_subtitles(folder, factor * links)
        title = f"corpus of {links:,} links"
        halves = alternate(
            lambda _: in_new_process(make_corpus, some, 1)[0],
            lambda _: in_new_process(make_corpus, some, 2)[0],
            repeats,
            warm_up=0,
        )
        memory = [(in_new_process(make_corpus, many, 1)[1], in_new_process(make_corpus, some, 1)[1])]
        found = [
            Comparison(f"{title}, time", ("one worker", "two"), "s", halves, "1.6 on two idle cores"),
            Comparison(
                f"{title}, peak memory", ("8 times as many", "these"), "MiB", memory, "under 100 MiB more"
            ),
        ]
        if importlib.util.find_spec("opustools"):
            both = alternate(
                lambda _: in_new_process(read_by_opustools, some)[0],
                lambda _: in_new_process(make_corpus, some, 1)[0],
                repeats,
                warm_up=0,
            )
            found.append(Comparison(f"{title}, time", ("opus_read", "one worker"), "s", both, "at least 5"))
    return found
