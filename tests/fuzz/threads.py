"""One Translator that several threads use at once: each document is translated as it is alone."""

from concurrent.futures import ThreadPoolExecutor

from ctxmt_fairseq.base.command import Command, argument
from ctxmt_fairseq.base.paths import Input
from ctxmt_fairseq.cli.main import script


class Threads(Command):
    model: Input = argument("MODEL", "a checkpoint")
    source: Input = argument("SRC", "sentences, one per line; each is a document")

    def run(self) -> None:
        from ctxmt_fairseq import Translator
        from ctxmt_fairseq.text.text_lines import iterate_lines

        documents = [[[line]] for line in iterate_lines(self.source)]
        translator = Translator.load(str(self.model), device="cpu", beam=2, max_len_b=4)
        alone = list(map(translator.translate, documents))
        with ThreadPoolExecutor(3) as pool:
            together = list(pool.map(translator.translate, documents))
        assert together == alone


def main(arguments):
    return script("tests.fuzz.threads", Threads, arguments)
