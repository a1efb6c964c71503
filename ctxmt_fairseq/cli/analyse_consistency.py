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
randomization by documents, Holm's correction. A consistent translation may be wrong, and the reference is not
the limit: read BLEU beside it.

Words are aligned here, by what is learnt from all translations together and the text of --train (needed for
small texts), or with --alignment by files of pairs i-j of white-space words of SRC and HYP (ctxmt corpus
align, fast_align, ...): one for each system, and for --reference as reference=FILE. A word without an
alignment is no translation: such sentences are counted as unaligned and left out.

Example: ctxmt analyse consistency test.en sentence=a.hyp context=b.hyp --docids test.docids \\
    --reference test.de --train train.en train.de --json consistency.json --terms terms.tsv
"""

import json

REFERENCE = "reference"


def add_arguments(parser) -> None:
    from ctxmt_fairseq.option_types import non_negative_int, positive_int, seed, share, whole_number

    parser.add_argument("source", metavar="SRC", help="one sentence per line")
    parser.add_argument("systems", metavar="[NAME=]HYP", nargs="+", help="translations, line by line as SRC")
    parser.add_argument("--docids", required=True, metavar="FILE", help="document ids, one per line")
    parser.add_argument("--reference", metavar="REF", help="line by line as SRC: shown beside the systems")
    parser.add_argument("--train", nargs=2, action="append", default=[], metavar=("SRC", "TGT"),
                        help="further text to learn the alignment from; may be repeated")  # fmt: skip
    parser.add_argument("--alignment", nargs="+", metavar="NAME=FILE",
                        help="of every system, in place of aligning here")  # fmt: skip
    parser.add_argument("--annotation", metavar="FILE",
                        help="parts of speech and lemmas of SRC: terms are its nouns")  # fmt: skip
    parser.add_argument("--current", metavar="FILE", help="0 or 1 per line: lines marked 0 are left out")
    parser.add_argument("--min-count", type=whole_number(2), default=2, metavar="N",
                        help="sentences of a document with a term (default: %(default)s)")  # fmt: skip
    parser.add_argument("--min-length", type=positive_int, default=3, metavar="N",
                        help="characters of a term (default: %(default)s)")  # fmt: skip
    parser.add_argument("--common", type=share, default=0.2, metavar="X",
                        help="a word of more than this share of the documents (and of more than two) is no "
                        "term (default: %(default)s)")  # fmt: skip
    parser.add_argument("--all-pairs", action="store_true", help="compare all systems with each other")
    parser.add_argument("--prefix", type=non_negative_int, default=5, metavar="N",
                        help="first letters of translations that are compared, for words are inflected; 0: "
                        "all (default: %(default)s)")  # fmt: skip
    parser.add_argument("--show", type=non_negative_int, default=10, metavar="N",
                        help="least consistent terms that are printed (default: %(default)s)")  # fmt: skip
    parser.add_argument(
        "--samples", type=whole_number(100, 10**7), default=10_000, metavar="N", help="(default: %(default)s)"
    )
    parser.add_argument("--seed", type=seed, default=1, metavar="N", help="(default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write the numbers there too")
    parser.add_argument("--terms", metavar="FILE.tsv", help="write every term there, with its translations")


def run(args) -> None:
    from ctxmt_fairseq.analysis import consistency_report as report
    from ctxmt_fairseq.analysis.consistency import consistency
    from ctxmt_fairseq.analysis.recurring_terms import TermRules, recurring_terms
    from ctxmt_fairseq.data.annotation import read_annotation
    from ctxmt_fairseq.data.documents import Documents, iterate_ids
    from ctxmt_fairseq.data.text_lines import read_flags
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.evaluation.metrics import read_translation
    from ctxmt_fairseq.evaluation.significance.translations import comparison_table
    from ctxmt_fairseq.files import check_outputs, write_files
    from ctxmt_fairseq.provenance import made_by

    check_outputs(args.json, args.terms)
    paths = _paths(args)
    texts = {name: read_translation(path, [args.source]) for name, path in paths.items()}
    (sources,) = next(iter(texts.values())).references
    targets = [text.hypotheses for text in texts.values()]
    ids = list(iterate_ids(args.docids))
    if len(ids) != len(sources):
        raise BadInput(f"expected {len(sources)} document ids, found {len(ids)}", args.docids)
    documents = Documents.from_ids(ids)
    current = read_flags(args.current, len(sources)) if args.current else None
    annotation = read_annotation(args.annotation, sources) if args.annotation else None
    rules = TermRules(args.min_count, args.min_length, args.common)
    terms = recurring_terms(sources, documents, rules, current, annotation)
    if not terms:
        raise BadInput("expected terms that recur in a document, found none", args.source)
    found = consistency(list(paths), terms, targets, _links(args, paths, sources, targets), args.prefix)
    if not found.terms:
        raise BadInput(f"expected terms that every system translates; {report.left_out(found)}")
    names = [ids[start] for start in documents.starts[:-1]]
    within = len({term.document for term in found.terms})
    print(f"{len(found.terms):,} terms that recur, in {within:,} of {len(documents):,} documents\n")
    print(report.systems_table(found))
    comparisons = found.compared(len(args.systems), args.samples, args.seed, args.all_pairs)
    if comparisons:
        print(f"\n{comparison_table(comparisons)}\n\n{args.samples} samples, seed {args.seed}")
    if args.show:
        print(f"\nleast alike:\n{report.least_alike(found, names, args.show)}")
    if found.left_out:
        print(f"\n{report.left_out(found)}")
    record = {
        "terms": len(found.terms),
        "documents": within,
        "systems": found.records(),
        "left_out": {"terms": found.left_out, "by_system": found.aligned_too_little},
        "comparisons": [comparison.as_dict() for comparison in comparisons],
        "samples": args.samples,
        "seed": args.seed,
        "made_by": made_by(args),
    }
    contents = [(args.json, json.dumps(record, indent=2, ensure_ascii=False) + "\n")]
    write_files([*contents, (args.terms, report.terms_tsv(found, names))])


def _paths(args):
    """Name -> path of every system, the reference last.

    Raises:
        BadInput: a name that stands there twice.
    """
    from ctxmt_fairseq.analysis.system_names import named_paths
    from ctxmt_fairseq.errors import BadInput

    named = named_paths(args.systems) + ([(REFERENCE, args.reference)] if args.reference else [])
    paths = dict(named)
    if len(paths) < len(named):
        twice = next(name for place, (name, _) in enumerate(named) if name in dict(named[:place]))
        raise BadInput(f"expected a name of its own for every system, found {twice} twice")
    return paths


def _links(args, paths, sources, targets):
    """The alignment of every system.

    Raises:
        BadInput: files that do not fit, or not one for each system; no tool for word alignment is installed.
    """
    from ctxmt_fairseq.data.alignment import read_alignment
    from ctxmt_fairseq.errors import BadInput

    if args.alignment is None:
        from ctxmt_fairseq.corpora.linguistics.align import aligned_texts, check_installed

        check_installed()
        learnt = aligned_texts([(args.source, path) for path in paths.values()], args.train)
        return [[_by_source(line.pairs) for line in text] for text in learnt]
    if args.train:
        raise BadInput("--train: expected no --alignment beside it, which says what is aligned")
    files = {}
    for argument in args.alignment:
        name = max((name for name in paths if argument.startswith(f"{name}=")), key=len, default=None)
        if name is None or name in files:
            raise BadInput(f"--alignment {argument}: expected NAME=FILE once for each of {', '.join(paths)}")
        files[name] = argument[len(name) + 1 :]
    missing = [name for name in paths if name not in files]
    if missing:
        raise BadInput(f"--alignment: expected NAME=FILE for each system, found none for {missing[0]}")
    return [read_alignment(files[name], sources, lines) for name, lines in zip(paths, targets, strict=True)]


def _by_source(pairs):
    """Pairs of words as ``read_alignment`` gives them."""
    links = {}
    for i, j in pairs:
        links.setdefault(i, []).append(j)
    return links
