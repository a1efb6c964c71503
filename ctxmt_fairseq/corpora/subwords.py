"""Turns text into subwords and back, as a data folder says: by its text steps (BPE codes are one), and then
by SentencePiece if there is a model."""

import io
import re
from pathlib import Path
from typing import AbstractSet, Any, Dict, Iterable, Iterator, List, Optional, Sequence

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.data_folder import check_unchanged, description_of, language_token
from ctxmt_fairseq.corpora.text_steps import Spaces, TextSteps
from ctxmt_fairseq.text.languages import unspaced
from ctxmt_fairseq.text.symbols import MASK, SEPARATOR, SPECIAL_WORDS
from ctxmt_fairseq.text.text_lines import PathLike

# SentencePiece loads its training text into memory, so from larger corpora it draws this many sentences.
TRAINING_SENTENCES = 5_000_000
WORD_START = "▁"  # SentencePiece's mark of a word's start
_MARKS = str.maketrans(dict.fromkeys([WORD_START, *Spaces.SIGNS.values()], ""))
NORMALIZATIONS = ("identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf")  # SentencePiece's
_NEVER_TEXT = SPECIAL_WORDS | {SEPARATOR, MASK}


class TooManyPieces(BadInput):
    """A text carries fewer pieces than were asked for: ``most``."""

    most: int


def model_names(language: str) -> List[str]:
    """The names that a language's model may have in a data folder, the language's own first."""
    return [f"spm.{language}.model", "spm.model"]


def find_model(data_folder: PathLike, language: str) -> Optional[Path]:
    """A language's SentencePiece model in a data folder; None: its words are the symbols. A model that the
    folder's description names and that was lost or changed is refused."""
    paths = (Path(data_folder) / name for name in model_names(language))
    found = next((path for path in paths if path.is_file()), None)
    lost = None if found else (description_of(data_folder).get("sentencepiece") or {}).get(language)
    if lost:
        raise BadInput("no such file", Path(data_folder) / str(lost))
    if found:
        check_unchanged(data_folder, found.name)
    return found


class Subwords:
    """Turns text into subword pieces and back.

    Args:
        model: a SentencePiece model file; None: pieces are the words between white space after the steps.
        steps: they are applied to the text before, and undone after.
        token: the piece before each sentence that has words (``language_token``); "": there is none.
    """

    def __init__(self, model: Optional[PathLike] = None, steps: Optional[TextSteps] = None, token: str = ""):
        self.steps, self.token = steps or TextSteps(), token
        self.processor = None
        self.model = model
        if model is not None:
            from sentencepiece import SentencePieceProcessor

            if not Path(model).is_file():
                raise BadInput("no such file", model)
            try:
                self.processor = SentencePieceProcessor(model_file=str(model))
            except (RuntimeError, UnicodeError):
                raise BadInput("is no SentencePiece model, or a damaged one", model) from None

    @classmethod
    def load(cls, data_folder: PathLike, language: str) -> "Subwords":
        """Load the segmentation of a data folder's text in one language."""
        steps = TextSteps.load(data_folder, language)
        return cls(find_model(data_folder, language), steps, language_token(data_folder, language))

    def encode(self, text: str) -> str:
        """Turn a sentence into pieces, joined by spaces; "": it has none."""
        return self.encode_all([text])[0]

    def encode_all(self, texts: List[str], threads: int = 1) -> List[str]:
        """Encode many sentences.

        White space of any kind counts as a space, so no piece has any. Text that reads like a symbol, such as
        "<SEP>" in lower case, or a full-width "<sep>" for SentencePiece, is spelled out.
        """
        texts = [" ".join(self.steps.apply(text).split()) for text in texts]
        if self.processor is None:
            rows: Iterable[List[str]] = map(str.split, texts)
        else:
            try:
                if threads > 1:
                    rows = self.processor.encode(texts, out_type=str, num_threads=threads)
                else:  # of a list SentencePiece has each call start a thread, and waits for it
                    rows = [self.processor.encode(text, out_type=str) for text in texts]
            except (RuntimeError, SystemError, UnicodeError):  # pieces that are no text
                raise BadInput("is a damaged SentencePiece model", self.model) from None
        never = _NEVER_TEXT | {self.token}
        rows = (row if never.isdisjoint(row) else [*_spelled_out(row, never)] for row in rows)
        return [" ".join([self.token, *row] if self.token and row else row) for row in rows]

    def decode(self, pieces: str) -> str:
        """Turn pieces joined by spaces into text without blanks around it, as fairseq does."""
        if self.token:
            pieces = " ".join(piece for piece in pieces.split() if piece != self.token)
        text = pieces if self.processor is None else self.processor.decode_pieces(pieces.split()).strip()
        return self.steps.undo(text)

    @property
    def cuts_words(self) -> bool:
        """Whether a word may be several pieces."""
        return self.processor is not None or bool(self.steps.separator)

    def word_starts(self, pieces: Sequence[str]) -> List[bool]:
        """Tell which of a sentence's pieces are the first of a word; in scripts without blanks all are."""
        if self.token and pieces[:1] == [self.token]:  # a language's, which is the first word's start
            return [True, False, *self.word_starts(pieces[1:])[1:]]
        if self.processor is not None:
            starts = [piece.startswith(WORD_START) for piece in pieces]
        else:
            end = self.steps.separator
            starts = [not (end and before.endswith(end)) for before in ["", *pieces][: len(pieces)]]
        alone = [unspaced(piece) for piece in pieces]
        return [any(each) for each in zip(starts, alone, [False, *alone], strict=False)]

    def bare(self, piece: str) -> str:
        """A piece without the mark that says where words start or go on."""
        cut, piece = self.processor is None, "" if piece == self.token else piece
        return piece.removesuffix(self.steps.separator) if cut else piece.translate(_MARKS)

    def knows(self, piece: str) -> bool:
        """Whether the model has a piece; it lacks characters that its training text did not have."""
        return self.processor is None or self.processor.piece_to_id(piece) != self.processor.unk_id()


