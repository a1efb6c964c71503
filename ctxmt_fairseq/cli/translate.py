"""Translate documents, one output line per input line, or a file as it is.

The input is text with document ids (--docids), text with blank lines between documents, JSON lines
({"source": ..., "document": ...}; what else they hold is written again beside the translation), or lines of
joined sentences, of which the last is translated (--joined). - is standard input: of text with blank lines,
each document is translated as soon as it has ended.
Subtitles (.srt .vtt .ass), tables (.tsv, the first line names the columns) and .jsonl are known by their
names, and come out as they went in, but for their text; so does prose, a paragraph a line (--split
sentences).
With target context the model's own earlier translations are forced as the prefix of the next sentence;
--target-context-from gives them instead (post-editing: a file, or '-' for corrections that arrive line by
line on stdin: after each printed translation one line, empty to accept it).
Models of the task metadata_context also read what is known of the sentences: --metadata, --contexts.

--corpus PREFIX makes training text of documents in one language (back-translation): the translations become
the source side, the text as it is the target side, with its document ids. --tag puts a word before every
translation, --mark FIELD=TEXT says in the metadata that the text is synthetic.

Examples:
  ctxmt translate checkpoint_best.pt test.en --docids test.docids --output test.hyp --beam 4
  printf 'Where is the cat?\\nIt sleeps.\\n' | ctxmt translate checkpoint_best.pt -
  ctxmt translate checkpoint_best.pt film.en.srt --output film.fr.srt
  ctxmt translate mtcue.pt test.en --docids test.docids --metadata "Formal conversation"
  ctxmt translate cs-en.pt news.cs --docids news.docids --corpus text/synthetic --tag "<BT>"
"""

import logging
import sys
from typing import TYPE_CHECKING, Dict, Iterable, Iterator, List, Literal, Optional, Tuple

from ctxmt_fairseq.base import option_types
from ctxmt_fairseq.base.command import OptionGroup, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import STANDARD, Input, Output, OutputPrefix, Prefix
from ctxmt_fairseq.base.shared_command import SharedCommand
from ctxmt_fairseq.cli.options.model import TOO_LONG, Model, TooLong, search
from ctxmt_fairseq.cli.options.result_files import as_lines
from ctxmt_fairseq.cli.options.text import prompt
from ctxmt_fairseq.generation.search_settings import DOCUMENTS_AT_ONCE

if TYPE_CHECKING:
    from ctxmt_fairseq.generation.document_translation import DocumentTranslator
    from ctxmt_fairseq.generation.file_formats import FileFormat
    from ctxmt_fairseq.generation.input_documents import InputDocuments


