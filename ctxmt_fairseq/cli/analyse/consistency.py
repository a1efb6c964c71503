"""Are the terms of a document translated alike wherever they stand? Systems side by side, on the same terms.

A term is a word of SRC that stands in several sentences of a document and is no common word (--common), or
with --annotation a noun by its lemma. Its translation in a sentence is the target words that it is aligned
to. Of each system, in %:
  alike          pairs of a document's sentences that translate a term alike, sharing a word of the
                 translation (the lexical translation consistency ratio of Lyu et al. 2021)
  main           sentences that have the most frequent translation of their term in their document
  alike by term, main by term: the same, averaged over terms, so that frequent ones weigh no more
  single         terms with one translation in all sentences
Systems are compared with the first, or with --all-pairs with each other: paired bootstrap and approximate
randomization by documents, Holm's correction. That is about two trained models. NAME=HYP several times gives
the runs (seeds) of a system: intervals and p are then over seeds and documents together, as in ctxmt compare
translations. A consistent translation may be wrong, and the reference is not the limit: read BLEU beside it.

Words are aligned here, by what is learnt from all translations together and the text of --train (needed for
small texts), or with --alignment by files of pairs i-j of white-space words of SRC and HYP (ctxmt corpus
align, fast_align, ...): one for each system, and for --reference as reference=FILE. A word without an
alignment is no translation: such sentences are counted as unaligned and left out.

Example: ctxmt analyse consistency test.en sentence=a.hyp context=b.hyp --docids test.docids \\
    --reference test.de --train train.en train.de --json consistency.json --terms terms.tsv
"""

from typing import Any, Dict, List, Optional, Sequence, Tuple

from ctxmt_fairseq.base import option_types
from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.option_types import non_negative_int, whole_number
from ctxmt_fairseq.base.paths import Input, Named, Output
from ctxmt_fairseq.cli.options.result_files import Comparisons
from ctxmt_fairseq.cli.options.scoring import Resampling
from ctxmt_fairseq.cli.options.split_prefixes import FURTHER

REFERENCE = "reference"
Links = Dict[int, List[int]]  # a word of the source -> the words that it is aligned to


