"""``ctxmt corpus filter`` called on a small corpus, for tests."""

from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.text_rows import TextFiles
from tests.helpers.corpus_files import write_corpus_files


def files_of(folder, documents):
    lines = [
        (source, target, f"d{number}", 1, {})
        for number, document in enumerate(documents)
        for source, target in document
    ]
    return TextFiles(str(write_corpus_files(folder / "crawl", lines, without=("current",))), "en", "de")


def run(step, *options):
    main(["corpus", "filter", step, *map(str, options), "--source-lang", "en", "--target-lang", "de"])
