"""Trained models in Python: text in, text out. The commands that run a model use this class."""

import copy
import functools
import itertools
import logging
import warnings
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, TypeVar, Union

from tqdm.auto import tqdm

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.loggers import masks_of_two_types
from ctxmt_fairseq.base.option_types import plain_number
from ctxmt_fairseq.evaluation.contrastive_report import CandidateScore, ContrastiveReport, contrastive_report
from ctxmt_fairseq.evaluation.contrastive_scoring import score_candidates
from ctxmt_fairseq.evaluation.contrastive_sets import ContrastiveSet, read_contrastive_set, texts_of
from ctxmt_fairseq.generation.document_translation import DocumentTranslator
from ctxmt_fairseq.generation.forced_scoring import MAX_TOKENS, TranslationScorer
from ctxmt_fairseq.generation.given_documents import GivenDocuments, entries, given_glossary
from ctxmt_fairseq.generation.input_documents import separators_in_text
from ctxmt_fairseq.generation.loading import LoadedModels, Paths, load_models
from ctxmt_fairseq.generation.long_sentences import WAYS, refuse_long
from ctxmt_fairseq.generation.quantization import QUANTIZATIONS, quantize
from ctxmt_fairseq.generation.search_settings import BOUNDS, DOCUMENTS_AT_ONCE, SearchSettings
from ctxmt_fairseq.generation.translations import Score, Translation, joined
from ctxmt_fairseq.generation.user_code import import_user_dir
from ctxmt_fairseq.text.glossary import Glossary

logger = logging.getLogger(__name__)
PathLike = Union[str, Path]
Method = TypeVar("Method", bound=Callable[..., Any])


def one_at_a_time(method: Method) -> Method:
    """Have a method of ``Translator`` wait until its models are free."""

    @functools.wraps(method)
    def waiting(translator: "Translator", *args: Any, **kwargs: Any) -> Any:
        with translator.loaded.lock, warnings.catch_warnings():
            masks_of_two_types()
            return method(translator, *args, **kwargs)

    return waiting  # type: ignore[return-value]


