"""BLEU and chrF of a translation, over sentences and over documents, with sacrebleu's signatures."""

import itertools
import json
import logging
import re
import unicodedata
from dataclasses import asdict, dataclass
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple

import numpy as np

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.journal import fingerprint
from ctxmt_fairseq.base.tables import aligned_table, remark
from ctxmt_fairseq.generation.file_formats import FORMATS, ending_of
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.text_lines import PathLike, check_count, read_flags, read_sentences

logger = logging.getLogger(__name__)

CHRF_BETAS = (1, 2, 3)
# Programs that translate whole documents divide them as they like.
REALIGN = (
    "; if the translation has other sentences than the reference, mweralign divides it as the reference is"
)
_SCORED = re.compile(r"-?\d+\.\d{4}(?:\t|$)")  # as --scores of ctxmt translate writes it
# What other programs write before a translation: quotes, JSON, Markdown, numbers, n-best lists.
_WRAPPED = re.compile(r"""["“«{[`]|\d+[.):\t]|\d+ \|\|\| |[A-Z]-\d+\t""")
_FEW = 10  # lines; fewer may all begin so
NO_MODEL = ("none", "13a", "intl", "zh", "char")  # tokenizers that consist of rules


@dataclass(frozen=True)
class Translation:
    """N lines of a translation and of R references, without outer blanks, and without lines that are only
    context; the lines of each document, N together, if they are known; and a fingerprint of the references as
    they are written (``content``)."""

    hypotheses: List[str]
    references: List[List[str]]
    document_lengths: Optional[List[int]] = None
    content: Optional[str] = None

    @classmethod
    def of(
        cls,
        texts: Sequence[Sequence[str]],
        counted: Iterable[bool],
        surface: Callable[[str], str],
        lengths: Optional[List[int]],
    ) -> "Translation":
        """The lines of ``texts``, a translation and its references, that are ``counted``, each in its
        ``surface`` form."""
        marks = list(counted)
        kept = [list(itertools.compress(text, marks)) for text in texts]
        first, *others = [list(map(surface, text)) for text in kept]
        return cls(first, others, lengths, fingerprint(kept[1:]) if others else None)


@dataclass(frozen=True)
class MetricScore:
    """One metric's value, 0 to 100 (COMET's is about 0 to 1), and how many digits tables show after the
    point. With a bootstrap, whose samples and seed are in sacrebleu's signature, it has the mean of the
    samples (``bootstrap_mean``), and half of their 95 % interval (``confidence``)."""

    name: str
    level: str
    score: float
    signature: str
    bootstrap_mean: Optional[float] = None
    confidence: Optional[float] = None
    digits: int = 2


def read_lines(
    paths: Sequence[PathLike], current: Optional[PathLike] = None, way_out: str = ""
) -> Tuple[List[List[str]], np.ndarray]:
    """Read files whose lines belong together, the first a translation: the N lines of each without outer
    blanks, and which of them ``current`` does not mark 0, because they served as context only: (N,) bool.
    ``way_out`` is said of files that are not as long."""
    for path in paths:
        if (ending := ending_of(str(path))) in FORMATS or ending == ".jsonl":
            raise BadInput(f"expected a sentence on each line, found a file of the kind {ending}", path)
    texts = [read_sentences(path) for path in paths]
    if not texts[0]:
        raise BadInput("expected translations, found an empty file", paths[0])
    filled = [line for line in texts[0] if line]
    if all(map(_SCORED.match, filled)) and any("\t" in line for line in filled):
        raise BadInput("each line begins with a score: translate without --scores", paths[0])
    for path, lines in zip(paths, texts, strict=True):
        check_count(lines, len(texts[0]), paths[0], path, way_out)
    marks = np.ones(len(texts[0]), bool) if current is None else read_flags(current, len(texts[0]))
    if current is not None and not marks.any():
        raise BadInput("expected at least one line marked 1, found none", current)
    return texts, marks


def current_lengths(documents: Documents, current: np.ndarray) -> List[int]:
    """How many lines are ``current``, (N,) bool, of each document that has any."""
    counts = np.add.reduceat(current, documents.starts[:-1], dtype=np.int64)
    return counts[counts > 0].tolist()


def read_translation(
    hypothesis: PathLike,
    references: Sequence[PathLike],
    docids: Optional[PathLike] = None,
    current: Optional[PathLike] = None,
    surface: Callable[[str], str] = str,
) -> Translation:
    """Read files whose lines belong together, each line in its ``surface`` form (such as
    ``TextSteps.surface`` of the system's data folder); lines that ``current`` marks 0 are left out."""
    texts, marks = read_lines([hypothesis, *references], current, REALIGN)
    filled = ([line for line in text if line] for text in texts)
    wrapped = [len(lines) >= _FEW and all(map(_WRAPPED.match, lines)) for lines in filled]
    if wrapped[0] and not any(wrapped[1:]):
        example = next(filter(None, texts[0]))[:40]
        logger.warning(
            "%s: all lines have more than a translation, and all of it counts: %r", hypothesis, example
        )
    lengths = None if docids is None else current_lengths(Documents.read(docids, len(marks)), marks)
    return Translation.of(texts, marks, surface, lengths)


