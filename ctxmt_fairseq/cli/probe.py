"""What a model makes of its context: one text translated and scored with several contexts.

Reads TEXT.SRC, TEXT.TGT (the references) and TEXT.docids, the languages being the model's; if they are
there TEXT.current, and for the task metadata_context TEXT.meta.jsonl or TEXT.meta.FIELD. Contexts are the
document's own, random sentences of other documents, shuffled (a permutation of the text's own contexts),
empty sentences, absent (none at all), the reference in place of the context, and swapped encoder inputs;
those that the model or the text cannot have are named. BLEU and chrF of each are compared with the
document's (approximate randomization, Holm's correction).

Tests are about this trained model; another seed may use its context otherwise.

CXMI (Fernandes et al. 2021) is the sum of log2 p(y|x,C) - log2 p(y|x) over the references y, </s> included,
by whitespace word, in bits: positive where the context C helps. Beside it stand bits by sentence, nats by
sentence (the paper's definition) and nats by token, averaged within each sentence and then over sentences
(what the authors' program prints). p(y|x) is that of the same model with its context absent, which it should
know from its training; with --against random, that with sentences of another document, which it knows
always. The target context is the references before the sentence.

--words has the bits of every word. --tags are tags of the words, as MuDA's: for every line of the text
  {"tags": [[], ["pronouns"]]}                          a list of names for each whitespace word, or
  {"words": ["C'", "est", ...], "tags": [[], [], ...]}  for each of these words, the same text cut otherwise

--select N finds the N examples in which context helps most: --by max-cxmi, the bits of the word that gains
most; mean-cxmi, those per word; or tag, those of the tagged word that gains most. --select-output gets 1 for
these lines and 0 for the others, as TEXT.current and data folders have them. The text is scored with its own
context and without (--against), once, and nothing else is done; memory does not grow with the text.

Example: ctxmt probe checkpoints/averaged.pt text/test --json probe.json --words words.jsonl --plot sizes.png
"""

from typing import TYPE_CHECKING, Any, List, Literal, Optional, Tuple

from ctxmt_fairseq.base.command import OptionGroup, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.option_types import non_negative_int
from ctxmt_fairseq.base.paths import Chart, Input, Output, Prefix
from ctxmt_fairseq.base.shared_command import SharedCommand
from ctxmt_fairseq.cli.options.model import ModelWithContext, search
from ctxmt_fairseq.cli.options.result_files import Json, TableStyle, as_lines
from ctxmt_fairseq.cli.options.scoring import TOKENIZER, Resampling
from ctxmt_fairseq.generation.search_settings import DOCUMENTS_AT_ONCE

if TYPE_CHECKING:
    from ctxmt_fairseq.generation.loading import LoadedModels


class Words(OptionGroup):
    heading = "words"

    tags: Optional[Input] = option("tags of the references' words, see above")
    top: int = option("words that are shown", 20)
    min_count: int = option("leave out words that occur less often", 10)


class Files(Json):
    heading = "files"

    words: Optional[Output] = option("write every word's bits as JSON lines")
    plot: Optional[Chart] = option("draw the curve of sizes; FILE.csv has its numbers")


class Examples(OptionGroup):
    heading = "selection of examples"

    select: Optional[int] = option("so many examples in which context helps most", metavar="N")
    by: Literal["max-cxmi", "mean-cxmi", "tag"] = option("what of an example is compared", "max-cxmi")
    select_output: Optional[Output] = option("write 1 or 0 for every line of TEXT")

    def check(self, probe: "Probe") -> None:
        """Raises BadInput: options that do not go together."""
        if bool(self.select) != bool(self.select_output):
            raise BadInput("--select and --select-output: expected both, or none")
        if self.select and (probe.contexts or probe.sizes is not None or probe.files.plot):
            raise BadInput("--select scores no other contexts: leave out --contexts, --sizes and --plot")
        if self.by == "tag" and not (self.select and probe.words.tags):
            raise BadInput("--by tag: expected --select and --tags FILE")


