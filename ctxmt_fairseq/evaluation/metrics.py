"""BLEU and chrF of a translation, by sentences and by documents, with sacrebleu's signatures."""

import json
from dataclasses import asdict, dataclass
from typing import Any, Callable, Dict, List, Optional, Sequence

from ctxmt_fairseq.data.documents import Documents
from ctxmt_fairseq.data.text_lines import PathLike, iterate_lines, read_flags
from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.tables import aligned_table

CHRF_BETAS = (1, 2, 3)
NO_MODEL = ("none", "13a", "intl", "zh", "char")  # tokenizers that are rules


@dataclass(frozen=True)
class Translation:
    """A translation and its references, without context-only lines and without outer blanks.

    Attributes:
        hypotheses: N lines.
        references: R lists of N lines.
        document_lengths: lines per document, N in all; None if the documents are not known.
    """

    hypotheses: List[str]
    references: List[List[str]]
    document_lengths: Optional[List[int]] = None


@dataclass(frozen=True)
class MetricScore:
    """One metric's value.

    Attributes:
        score: 0 to 100; COMET's is about 0 to 1.
        signature: sacrebleu's; with a bootstrap it names the number of samples and the seed.
        bootstrap_mean, confidence: of the bootstrap samples, the mean and half the 95 % interval; None
            without a bootstrap.
        digits: after the point, in tables.
    """

    name: str
    level: str
    score: float
    signature: str
    bootstrap_mean: Optional[float] = None
    confidence: Optional[float] = None
    digits: int = 2


def read_translation(
    hypothesis: PathLike,
    references: Sequence[PathLike],
    docids: Optional[PathLike] = None,
    current: Optional[PathLike] = None,
    surface: Callable[[str], str] = str,
) -> Translation:
    """Read line-aligned files.

    Args:
        docids: one document id per line.
        current: 0 or 1 per line; lines marked 0 served only as context and are left out.
        surface: what is done to every line, as ``TextSteps.surface`` of the system's data folder.
    """
    hypotheses = [surface(line.strip()) for line in iterate_lines(hypothesis)]
    if not hypotheses:
        raise BadInput("expected translations, found an empty file", hypothesis)
    texts = [hypotheses]
    for path in references:
        texts.append([surface(line.strip()) for line in iterate_lines(path)])
        if len(texts[-1]) != len(hypotheses):
            raise BadInput(
                f"expected {len(hypotheses)} lines, as in {hypothesis}, found {len(texts[-1])}", path
            )
    marks = [True] * len(hypotheses)
    if current is not None:
        marks = read_flags(current, len(hypotheses)).tolist()
        if not any(marks):
            raise BadInput("expected at least one line marked 1, found none", current)
    lengths = None
    if docids is not None:
        starts = Documents.read(docids, len(hypotheses)).starts
        counts = [sum(marks[start:end]) for start, end in zip(starts[:-1], starts[1:], strict=True)]
        lengths = [count for count in counts if count]
    kept = [[line for line, mark in zip(text, marks, strict=True) if mark] for text in texts]
    return Translation(kept[0], kept[1:], lengths)


def join_documents(lines: Sequence[str], lengths: Sequence[int]) -> List[str]:
    """One line per document: its lines, empty ones apart, joined by a space."""
    rest = iter(lines)
    return [" ".join(filter(None, (next(rest) for _ in range(length)))) for length in lengths]


def bleu(tokenize: Optional[str] = None, lowercase: bool = False) -> Any:
    """sacrebleu's BLEU.

    Args:
        tokenize: the tokeniser, sacrebleu's default if not given.
    """
    from sacrebleu.metrics import BLEU

    if tokenize is not None and tokenize not in BLEU.TOKENIZERS:
        raise BadInput(f"expected a tokenizer from {', '.join(BLEU.TOKENIZERS)}, found {tokenize!r}")
    try:
        # "force": sacrebleu would advise the use of an option of its own; tokenized_lines counts instead
        return BLEU(lowercase=lowercase, tokenize=tokenize, force=True)
    except (ImportError, RuntimeError) as error:  # MeCab and the like are optional extras of sacrebleu
        raise BadInput(f"the tokenizer {tokenize!r} cannot be loaded: {error}") from None
    except (Exception, SystemExit) as error:
        # sacrebleu loads the models of spm, flores101, flores200 and spBLEU-1K from the network, once.
        none = ", ".join(NO_MODEL)
        raise BadInput(
            f"the tokenizer {tokenize!r} needs a model that sacrebleu cannot get: {error}; {none} need none"
        ) from None