def warn_of_other_letters(paths: Sequence[PathLike], texts: Sequence[Sequence[str]]) -> None:
    """Log a warning if letters with accents are written otherwise (not NFC) in some of the texts alone: they
    look the same, and metrics count them as others."""
    counts = [sum(not unicodedata.is_normalized("NFC", line) for line in text) for text in texts]
    if 0 in counts and (most := max(counts)):
        path, other = paths[counts.index(most)], paths[counts.index(0)]
        said = "%s: %d lines are not in Unicode's form NFC, as %s is: the same letters count as others"
        logger.warning(said, path, most, other)


def join_documents(lines: Sequence[str], lengths: Sequence[int]) -> List[str]:
    """One line for each document: its lines, without empty ones, joined by spaces."""
    rest = iter(lines)
    return [" ".join(filter(None, (next(rest) for _ in range(length)))) for length in lengths]


def bleu(tokenize: Optional[str] = None, lowercase: bool = False) -> Any:
    """sacrebleu's BLEU, by default with its own tokeniser."""
    from sacrebleu.metrics import BLEU

    if tokenize is not None and tokenize not in BLEU.TOKENIZERS:
        raise BadInput(f"expected a tokenizer from {', '.join(BLEU.TOKENIZERS)}, found {tokenize!r}")
    try:
        # "force" silences sacrebleu's hint at its own option; ctxmt score warns instead
        return BLEU(lowercase=lowercase, tokenize=tokenize, force=True)
    except (ImportError, RuntimeError) as error:  # MeCab and others are extras of sacrebleu
        raise BadInput(f"the tokenizer {tokenize!r} cannot be loaded: {error}") from None
    except (Exception, SystemExit) as error:
        # sacrebleu downloads the models of spm, flores101, flores200 and spBLEU-1K once.
        why = f"needs a model that sacrebleu cannot get: {error}; {', '.join(NO_MODEL)} need none"
        raise BadInput(f"the tokenizer {tokenize!r} {why}") from None


def chrf(beta: int, lowercase: bool = False) -> Any:
    """sacrebleu's chrF, in which recall counts ``beta`` times as much as precision."""
    from sacrebleu.metrics import CHRF

    return CHRF(beta=beta, lowercase=lowercase)


def score_translation(
    translation: Translation, tokenize: Optional[str] = None, lowercase: bool = False, bootstrap: int = 0
) -> List[MetricScore]:
    """BLEU, chrF1, chrF2, chrF3 and TER over sentences, and BLEU over documents if they are known.

    The "level" is the unit in which the corpus score counts n-grams: sentences, or whole documents joined by
    spaces (d-BLEU of Liu et al. 2020, mBART).

    Args:
        tokenize: BLEU's tokeniser; default: sacrebleu's own.
        lowercase: for BLEU and chrF; TER ignores case, as sacrebleu's does.
        bootstrap: samples of sacrebleu's bootstrap; 0: none. Its seed is the environment variable
            ``SACREBLEU_SEED``, 12345 if that is not set.
    """

    def compute(metric, level: str, texts: Sequence[List[str]]) -> MetricScore:
        result = metric.corpus_score(texts[0], texts[1:], n_bootstrap=max(1, bootstrap))
        signature = metric.get_signature().format()
        details = json.loads(result.format(width=4, signature=signature, is_json=True))
        spread = details.get("confidence_mean"), details.get("confidence_var")
        return MetricScore(result.name, level, result.score, signature, *spread)

    from sacrebleu.metrics import TER

    texts = [translation.hypotheses, *translation.references]
    scores = [compute(bleu(tokenize, lowercase), "sentence", texts)]
    chrfs = chrf(CHRF_BETAS[0], lowercase)
    if len(texts) == 2:  # every beta has the same counts; of several references it chooses one
        counts = chrfs._extract_corpus_statistics(texts[0], texts[1:])
        chrfs._extract_corpus_statistics = lambda *_: counts
    for beta in CHRF_BETAS:
        chrfs.beta = beta
        scores.append(compute(chrfs, "sentence", texts))
    scores.append(compute(TER(), "sentence", texts))
    lengths = translation.document_lengths
    if lengths is not None:
        joined = [join_documents(text, lengths) for text in texts]
        scores.append(compute(bleu(tokenize, lowercase), "document", joined))
    return scores


def score_table(scores: Sequence[MetricScore]) -> str:
    """The scores as an aligned table, with the signatures below."""
    rows = [["metric", "level", "score"]]
    bootstrap = any(score.confidence is not None for score in scores)
    if bootstrap:
        rows[0] += ["bootstrap mean", "95 % interval"]
    for score in scores:
        found = score.confidence is not None
        spread = [f"{score.bootstrap_mean:.2f}", f"+/- {score.confidence:.2f}"] if found else ["-", "-"]
        value = f"{score.score:.{score.digits}f}"
        rows.append([score.name, score.level, value, *(spread if bootstrap else [])])
    signatures = [f"{score.name} ({score.level}): {score.signature}" for score in scores]
    return "\n".join([aligned_table(rows), "", *map(remark, signatures)])


def score_dict(translation: Translation, scores: Sequence[MetricScore]) -> Dict[str, Any]:
    """The scores for JSON."""
    lengths = translation.document_lengths
    return {
        "sentences": len(translation.hypotheses),
        "documents": None if lengths is None else len(lengths),
        "references": len(translation.references),
        "content": translation.content,
        "empty_hypotheses": translation.hypotheses.count(""),
        "scores": [asdict(score) for score in scores],
    }