class Translate(SharedCommand):
    path: Input = argument("MODEL", "a checkpoint; several joined by ':' are an ensemble")
    input: Input = argument("INPUT", "source text; - is standard input")
    docids: Optional[Input] = option("one document id per line of INPUT")
    current: Optional[Input] = option("0 (context only, not translated) or 1 per line")
    joined: Optional[str] = option(
        "what joins the sentences of a line, such as '<eos>' in the inputs of ctxpro",
        type=option_types.name,
        metavar="TEXT",
    )
    json_lines: bool = option("INPUT holds JSON lines, and each is written with its translation")
    source_column: str = option("of a table or of JSON lines: the text", "source", type=option_types.name)
    document_column: str = option("the same: the document's id", "document", type=option_types.name)
    split: Literal["none", "sentences"] = option("cut the lines of prose into sentences", "none")
    pause: float = option("seconds between subtitles that end a document", 7.0, option_types.number(0, 1e9))
    output: Optional[Output] = option("what to write; an interrupted run is resumed (default: stdout)")
    corpus: Optional[OutputPrefix] = option("write PREFIX.SRC (translations), .TGT (text) and .docids")
    tag: Optional[str] = option(
        "with --corpus: put it before each translation", type=option_types.name, metavar="TEXT"
    )
    mark: Optional[str] = option("with --corpus: metadata that each sentence gets", metavar="FIELD=TEXT")
    decoding: Literal["prefix", "window"] = option(
        "force the target context, or decode the whole target window", "prefix"
    )
    target_context_from: Optional[Input] = option(
        "target context: one line per input line, or '-' (default: own)"
    )
    metadata: List[str] = option(
        "what is known of all sentences; repeated for more", [], prompt, action="append", metavar="TEXT"
    )
    contexts: Optional[Prefix] = option(
        "the metadata of each: a file with one JSON object of strings per input line, or PREFIX of "
        "PREFIX.meta.jsonl and PREFIX.meta.FIELD",
        metavar="FILE|PREFIX",
    )
    keep_sentence: Optional[Literal["current", "first"]] = option(
        "which sentence of the decoded window is the translation"
    )
    documents_at_once: int = option("documents translated side by side", DOCUMENTS_AT_ONCE)
    keep: List[str] = option(
        "a term that stays as it is; repeated for more", [], action="append", metavar="TERM"
    )
    glossary: Optional[Input] = option("terms: in each line one, a tab, and what it becomes")
    scores: bool = option("print each translation's score and a tab before it")
    too_long: TooLong = TOO_LONG
    search: OptionGroup = search()
    model: Model

    def run(self) -> None:
        from ctxmt_fairseq.generation.input_documents import separators_in_text
        from ctxmt_fairseq.generation.translate_files import post_edit, translate_file
        from ctxmt_fairseq.text.glossary import read_glossary
        from ctxmt_fairseq.text.text_lines import iterate_lines

        mark, glossary = self._mark(), read_glossary(self.glossary, self.keep)
        # What is wrong with a file is said before the model is loaded.
        file = self._file()
        texts = self._texts() if file or self._by_document else list(self._texts())
        how = {name: getattr(self, name) for name in ("documents_at_once", "decoding", "keep_sentence")}
        model = self.model.load(self.path, self.search, **how)
        translator = model.document_translator(glossary=glossary)
        if file:
            documents = file.documents(model.loaded.languages)
            texts = iter([(documents, self._metadata(documents))])
        remarks, warned = list[Optional[str]](), False
        for documents, metadata in texts:
            self._check(translator, documents, bool(metadata))
            warned = warned or model.loaded.warn_of_unknown(self.input, sources=documents.sentences)
            if self.target_context_from == STANDARD:
                corrections = iterate_lines(STANDARD)
                remark = post_edit(translator, documents, corrections, sys.stdout, metadata, self.too_long)
            else:
                output, beside = self._outputs(model.loaded.languages, documents, mark)
                given = self.target_context_from, self.scores, metadata
                tag, settings = self.tag or "", self.settings()
                how = {"tag": tag, "beside": beside, "too_long": self.too_long}
                remark = translate_file(translator, documents, output, settings, *given, **how)
            remarks += [remark, separators_in_text(documents)]
        if model.loaded.task.decoding:
            print(f"ctxmt: {model.loaded.task.decoding}", file=sys.stderr)
        for each in dict.fromkeys(filter(None, (*remarks, translator.remark))):
            print(f"ctxmt: warning: {each}", file=sys.stderr)

    def _texts(self) -> Iterator[Tuple["InputDocuments", Optional[List[Dict[str, str]]]]]:
        """What is translated at once, with its metadata."""
        from ctxmt_fairseq.generation.input_documents import iterate_documents

        for documents in iterate_documents(self.input) if self._by_document else [self._documents()]:
            yield documents, self._metadata(documents)

    def _file(self) -> Optional["FileFormat"]:
        """The input, if it is a file of its own kind."""
        from ctxmt_fairseq.generation.file_formats import Reading, check_same_kind, file_format
        from ctxmt_fairseq.generation.file_formats.prose import Prose

        if self.json_lines or self.docids or self.current or self.joined or self.input == STANDARD:
            if self.split == "sentences":
                raise BadInput("--split sentences: expected a file of prose, without options for lines")
            return None
        kind = Prose if self.split == "sentences" else file_format(self.input)
        if kind and (self.contexts or self.target_context_from or self.corpus or self.scores and kind.whole):
            none = "--contexts, --target-context-from, --corpus, --scores"
            raise BadInput(f"is translated as a whole file: leave out {none}", self.input)
        if kind and self.output:
            check_same_kind(self.input, self.output)
        how = Reading(self.source_column, self.document_column, self.pause)
        return kind(self.input, how) if kind else None

    @property
    def _by_document(self) -> bool:
        """Whether each document is translated as soon as it has come on standard input."""
        whole = self.docids, self.json_lines, self.joined, self.contexts, self.target_context_from
        written = self.output or self.corpus
        return self.input == STANDARD and written in (None, STANDARD) and not any((*whole, self.current))

    def _mark(self) -> Optional[Tuple[str, str]]:
        """Field and text of --mark; None without it. Options of --corpus are checked beside."""
        from ctxmt_fairseq.corpora.writer import check_no_metadata

        if self.corpus is None:
            if self.tag or self.mark:
                raise BadInput("--tag and --mark need --corpus")
            return None
        if self.output or self.scores or not self.docids:
            raise BadInput("--corpus needs --docids; leave out --output and --scores")
        if self.docids == STANDARD:
            raise BadInput("--corpus reads --docids twice: give a file")
        check_no_metadata(self.corpus)
        if self.mark is None:
            return None
        field, equals, text = self.mark.partition("=")
        if not (field.strip() and equals and text.strip()):
            raise BadInput(f"--mark {self.mark}: expected FIELD=TEXT")
        return field, text

    def _documents(self) -> "InputDocuments":
        from ctxmt_fairseq.generation import input_documents
        from ctxmt_fairseq.generation.file_formats import ending_of

        if self.joined:
            if self.json_lines or self.docids or self.current or self.target_context_from:
                none = "--json-lines, --docids, --current, --target-context-from"
                raise BadInput(f"leave out {none} beside --joined")
            return input_documents.read_joined(self.input, self.joined)
        if self.json_lines or ending_of(self.input) == ".jsonl":
            if self.docids or self.current:
                raise BadInput("JSON lines say it themselves: leave out --docids, --current", self.input)
            return input_documents.read_json_lines(self.input, self.source_column, self.document_column)
        if self.docids:
            return input_documents.read_with_ids(self.input, self.docids, self.current)
        if self.current:
            raise BadInput("--current needs --docids, because without them blank lines end a document")
        return input_documents.read_blank_line_documents(self.input)

    def _metadata(self, documents: "InputDocuments") -> Optional[List[Dict[str, str]]]:
        """Text by field for every sentence, from --contexts and --metadata; None if neither is given."""
        from ctxmt_fairseq.generation import input_documents
        from ctxmt_fairseq.text.metadata_text import prompts

        if not (self.metadata or self.contexts):
            return None
        records: List[Dict[str, str]] = [{}] * len(documents.sentences)
        if self.contexts:
            records = input_documents.read_metadata(self.contexts, documents)
        return [{**record, **prompts(self.metadata)} for record in records]

    def _check(self, translator: "DocumentTranslator", documents: "InputDocuments", metadata: bool) -> None:
        """Raises BadInput: options that this model cannot have; warns where all lines are one document."""
        from ctxmt_fairseq.generation.input_documents import plain_lines

        context = translator.loaded.task.context_options()
        if metadata and not translator.loaded.reads_metadata:
            raise BadInput("--metadata and --contexts need a model of the task metadata_context")
        if context.context_selection == "reference" and self.target_context_from in (None, STANDARD):
            raise BadInput("--context-selection reference needs --target-context-from REFERENCES")
        if self.target_context_from and not translator.dependent:
            raise BadInput("--target-context-from needs a model with target context, and --decoding prefix")
        if self.target_context_from and self.too_long == "split":
            raise BadInput("--target-context-from does not work with --too-long split")
        if self.target_context_from == STANDARD and (self.output or self.scores or self.corpus):
            none = "expected no --output, --corpus or --scores"
            raise BadInput(f"--target-context-from -: translations go to stdout; {none}")
        lines = (self.docids, self.joined, self._by_document, documents.render is not plain_lines)
        whole = not any(lines) and documents.documents.sentences > 1
        if whole and len(documents.documents) == 1 and context.reach:
            said = "%s: neither --docids nor blank lines: all %d lines are one document"
            logging.getLogger(__name__).warning(said, self.input, documents.documents.sentences)

    def _outputs(
        self, languages: Tuple[str, str], documents: "InputDocuments", mark: Optional[Tuple[str, str]]
    ) -> Tuple[Optional[str], List[Tuple[str, Optional[str]]]]:
        """Where the translations go, and the other files of --corpus (Sennrich et al. 2016); None: it has no
        such file."""
        from ctxmt_fairseq.base.files import check_outputs
        from ctxmt_fairseq.text.documents import iterate_ids
        from ctxmt_fairseq.text.metadata_files import metadata_line
        from ctxmt_fairseq.text.text_lines import same_file

        if not (self.corpus and self.docids):
            return None if self.output == STANDARD else self.output, []
        target, source = languages  # of the corpus: the other way round
        columns: Dict[str, Optional[Iterable[object]]] = {
            target: documents.sentences,
            "docids": iterate_ids(self.docids),
            "current": documents.current.astype(int) if self.current else None,
            "meta.jsonl": [metadata_line(dict([mark]))] * len(documents.sentences) if mark else None,
        }
        there = [*filter(None, (self.input, self.docids, self.current))]  # may be the corpus' files already
        files = ((f"{self.corpus}.{column}", lines) for column, lines in columns.items())
        new = ((path, lines) for path, lines in files if not any(same_file(path, one) for one in there))
        beside = [(path, None if lines is None else as_lines(map(str, lines))) for path, lines in new]
        output = f"{self.corpus}.{source}"
        check_outputs(output, *(path for path, _ in beside))
        return output, beside
