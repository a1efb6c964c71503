"""Subtitles as OPUS packs them to a corpus: with several workers, with more links, and by opustools."""

import importlib.util
import tempfile
from pathlib import Path
from typing import List, Sequence

from ctxmt_fairseq.corpora.cleaning import STEPS
from scripts.benchmark.paired import Comparison, alternate
from scripts.benchmark.subtitles import make_corpus, read_by_opustools, write_subtitles
from tests.helpers.process import in_new_process

# What is compared with opustools, which cleans nothing; the steps of cleaning, and what is asked for.
OURS = (("one worker", (), "at least 3"), ("one worker, --clean all", tuple(STEPS), ""))


def corpora(links: int, repeats: int) -> List[Comparison]:
    """Each run in a process of its own; opustools is compared where it is installed."""
    with tempfile.TemporaryDirectory(prefix="ctxmt-benchmark-") as name:
        some, many = Path(name, "some"), Path(name, "many")
        for folder, factor in ((some, 1), (many, 8)):
            folder.mkdir()
            write_subtitles(folder, factor * links)
        title = f"corpus of {links:,} links"
        halves = alternate(
            lambda _: in_new_process(make_corpus, some, 1).seconds,
            lambda _: in_new_process(make_corpus, some, 2).seconds,
            repeats,
            warm_up=0,
        )
        memory = [tuple(in_new_process(make_corpus, folder, 1).memory for folder in (many, some))]
        found = [
            Comparison(f"{title}, time", ("one worker", "two"), "s", halves, "1.6 on two idle cores"),
            Comparison(
                f"{title}, peak memory", ("8 times as many", "these"), "MiB", memory, "under 100 MiB more"
            ),
        ]
        if importlib.util.find_spec("opustools"):
            found += [_against_opustools(title, some, repeats, *how) for how in OURS]
    return found


def _against_opustools(
    title: str, folder: Path, repeats: int, ours: str, cleaning: Sequence[str], goal: str
) -> Comparison:
    pairs = alternate(
        lambda _: in_new_process(read_by_opustools, folder).processor,
        lambda _: in_new_process(make_corpus, folder, 1, cleaning).processor,
        repeats,
        warm_up=0,
    )
    return Comparison(f"{title}, processor time", ("opus_read", ours), "CPU s", pairs, goal)
