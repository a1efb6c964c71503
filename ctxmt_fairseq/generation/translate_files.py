"""From input documents to output lines: a resumable file, or a dialogue with a post-editor."""

import contextlib
import json
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, TextIO, Tuple

import numpy as np
import torch
from tqdm.auto import tqdm

from ctxmt_fairseq.base import ranks
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.files import destination, write_files
from ctxmt_fairseq.base.journal import Journal, fingerprint, json_line, partial_file
from ctxmt_fairseq.generation.document_translation import DocumentTranslator
from ctxmt_fairseq.generation.input_documents import InputDocuments, Translated
from ctxmt_fairseq.generation.loading import model_file, token_files
from ctxmt_fairseq.generation.translations import Translation, joined
from ctxmt_fairseq.generation.user_code import code_files
from ctxmt_fairseq.text.compressed import compressed
from ctxmt_fairseq.text.text_lines import PathLike, check_count, read_sentences, read_text


class KeptTranslations(Journal):
    """Translations made so far, on disk, from which an interrupted run goes on: a line for each sentence.
    ``finished`` when they are all in the output, beside which it is ``OUTPUT.partial``.

    Args:
        run: ``fingerprint`` of everything that the translations depend on.
        lines, symbols: of the input and of the target dictionary, which a translation must not exceed.
        replace: another run's journal gives way to a new one.
    """

    def __init__(self, output: Path, run: str, lines: int, symbols: int, replace: bool = False):
        self.done: Dict[int, Dict[str, Any]] = {}
        self._limits = lines, symbols
        super().__init__(partial_file(output), {"run": run}, self._keep, replace)

    def _keep(self, line: bytes, number: int) -> None:
        lines, symbols = self._limits
        try:
            record = json.loads(line)
            at, tokens, score = record.pop("line"), record["tokens"], record["score"]
            right = type(at) is int and 0 <= at < lines and type(score) is float and type(tokens) is list
            right = right and all(type(token) is int and 0 <= token < symbols for token in tokens)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            right = False
        if not right:
            raise BadInput("is no translation of this run; delete the file to start anew", self.path, number)
        self.done[at] = record

    def translated(self, line: int, tokens: List[int], score: float) -> None:
        """Keep one translation."""
        self.done[line] = {"tokens": tokens, "score": score}
        self.add(json_line({"line": line, **self.done[line]}))