def chrf(beta: int, lowercase: bool = False) -> Any:
    """sacrebleu's chrF, in which recall counts ``beta`` times as much as precision."""
    from sacrebleu.metrics import CHRF

    return CHRF(beta=beta, lowercase=lowercase)


def score_translation(
    translation: Translation,
    tokenize: Optional[str] = None,
    lowercase: bool = False,
    bootstrap: int = 0,
) -> List[MetricScore]:
    """Sentence-level BLEU, chrF1, chrF2 and chrF3, and document-level BLEU where documents are known.

    "Level" is the unit that the corpus score counts n-grams in: sentences, or whole documents joined by
    spaces (Liu et al. 2020, mBART, call it d-BLEU).

    Args:
        tokenize: BLEU's tokeniser, sacrebleu's default if not given.
        lowercase: for BLEU and chrF alike.
        bootstrap: samples of sacrebleu's bootstrap, 0 for none; seed: the environment's
            ``SACREBLEU_SEED``, 12345 if not set.
    """

    def compute(metric, level: str, texts: Sequence[List[str]]) -> MetricScore:
        result = metric.corpus_score(texts[0], texts[1:], n_bootstrap=max(1, bootstrap))
        signature = metric.get_signature().format()
        details = json.loads(result.format(width=4, signature=signature, is_json=True))
        return MetricScore(
            result.name,
            level,
            result.score,
            signature,
            details.get("confidence_mean"),
            details.get("confidence_var"),
        )

    texts = [translation.hypotheses, *translation.references]
    scores = [compute(bleu(tokenize, lowercase), "sentence", texts)]
    scores += (compute(chrf(beta, lowercase), "sentence", texts) for beta in CHRF_BETAS)
    if translation.document_lengths is not None:
        lengths = translation.document_lengths
        scores.append(
            compute(bleu(tokenize, lowercase), "document", [join_documents(text, lengths) for text in texts])
        )
    return scores


def empty_hypotheses(translation: Translation) -> int:
    """How many translations are empty."""
    return sum(not line for line in translation.hypotheses)


def tokenized_lines(translation: Translation) -> int:
    """How many translations end as tokenized text does, with a blank before the full stop."""
    return sum(line.endswith(" .") for line in translation.hypotheses)


def score_table(scores: Sequence[MetricScore]) -> str:
    """The scores as an aligned table; signatures below it."""
    rows = [["metric", "level", "score"]]
    bootstrap = any(score.confidence is not None for score in scores)
    if bootstrap:
        rows[0] += ["bootstrap mean", "95 % interval"]
    for score in scores:
        row = [score.name, score.level, f"{score.score:.{score.digits}f}"]
        if bootstrap:
            row += (
                ["-", "-"]
                if score.confidence is None
                else [f"{score.bootstrap_mean:.2f}", f"+/- {score.confidence:.2f}"]
            )
        rows.append(row)
    signatures = [f"{score.name} ({score.level}): {score.signature}" for score in scores]
    return "\n".join([aligned_table(rows), "", *signatures])


def score_dict(translation: Translation, scores: Sequence[MetricScore]) -> Dict[str, Any]:
    """The scores for JSON."""
    lengths = translation.document_lengths
    return {
        "sentences": len(translation.hypotheses),
        "documents": None if lengths is None else len(lengths),
        "references": len(translation.references),
        "empty_hypotheses": empty_hypotheses(translation),
        "scores": [asdict(score) for score in scores],
    }