class Probe(SharedCommand):
    path: Input = argument("MODEL", "a checkpoint; several joined by ':' are an ensemble")
    text: Prefix = argument("TEXT", "prefix of the text's files")
    contexts: List[str] = option("context selections besides the document's own (default: all)", [])
    sizes: Optional[List[int]] = option(
        "sentences of context on either side (default: 0 to the model's)", type=non_negative_int
    )
    against: Literal["absent", "random", "empty"] = option("the context that CXMI compares with", "absent")
    cxmi_only: bool = option("do not translate, which takes most time")
    tokenize: Optional[str] = option(TOKENIZER)
    unit: Optional[Literal["document", "sentence"]] = option(
        "what the tests resample (default: document, if there are several)"
    )
    resampling: Resampling
    documents_at_once: int = option("documents translated side by side", DOCUMENTS_AT_ONCE)
    max_tokens: int = option("tokens per batch when scoring", 4000)
    words: Words
    examples: Examples
    files: Files
    search: OptionGroup = search()
    model: ModelWithContext
    style: TableStyle

    def run(self) -> None:
        self.examples.check(self)
        from ctxmt_fairseq.data.context_options import SELECTIONS
        from ctxmt_fairseq.evaluation.probe.outcome_scores import Tests, draw_sizes, size_table
        from ctxmt_fairseq.evaluation.probe.probe_report import probe
        from ctxmt_fairseq.evaluation.probe.probed_text import read_probed_text
        from ctxmt_fairseq.evaluation.probe.prober import Prober, warn_of_unknown_absence
        from ctxmt_fairseq.evaluation.probe.word_report import word_lines
        from ctxmt_fairseq.evaluation.significance.measures import measure
        from ctxmt_fairseq.text.word_tags import read_tags

        contexts = [name for text in self.contexts or SELECTIONS for name in text.split()]
        model = self.model.load(self.path, self.search, documents_at_once=self.documents_at_once)
        loaded = model.loaded
        if self.examples.select:
            return self._select(loaded, self.examples.select)
        text = read_probed_text(self.text, loaded)
        tags = read_tags(self.words.tags, text.references) if self.words.tags else None
        steps = loaded.target_subwords.steps
        tokenize = self.tokenize or steps.bleu_tokenizer
        measures = [measure(name, tokenize, steps.lowercase) for name in ("bleu", "chrf2")]
        several = len(text.document_lengths) > 1
        if self.unit == "document" and not (several or self.cxmi_only):
            raise BadInput("--unit document: expected two documents or more, found 1", self.text)
        unit = self.unit or ("document" if several else "sentence")
        warn_of_unknown_absence(loaded, self.against)
        search = None if self.cxmi_only else model.search
        prober = Prober(loaded, text, search, self.documents_at_once, self.max_tokens, self.against)
        tests = Tests(measures, unit, self.resampling.samples, self.resampling.seed)
        shown = self.words.top, self.words.min_count
        report = probe(self.text, prober, contexts, self.sizes, tests, tags, *shown)
        print(report.text())
        more: List[Tuple[Any, Any]] = [(self.files.words, as_lines(word_lines(report.words)))]
        if self.files.plot:
            curve = report.sizes, report.by_size
            picture = draw_sizes(*curve, f"{self.path}\n{report.title}")
            more += zip(self.files.plot.files(), (picture, size_table(*curve)), strict=True)
        self.files.write(report.as_dict(), *more)

    def _select(self, loaded: "LoadedModels", count: int) -> None:
        from tqdm.auto import tqdm

        from ctxmt_fairseq.base.files import open_outputs
        from ctxmt_fairseq.evaluation.probe.prober import warn_of_unknown_absence
        from ctxmt_fairseq.evaluation.probe.selection import Scores
        from ctxmt_fairseq.evaluation.probe.streamed_words import streamed_words
        from ctxmt_fairseq.evaluation.probe.word_report import word_lines

        warn_of_unknown_absence(loaded, self.against)
        scores = Scores(self.examples.by)
        lines = streamed_words(loaded, self.text, self.words.tags, self.max_tokens, self.against)
        words, selected = self.files.words, str(self.examples.select_output)
        with open_outputs([selected, *filter(None, [words])]) as files:
            for sentence in tqdm(lines, unit=" lines", disable=None):
                scores.add(sentence)
                if words and sentence is not None:
                    files[words].write(as_lines(word_lines([sentence])).encode())
            selection = scores.select(count)
            selection.write(files[selected])
            print(selection.text())
        found = {"text": self.text, "options": loaded.task.options, "against": self.against}
        self.files.write({**found, **selection.as_dict()})