class Translator:
    """One trained model, or several as an ensemble.

    A text is a list of documents, a document is a list of sentences, and results have the same shape. The
    data folder's text steps and subwords are applied to text and undone in translations, as in the commands.
    Bad input raises ``BadInput``.

    Threads may share a translator: it, and what ``with_options`` makes of it, do one thing at a time, and a
    new call waits. Several translators work side by side.

    Args:
        loaded: the models.
        search: settings of the search.
        documents_at_once: how many documents are translated side by side.
        too_long: what happens to sentences that are longer than the models read: "error", or "cut", "split",
            "empty", with a warning (``fit_sentences``).

    Raises:
        BadInput: ``too_long`` is another word, or the models' task does not support a setting.
    """

    def __init__(
        self,
        loaded: LoadedModels,
        search: Optional[SearchSettings] = None,
        documents_at_once: int = DOCUMENTS_AT_ONCE,
        too_long: str = "error",
    ):
        documents_at_once = plain_number(documents_at_once)
        if type(documents_at_once) is not int or documents_at_once < 1:
            raise BadInput(
                f"documents_at_once: expected a whole number of at least 1, found {documents_at_once!r}"
            )
        if too_long not in WAYS:
            raise BadInput(f"too_long: expected one of {', '.join(WAYS)}, found {too_long!r}")
        self.loaded = loaded
        self.too_long = too_long
        self.search = search or SearchSettings()
        self.documents_at_once = documents_at_once
        self._warned_of: Optional[GivenDocuments] = None
        self._part_of_text = False  # whether one warning is enough for all that is translated
        self.document_translator()  # refuses what it does not support now, and not only when it translates

    @classmethod
    def load(
        cls,
        paths: Paths,
        data: Optional[PathLike] = None,
        beam: int = 5,
        lenpen: float = 1.0,
        device: Any = None,
        *,
        user_dir: Optional[PathLike] = None,
        decoding: str = "prefix",
        documents_at_once: int = DOCUMENTS_AT_ONCE,
        too_long: str = "error",
        trust_checkpoint: bool = False,
        quantization: Optional[str] = None,
        **options: Any,
    ) -> "Translator":
        """Load checkpoints.

        Args:
            paths: a checkpoint, or several as an ensemble: a list, or names joined by ``:``.
            data: the data folder with dictionaries and subword models; default: that of the training.
            beam, lenpen: see ``SearchSettings``.
            device: "cpu", "cuda", "cuda:1"; default: a GPU if there is one.
            user_dir: a folder with the model's own code (``import_user_dir``).
            decoding: "prefix" takes the translations made so far as the target context and decodes the
                current sentence alone; "window" decodes the whole target window.
            documents_at_once, too_long: see ``Translator``.
            trust_checkpoint: build what fairseq makes of options by ``eval``, too (``--arch fconv``): whoever
                made the checkpoint can then run Python code here.
            quantization: "int8" computes the largest layers in 8 bits, on a CPU.
            options: other settings of the search (``max_len_b``, ``min_len``, ...), and options of the task
                that replace the checkpoint's, named as on the command line: ``source_context``,
                ``target_context``, ``context_selection``, ``context_store``, ``text_encoder``, ...

        Raises:
            BadInput: a file, folder or device does not exist; a checkpoint may not be built; or the models'
                task does not have an option, or the option cannot have the value.
        """
        settings = {name: options.pop(name) for name in BOUNDS.keys() & options.keys()}
        search = SearchSettings(beam=beam, lenpen=lenpen, **settings)
        if user_dir is not None:
            import_user_dir(user_dir)
        if quantization not in (None, *QUANTIZATIONS):
            raise BadInput(f"quantization: expected {' or '.join(QUANTIZATIONS)}, found {quantization!r}")
        loaded = load_models(paths, data, options, device, trust_checkpoint).with_options(decoding=decoding)
        if quantization:
            quantize(loaded.models)
        return cls(loaded, search, documents_at_once, too_long)

    def __repr__(self) -> str:
        context = [f"{name}={value}" for name, value in self.loaded.task.options.items() if value]
        models = [type(model).__name__ for model in self.loaded.models]
        parts = ["-".join(self.loaded.languages), *models, *context, f"device={self.loaded.device}"]
        return f"Translator({', '.join(parts)})"

    @one_at_a_time
    def with_options(self, **options: Any) -> "Translator":
        """The same models with other options of their task, such as ``source_context=0``.

        Raises:
            BadInput: as ``load``.
        """
        loaded = self.loaded.with_options(**options)
        return Translator(loaded, self.search, self.documents_at_once, self.too_long)

    def translate(self, documents: Any, contexts: Any = None, **search: Any) -> List[List[str]]:
        """The best translation of every sentence.

        Args:
            documents: a list of documents, each a list of source sentences. An empty sentence stays empty.
            contexts: the sentences' metadata, for models that read it; see ``GivenDocuments.metadata``.
            search: settings of the search for this call, such as ``beam=1``; and the terms of ``n_best``.

        Raises:
            BadInput: ``documents`` has another shape, sentences are too long for the models (unless
                ``too_long`` says what to do), ``contexts`` are given to models that read none, or the context
                selection is "reference", which needs references.
        """
        found = self.n_best(documents, contexts, **search)
        return [[nbest[0].text for nbest in document] for document in found]

    def translate_each(
        self, documents: Iterable[Sequence[str]], contexts: Any = None, **search: Any
    ) -> Iterator[List[str]]:
        """Yield the translation of one document after the other, as they come and end:
        ``documents_at_once`` are taken at a time, with as many of ``contexts``, so there may be any number of
        them.

        Args, raises:
            as ``translate``; errors count documents from the first of those that are taken together.
        """
        rest, once = iter(entries(documents, "documents")), copy.copy(self)
        shared = contexts is None or isinstance(contexts, (str, Mapping))
        others = iter([] if shared else entries(contexts, "contexts"))
        once._warned_of, once._part_of_text = None, True
        while block := [*itertools.islice(rest, self.documents_at_once)]:
            own = contexts if shared else [*itertools.islice(others, len(block))]
            yield from once.translate(block, own, **search)
        if [*itertools.islice(others, 1)]:
            raise BadInput("contexts: expected as many documents as in documents, found more")

    @one_at_a_time
    def n_best(
        self,
        documents: Any,
        contexts: Any = None,
        *,
        keep: Sequence[str] = (),
        glossary: Union[PathLike, Mapping[str, str], None] = None,
        **search: Any,
    ) -> List[List[List[Translation]]]:
        """All translations of every sentence with which the search ends, best first: as many as the beam is
        wide, or fewer if some are alike. The best one is context for the next sentences. Of a sentence that
        was split, the n-th ones of its parts are joined, with the mean of their scores.

        Args:
            keep, glossary: terms that the translation of a sentence holds if the sentence has them, see
                ``read_glossary``; a warning names those that it does not hold.

        Other args, raises:
            as ``translate``; also if ``keep`` or ``glossary`` are given and whole windows are decoded.
        """
        text = GivenDocuments.of(documents)
        settings = self.search.changed(**search)
        if self.loaded.task.context_options().context_selection == "reference":
            raise BadInput("--context-selection reference needs references: call score, which is given them")
        translator = self.document_translator(settings, given_glossary(glossary, keep))
        fitted = translator.fit(text, self.too_long)
        metadata = self._metadata(text, contexts)
        if text != self._warned_of and not (self._part_of_text and self._warned_of):
            warned = self.loaded.warn_of_unknown("documents", sources=text.sentences)
            if warned or not self._part_of_text:  # an evaluation translates the same text in many contexts
                self._warned_of = text
        found: Dict[int, List[Translation]] = {}
        if fitted.sources:
            running = translator.running_of(fitted, metadata)
            lines = translator.translate(running, range(len(fitted.sources)))
            progress = tqdm(lines, total=len(fitted.sources), unit="sentence", leave=None, disable=None)
            for line, nbest in progress:
                found[line] = [
                    Translation(self.loaded.decode_target(each["tokens"]), float(each["score"]))
                    for each in nbest
                ]
                translator.count_terms(running, line, found[line][0].text)
        for remark in filter(None, (translator.remark, fitted.remark, separators_in_text(text))):
            logger.warning("%s", remark)
        parts = fitted.joined([found[line] for line in range(len(fitted.sources))])
        return text.nested([joined(each) if len(each) > 1 else each[0] for each in parts])

    @one_at_a_time
    def score(self, documents: Any, translations: Any, contexts: Any = None) -> List[List[Score]]:
        """The log-probabilities of given translations. The translations before a sentence are its target
        context.

        Args:
            documents, contexts: see ``translate``.
            translations: one for each sentence, in the shape of ``documents``.

        Raises:
            BadInput: as ``translate``; or ``translations`` has another shape than ``documents``.
        """
        text, given = GivenDocuments.of(documents), GivenDocuments.of(translations, "translations")
        text.check_alike(given, "translations")
        metadata = self._metadata(text, contexts)
        self.loaded.warn_of_unknown("documents", text.sentences, given.sentences)
        if not text.sentences:
            return text.nested([])
        sources = [self.loaded.encode_source(sentence) for sentence in text.sentences]
        targets = [self.loaded.encode_target(sentence) for sentence in given.sentences]
        lines, (most, most_target) = range(len(sources)), self.loaded.sentence_limits
        refuse_long(sources, lines, text.place, most)
        refuse_long(targets, lines, given.place, most_target)
        known = self.loaded.contexts_of(text.sentences, metadata)
        scorer = TranslationScorer(sources, targets, text.documents, known)
        scores = [scores.current for scores in scorer.scores(self.loaded)]
        return text.nested([Score(float(tokens.sum()), tokens.tolist()) for tokens in scores])

    def contrast(
        self, path: PathLike, format: Optional[str] = None, documents: Optional[PathLike] = None
    ) -> ContrastiveReport:
        """How often the model prefers the right translations of a contrastive set, by the set's own
        convention.

        Args:
            path, format, documents: see ``read_contrastive_set``.

        Raises:
            BadInput: the file is no contrastive set, or the context selection needs more than a set has.
        """
        suite = read_contrastive_set(path, format, documents)
        return contrastive_report(suite, self.candidate_scores(suite))

    @one_at_a_time
    def candidate_scores(
        self, suite: ContrastiveSet, max_tokens: int = MAX_TOKENS
    ) -> List[List[CandidateScore]]:
        """The scores of all candidates of a contrastive set; see ``score_candidates``."""
        self.loaded.warn_of_unknown(suite.name, *texts_of(suite.examples))
        return score_candidates(self.loaded, suite.examples, max_tokens)

    def document_translator(
        self, search: Optional[SearchSettings] = None, glossary: Optional[Glossary] = None
    ) -> DocumentTranslator:
        """A translator of documents of tokens, with these settings of the search or the translator's own."""
        return DocumentTranslator(self.loaded, search or self.search, self.documents_at_once, glossary)

    def _metadata(self, text: GivenDocuments, contexts: Any) -> List[Dict[str, str]]:
        metadata = text.metadata(contexts)
        if contexts is not None and not self.loaded.reads_metadata:
            raise BadInput("contexts: leave them out; only models of the task metadata_context read them")
        return metadata
