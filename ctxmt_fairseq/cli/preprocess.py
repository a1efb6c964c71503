"""Turn text with document ids into a binarised data folder for fairseq's commands.

A split is the files PREFIX.SRC and PREFIX.TGT (one sentence per line), PREFIX.docids (one document id per
line) and, optionally, PREFIX.current (0: the line is only context) and metadata: PREFIX.meta.jsonl (one JSON
object of strings per line) or files PREFIX.meta.FIELD (one value per line).

For a model that starts from one that you have, its dictionaries and subwords:
--dict-source dict.en.txt --dict-target dict.fr.txt --bpe-codes codes (or --spm spm.model).

Example: ctxmt preprocess --source-lang en --target-lang fr --train text/train --valid text/valid \\
    --test text/test --vocab-size 8000 --out data-bin
"""

from typing import Any, Dict, List, Literal, Optional

from ctxmt_fairseq.base import option_types
from ctxmt_fairseq.base.command import Command, OptionGroup, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Folder, Input, Language, OutputFolder
from ctxmt_fairseq.base.put_off import put_off
from ctxmt_fairseq.cli.options.split_prefixes import Splits


class Moses(OptionGroup):
    heading = "Moses' steps, by sacremoses; DATA remembers them, and translations have them undone"

    moses: bool = option("tokenise the text")
    moses_no_escape: bool = option("do not write & | < > ' and the like as entities")
    moses_split_dashes: bool = option("high-speed becomes high @-@ speed")
    truecase: bool = option("write a sentence's first word as the training text has it within sentences")

    def steps(self) -> List[Dict[str, Any]]:
        """Raises BadInput: options that contradict each other."""
        if not self.moses:
            if self.moses_no_escape or self.moses_split_dashes:
                raise BadInput("--moses-no-escape and --moses-split-dashes need --moses")
            return []
        escape, dashes = not self.moses_no_escape, self.moses_split_dashes
        return [{"step": "moses", "escape": escape, "split_dashes": dashes}]


class Sides(OptionGroup):
    """Whether the languages have a vocabulary of their own."""

    exclusive = True

    joint: bool = option(
        "one dictionary and subword model for both languages (default; needed for target text on the source "
        "side and for tied embeddings)"
    )
    separate: bool = option("a dictionary and a subword model per language")


def _given(metavar: str, what: str, side: str = "") -> Any:
    return option(f"{what} {f'the {side} language' if side else 'both languages'}", metavar=metavar)


_SPM = ("MODEL", "apply this SentencePiece model to")
_COUNTS = ("FILE", "apply these counts of Moses' train-truecaser to")
_CODES = ("CODES", "apply these BPE codes, of subword-nmt or fastBPE, to")
_PIECES = ("FILE", "apply them with this vocabulary, of subword-nmt, fastBPE or fairseq, to")
_DICT = ("FILE", "take this fairseq dictionary, with the plugin's symbols at its end, for")


class VocabularyOptions(OptionGroup):
    heading = "vocabulary, by default learned from the training text"

    sides: Sides
    vocab_size: Optional[int] = option(
        "pieces of each subword model (default 8000, or the most that the text carries); with --no-subwords "
        "or --bpe-codes the words or pieces kept (default all)"
    )
    spm_type: Optional[Literal["unigram", "bpe"]] = option("of SentencePiece's new models (default: unigram)")
    character_coverage: Optional[float] = option(
        "share of characters with a piece (default 1.0; 0.9995 for scripts of thousands of characters)",
        None,
        option_types.number(0.98, 1),  # what SentencePiece takes
        metavar="P",
    )
    normalization: Optional[str] = _given(
        "RULE",
        "how SentencePiece's new model changes characters first: identity (default: not at all), nfkc, "
        "nmt_nfkc, nfkc_cf, nmt_nfkc_cf, or a FILE.tsv of rules; of",
    )
    normalization_source: Optional[str] = _given("RULE", "with --separate, that of", "source")
    normalization_target: Optional[str] = _given("RULE", "with --separate, that of", "target")
    user_symbols: List[str] = option(
        "words that are one piece each, wherever they stand: tags, placeholders", [], metavar="WORD"
    )
    spm: Optional[Input] = _given(*_SPM)
    spm_source: Optional[Input] = _given(*_SPM, "source")
    spm_target: Optional[Input] = _given(*_SPM, "target")
    truecase_counts: Optional[Input] = _given(*_COUNTS)
    truecase_counts_source: Optional[Input] = _given(*_COUNTS, "source")
    truecase_counts_target: Optional[Input] = _given(*_COUNTS, "target")
    bpe_codes: Optional[Input] = _given(*_CODES)
    bpe_codes_source: Optional[Input] = _given(*_CODES, "source")
    bpe_codes_target: Optional[Input] = _given(*_CODES, "target")
    bpe_vocabulary: Optional[Input] = _given(*_PIECES)
    bpe_vocabulary_source: Optional[Input] = _given(*_PIECES, "source")
    bpe_vocabulary_target: Optional[Input] = _given(*_PIECES, "target")
    bpe_vocabulary_threshold: Optional[int] = option(
        "pieces that it has fewer times are cut (default: none)", type=option_types.non_negative_int
    )
    dict: Optional[Input] = _given(*_DICT)
    dict_source: Optional[Input] = _given(*_DICT, "source")
    dict_target: Optional[Input] = _given(*_DICT, "target")
    no_subwords: bool = option("the text's words are the symbols")
    like: Optional[Folder] = option(
        "take text steps, subwords, dictionaries from this data folder", metavar="DATA"
    )