def _spelled_out(pieces: List[str], never: AbstractSet[str]) -> Iterator[str]:
    """Yield the pieces, but those that are symbols as single characters."""
    for piece in pieces:
        yield from piece if piece in never else (piece,)


def check_normalization(rule: str) -> None:
    """Refuse a rule that SentencePiece does not have, or a file of rules that is not there."""
    if rule.endswith(".tsv"):
        if not Path(rule).is_file():
            raise BadInput("no such file", rule)
    elif rule not in NORMALIZATIONS:
        raise BadInput(f"--normalization: expected {', '.join(NORMALIZATIONS)} or a FILE.tsv, found {rule!r}")


def train_subwords(
    sentences: Iterable[str],
    vocab_size: int,
    kind: str = "unigram",
    character_coverage: float = 1.0,
    normalization: str = "identity",
    symbols: Sequence[str] = (),
) -> bytes:
    """Train SentencePiece with the separator and the mask as symbols of their own; returns the model's file.

    The same sentences give the same model; if they carry fewer pieces, raises ``TooManyPieces``. Reading them
    must not raise, because SentencePiece would take that for the end. ``normalization`` is one of
    ``NORMALIZATIONS``, or a FILE.tsv of SentencePiece's rules; ``symbols`` are words that are one piece each,
    wherever they stand.
    """
    import sentencepiece

    kind_of_rule = "tsv" if normalization.endswith(".tsv") else "name"
    rule: Dict[str, Any] = {f"normalization_rule_{kind_of_rule}": normalization}
    sentencepiece.set_random_generator_seed(1)
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sentences),
            model_writer=model,
            model_type=kind,
            vocab_size=vocab_size,
            character_coverage=character_coverage,
            user_defined_symbols=[SEPARATOR, MASK, *symbols],
            **rule,
            input_sentence_size=TRAINING_SENTENCES,
            shuffle_input_sentence=True,
            max_sentence_length=65536,  # bytes; longer lines are left out of the training
            num_threads=16,  # fixed, because the sums, and so the model, depend on it
            minloglevel=2,
        )
    except RuntimeError as error:
        reason = re.sub(r"(?i)^internal: \S+ \[.*?\] ", "", str(error)).strip() or "no text"
        refusal = f"no subword model of {vocab_size} pieces from this text: "
        found = re.search(r"too high .* <= (\d+)", reason)
        if not found:
            raise BadInput(refusal + reason) from None
        more = "" if kind == "bpe" else "--spm-type bpe allows more pieces, "
        words = f"--vocab-size {found[1]}; {more}--no-subwords takes the words as they are"
        too_many = TooManyPieces(f"{refusal}it carries at most {found[1]} ({words})")
        too_many.most = int(found[1])
        raise too_many from None
    return model.getvalue()