def translate_file(
    translator: DocumentTranslator,
    documents: InputDocuments,
    output: Optional[PathLike],
    settings: Dict[str, Any],
    target_context: Optional[PathLike] = None,
    scores: bool = False,
    metadata: Optional[Sequence[Mapping[str, str]]] = None,
    replace: bool = False,
    tag: str = "",
    beside: Sequence[Tuple[PathLike, Optional[str]]] = (),
    too_long: str = "error",
) -> Optional[str]:
    """Translate everything to a file (or stdout), a line for each line of the input.

    Args:
        output: written whole at the end; until then, if it is a regular file, ``OUTPUT.partial`` keeps what
            is done, and a second run with the same text, files and settings continues there.
        settings: what else the translations depend on.
        target_context: a file with the target context, one line per input line.
        scores: write each sentence's score and a tab before it.
        metadata: every sentence's metadata, text by field (task ``metadata_context``).
        replace: drop what another run, with other settings, has left in ``OUTPUT.partial``.
        tag: a word that is written before each translation.
        beside: other files and their text, which appear together with the output; see ``write_files``.
        too_long: what happens to sentences that are too long, see ``fit_sentences``.

    Returns:
        a remark on them, if there are some.
    """
    loaded = translator.loaded
    text = translator.fit(documents, too_long)
    targets = None
    if target_context is not None:
        lines = read_sentences(target_context)
        check_count(lines, documents.height, "the input", target_context)
        given = [lines[line] for line in documents.output_lines]
        loaded.warn_of_unknown(target_context, targets=given)
        targets = [loaded.encode_target(given[line]) for line in text.origins.tolist()]
    current = np.flatnonzero(text.current)
    running = translator.running_of(text, metadata, targets, current)
    known = bool(running.targets.sizes.all())
    wanted = text.current | (translator.dependent and not known)
    done: Dict[int, Dict[str, Any]] = {}
    with contextlib.ExitStack() as stack:
        journal: Optional[KeptTranslations] = None
        if output is not None and (file := destination(output).file):
            terms = translator.terms and translator.terms.glossary.entries
            files = [*token_files(loaded), *code_files(settings.get("user_dir"))]
            run = _run(documents, {**settings, "terms": terms}, files, target_context, metadata)
            symbols = len(loaded.task.target_dictionary)
            journal = KeptTranslations(file, run, len(text.sentences), symbols, replace)
            stack.enter_context(journal)
            done.update(ranks.united(journal.done))
        if not known:
            for line, record in done.items():
                running.record_translation(line, torch.tensor(record["tokens"]))
        rest = [line for line in np.flatnonzero(wanted).tolist() if line not in done]
        found = translator.translate(running, rest)
        how: Any = {"total": len(rest), "unit": "sentence", "leave": output is not None, "disable": None}
        for line, nbest in tqdm(found, file=sys.stderr, **how):
            done[line] = {"tokens": nbest[0]["tokens"].tolist(), "score": float(nbest[0]["score"])}
            if journal:
                journal.translated(line, **done[line])
        parts: List[List[Translation]] = [[] for _ in text.sentences]
        for line in current.tolist():
            translation = loaded.decode_target(torch.tensor(done[line]["tokens"]))
            translator.count_terms(running, line, translation)
            parts[line] = [Translation(translation, done[line]["score"])]
        best = [next(iter(joined(each)), None) for each in text.joined(parts)]  # None: only context
        begin = f"{tag} " if tag else ""
        whole = [each and Translated(begin + each.text, each.score if scores else None) for each in best]
        written = documents.render(documents, whole)
        if output is None:
            print(written, end="", flush=True)
        else:
            write_files([(output, compressed(written.encode(), str(output))), *beside])
        if journal:
            journal.finished = True
    return text.remark


def _run(
    documents: InputDocuments,
    settings: Dict[str, Any],
    files: Sequence[Path],
    target_context: Optional[PathLike],
    metadata: Optional[Sequence[Mapping[str, str]]],
) -> str:
    checkpoints = [model_file(Path(path)) for path in settings["path"].split(":")]
    return fingerprint(
        [
            documents.sentences,
            documents.documents.starts.tolist(),
            documents.current.tolist(),
            settings,
            [(stat.st_size, stat.st_mtime_ns) for stat in map(Path.stat, [*checkpoints, *files])],
            read_text(target_context).decode("utf-8", "replace") if target_context else None,
            metadata,
        ]
    )


def post_edit(
    translator: DocumentTranslator,
    documents: InputDocuments,
    corrections: Iterator[str],
    output: TextIO,
    metadata: Optional[Sequence[Mapping[str, str]]] = None,
    too_long: str = "error",
) -> Optional[str]:
    """Print a translation, read its correction, go on with the corrected text as target context.

    An empty correction accepts the translation, and so does the end of the corrections.

    Args:
        too_long: what happens to sentences that are too long, see ``fit_sentences``; none is split.

    Returns:
        a remark on them, if there are some.
    """
    loaded = translator.loaded
    text = translator.fit(documents, too_long)
    running = translator.running_of(text, metadata)
    for line in range(len(documents.sentences)):
        if not (documents.current[line] or translator.dependent):
            continue
        ((_, nbest),) = translator.translate(running, [line])
        if not documents.current[line]:
            continue
        translation = loaded.decode_target(nbest[0]["tokens"])
        translator.count_terms(running, line, translation)
        print(translation, file=output, flush=True)
        if correction := next(corrections, "").strip():
            running.record(line, loaded.encode_target(correction))
    return text.remark