class Consistency(Command):
    source: Input = argument("SRC", "one sentence per line")
    systems: List[Named] = argument("HYP", "translations, line by line as SRC, or NAME=HYP")
    docids: Input = option("document ids, one per line")
    reference: Optional[Input] = option("line by line as SRC: shown beside the systems", metavar="REF")
    train: List[List[Input]] = FURTHER
    alignment: Optional[List[Named]] = option("of every system, in place of aligning here")
    annotation: Optional[Input] = option("parts of speech and lemmas of SRC: terms are its nouns")
    current: Optional[Input] = option("0 or 1 per line: lines marked 0 are left out")
    min_count: int = option("sentences of a document with a term", 2, whole_number(2))
    min_length: int = option("characters of a term", 3)
    common: float = option(
        "a word of more than this share of the documents (and of more than two) is no term",
        0.2,
        option_types.share,
    )
    prefix: int = option(
        "first letters of translations that are compared, because words are inflected; 0: all",
        5,
        non_negative_int,
    )
    terms: Optional[Output] = option("write every term there, with its translations", metavar="FILE.tsv")
    resampling: Resampling
    results: Comparisons

    def run(self) -> None:
        from ctxmt_fairseq.analysis import consistency_report as report
        from ctxmt_fairseq.analysis.consistency import consistency
        from ctxmt_fairseq.evaluation.metrics import read_translation
        from ctxmt_fairseq.evaluation.significance.seeds import about
        from ctxmt_fairseq.evaluation.significance.systems import comparison_table
        from ctxmt_fairseq.text.documents import Documents, iterate_ids
        from ctxmt_fairseq.text.languages import lacks_words

        systems, paths = self._runs()
        texts = {name: read_translation(path, [self.source]) for name, path in paths.items()}
        (sources,) = next(iter(texts.values())).references
        targets = [text.hypotheses for text in texts.values()]
        for path, lines in zip([self.source, *paths.values()], [sources, *targets], strict=True):
            if lacks_words(lines):
                raise BadInput("has no blanks between words: cut it into words first", path)
        ids = list(iterate_ids(self.docids))
        if len(ids) != len(sources):
            raise BadInput(f"expected {len(sources)} document ids, found {len(ids)}", self.docids)
        documents = Documents.from_ids(ids)
        terms = self._terms(sources, documents)
        links = self._links(systems, paths, sources, targets)
        found = consistency(list(paths), terms, targets, links, self.prefix)
        if not found.terms:
            raise BadInput(f"expected terms that every system translates; {report.left_out(found)}")
        names = [ids[start] for start in documents.starts[:-1]]
        within = len({term.document for term in found.terms})
        print(f"{len(found.terms):,} terms that recur, in {within:,} of {len(documents):,} documents\n")
        print(report.systems_table(found))
        draws, pairs = self.resampling, self.results.all_pairs
        comparisons = found.compared(systems, draws.samples, draws.seed, pairs)
        note = about(systems, (each.result for each in comparisons), draws)
        if comparisons:
            print(f"\n{comparison_table(comparisons)}\n\n{note}")
        print(f"\nleast alike:\n{report.least_alike(found, names)}")
        if found.left_out:
            print(f"\n{report.left_out(found)}")
        counts = {"terms": len(found.terms), "documents": within, "systems": found.records()}
        left_out = {"left_out": {"terms": found.left_out, "by_system": found.aligned_too_little}}
        tests = {"comparisons": [comparison.as_dict() for comparison in comparisons], **draws.settings()}
        tests["about"] = note
        self.results.write({**counts, **left_out, **tests}, (self.terms, report.terms_tsv(found, names)))

    def _runs(self) -> Tuple[List[str], Dict[str, str]]:
        """The system of every run, and name -> path of every run, the reference last."""
        from ctxmt_fairseq.analysis.system_names import distinct_runs
        from ctxmt_fairseq.evaluation.significance.seeds import run_names

        runs = distinct_runs(self.systems)
        systems = [name for name, _ in runs]
        paths = dict(zip(run_names(systems), (path for _, path in runs), strict=True))
        if self.reference:
            if REFERENCE in systems:
                raise BadInput(f"expected another name for a system than {REFERENCE}")
            paths[REFERENCE] = str(self.reference)
        return systems, paths

    def _terms(self, sources: Sequence[str], documents: Any) -> Any:
        """The terms that recur, at least one."""
        from ctxmt_fairseq.analysis.recurring_terms import recurring_terms
        from ctxmt_fairseq.text.annotation import read_annotation
        from ctxmt_fairseq.text.text_lines import read_flags

        current = read_flags(self.current, len(sources)) if self.current else None
        annotation = read_annotation(self.annotation, sources) if self.annotation else None
        rules = self.min_count, self.min_length, self.common
        terms = recurring_terms(sources, documents, current, annotation, *rules)
        if not terms:
            raise BadInput("expected terms that recur in a document, found none", self.source)
        return terms

    def _links(
        self,
        systems: Sequence[str],
        paths: Dict[str, str],
        sources: Sequence[str],
        targets: Sequence[Sequence[str]],
    ) -> List[List[Links]]:
        """The alignment of every line of every run; runs of a system take those of its name in turn."""
        from ctxmt_fairseq.base.groups import grouped
        from ctxmt_fairseq.text.alignment import read_alignment

        if self.alignment is None:
            from ctxmt_fairseq.corpora.linguistics.align import aligned_texts, check_installed

            check_installed()
            train = [(source, target) for source, target in self.train]
            learnt = aligned_texts([(self.source, path) for path in paths.values()], train)
            return [[grouped(line.pairs) for line in text] for text in learnt]
        if self.train:
            raise BadInput("leave out --train: --alignment says what is aligned")
        files: Dict[str, str] = {}
        of_run = dict(zip(paths, [*systems, REFERENCE], strict=False))
        for text in self.alignment:
            known = (system for system in of_run.values() if text.startswith(f"{system}="))
            name = max(known, key=len, default=None)
            run = next((run for run in paths if of_run[run] == name and run not in files), None)
            if name is None or run is None:
                raise BadInput(f"--alignment {text}: expected NAME=FILE once for each of {', '.join(paths)}")
            files[run] = text[len(name) + 1 :]
        for name in paths:
            if name not in files:
                raise BadInput(f"--alignment: expected NAME=FILE for each system, found none for {name}")
        return [
            read_alignment(files[name], sources, lines) for name, lines in zip(paths, targets, strict=True)
        ]