class Preprocess(Command):
    source_lang: Language = option("", metavar="SRC")
    target_lang: Language = option("", metavar="TGT")
    splits: Splits
    out: OutputFolder = option("the data folder to make", metavar="DATA")
    overwrite: bool = option(
        "replace DATA if it is a data folder, and all that is in it; no input may lie in it"
    )
    blank_lines: bool = option("a blank line on both sides ends a document; there are no ids")
    lowercase: bool = option(
        "lower-case the text; DATA remembers it, and all that its models read is lower-cased too"
    )
    moses: Moses
    drop_overlap: bool = option(
        "train on no pair that another split has, too, but for case and punctuation: it is context only"
    )
    workers: int = option("processes and threads", 1, option_types.workers)
    vocabulary: VocabularyOptions

    def run(self) -> None:
        put_off()

        from ctxmt_fairseq.corpora.preprocess import Corpus, preprocess, statistics_table
        from ctxmt_fairseq.corpora.subwords import check_normalization
        from ctxmt_fairseq.corpora.vocabulary import Vocabulary

        given = self.vocabulary
        names = ("spm", "truecase_counts", "bpe_codes", "bpe_vocabulary", "dict")
        spm, truecase, bpe, pieces, dictionaries = map(self._by_language, names)
        if sum(map(bool, (spm, bpe, given.no_subwords, given.like))) > 1:
            raise BadInput("give one of --spm, --bpe-codes, --no-subwords and --like")
        if pieces and not bpe:
            raise BadInput("--bpe-vocabulary needs --bpe-codes")
        if given.bpe_vocabulary_threshold is not None and not pieces:
            raise BadInput("--bpe-vocabulary-threshold needs --bpe-vocabulary")
        learned = given.sides.separate or given.sides.joint or given.vocab_size
        if given.like and (learned or dictionaries):
            none = "leave out --joint, --separate, --vocab-size and --dict"
            raise BadInput(f"--like takes its whole vocabulary from DATA: {none}")
        if dictionaries and learned:
            raise BadInput("--dict is the whole vocabulary: leave out --joint, --separate and --vocab-size")
        if dictionaries and not (spm or bpe or given.no_subwords):
            raise BadInput(
                "--dict: say how its subwords are made, by --spm or --bpe-codes, or give --no-subwords"
            )
        trained = not (spm or bpe or given.no_subwords or given.like)
        rules = self._by_language("normalization")
        if (rules or given.user_symbols or given.spm_type or given.character_coverage) and not trained:
            only = "--normalization, --user-symbols, --spm-type and --character-coverage"
            raise BadInput(f"{only} are for a SentencePiece model that is trained here")
        for rule in rules.values():
            check_normalization(rule)
        if len(set(rules.values())) > 1 and not given.sides.separate:
            raise BadInput("one model for both languages has one --normalization; or give --separate")
        steps = self._steps(bool(truecase))
        vocabulary = Vocabulary(
            steps=[{"step": "spaces"}] * (trained and not self.moses.moses) + steps,
            truecase=truecase,
            learn_truecase=self.moses.truecase,
            joint=not given.sides.separate,
            subwords=not given.no_subwords,
            spm=spm,
            bpe=bpe,
            bpe_vocabulary=pieces,
            bpe_threshold=given.bpe_vocabulary_threshold or 0,
            dictionaries=dictionaries,
            vocab_size=given.vocab_size,
            spm_type=given.spm_type or "unigram",
            character_coverage=given.character_coverage or 1.0,
            normalization=rules,
            symbols=given.user_symbols,
            like=given.like,
        )
        splits = self.splits.prefixes()
        if self.drop_overlap and not (self.splits.train and len(splits) > 1):
            raise BadInput("--drop-overlap needs --train, and --valid or --test")
        corpus = Corpus(self.source_lang, self.target_lang, splits, self.blank_lines)
        how = (self.out, self.overwrite, self.workers, self.drop_overlap)
        print(statistics_table(preprocess(corpus, vocabulary, *how)))

    def _steps(self, truecase: bool) -> List[Dict[str, Any]]:
        """The text steps without files."""
        entries = self.moses.steps() + [{"step": "lowercase"}] * self.lowercase
        if self.lowercase + self.moses.truecase + truecase > 1:
            raise BadInput("give one of --lowercase, --truecase and --truecase-counts")
        if self.vocabulary.like and (entries or self.moses.truecase or truecase):
            raise BadInput(
                "--like takes the text steps of DATA: leave out --lowercase, --moses and --truecase"
            )
        return entries

    def _by_language(self, name: str) -> Dict[str, str]:
        """The files given by --OPTION, or by --OPTION-source with --OPTION-target; {} for none."""
        both, *sides = (getattr(self.vocabulary, name + side) for side in ("", "_source", "_target"))
        if (both and any(sides)) or any(sides) != all(sides):
            flag = name.replace("_", "-")
            raise BadInput(f"give --{flag}, or --{flag}-source with --{flag}-target")
        files = [both, both] if both else sides
        return {self.source_lang: files[0], self.target_lang: files[1]} if files[0] else {}
