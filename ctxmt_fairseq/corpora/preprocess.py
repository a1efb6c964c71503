"""Turns text with document ids into a binarised data folder, in streams, never with a list of all sentences.

It checks and normalises the text (``text_rows``), applies the folder's text steps (``text_steps``), trains or
loads subwords and encodes, counts the dictionary in the training text (``vocabulary``), binarises with
fairseq, and puts the folder in its place.
"""

import contextlib
import hashlib
import itertools
import json
import logging
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional, Set, Tuple

import torch
from tqdm.auto import tqdm

from ctxmt_fairseq.base.errors import BadInput, named
from ctxmt_fairseq.corpora.data_folder import (
    digest_line,
    entry,
    file_digests,
    metadata_line,
    new_folder,
    read_description,
    write_description,
)
from ctxmt_fairseq.corpora.overlap import Overlap, overlap_lines
from ctxmt_fairseq.corpora.round_trip import round_trip
from ctxmt_fairseq.corpora.subwords import Subwords, find_model
from ctxmt_fairseq.corpora.text_rows import TextFiles
from ctxmt_fairseq.corpora.text_steps import KEY, TextSteps
from ctxmt_fairseq.corpora.unknown_subwords import warn_of_unknown
from ctxmt_fairseq.corpora.vocabulary import Vocabulary, find_models
from ctxmt_fairseq.corpora.workers import chunks
from ctxmt_fairseq.text.symbols import MASK, SEPARATOR
from ctxmt_fairseq.text.text_lines import PathLike, iterate_lines

logger = logging.getLogger(__name__)
BATCH = 10_000  # so many sentences are encoded together


@dataclass(frozen=True)
class Corpus:
    """The text: ``splits`` maps fairseq's split names ("train", "valid", "valid1", ..) to prefixes."""

    source_lang: str
    target_lang: str
    splits: Dict[str, str]
    blank_lines: bool = False

    @property
    def languages(self) -> List[str]:
        return [self.source_lang, self.target_lang]

    def name(self, split: str, suffix: str) -> str:
        """A file's name in the data folder."""
        return f"{split}.{self.source_lang}-{self.target_lang}.{suffix}"


def preprocess(
    corpus: Corpus,
    vocabulary: Vocabulary,
    out: PathLike,
    overwrite: bool = False,
    workers: int = 1,
    drop_overlap: bool = False,
) -> Dict[str, Any]:
    """Make the data folder ``out``, or on an error nothing; returns its description, as in ``ctxmt.json``.
    With ``drop_overlap`` training pairs that another split has are context only."""
    languages = corpus.languages
    like = _check(corpus, vocabulary)
    files = {
        split: TextFiles(prefix, corpus.source_lang, corpus.target_lang, corpus.blank_lines)
        for split, prefix in corpus.splits.items()
    }
    with new_folder(out, overwrite) as folder:
        text = folder / "text"
        text.mkdir()
        entries, steps = vocabulary.place_steps(folder, languages, lambda x: files["train"].sentences(x))
        overlap, staged = Overlap(), {}
        for split in reversed(files):  # what is tested first, so that training text can be compared with it
            mark = drop_overlap and split == "train"
            staged[split] = _stage(corpus, split, files[split], folder, steps, overlap, mark)
        splits = {split: staged[split] for split in files}
        vocabulary.place_subwords(folder, {x: text / f"train.{x}" for x in languages})
        frequencies: Dict[str, Counter] = {language: Counter() for language in languages}
        before = (like or {}).get("language_tokens", {})
        # for text after its steps
        subwords = {x: Subwords(find_model(folder, x), token=before.get(x, "")) for x in languages}
        for split, language in itertools.product(splits, languages):
            found, empty = _encode(text / f"{split}.{language}", subwords[language], workers)
            splits[split]["tokens"][language] = found.total()
            splits[split]["empty"][language] = empty
            if split == "train":
                known = filter(subwords[language].knows, found)
                frequencies[language] = Counter({piece: found[piece] for piece in known})
        given = vocabulary.given_symbols()
        dictionaries = vocabulary.place_dictionaries(folder, frequencies)
        whole = {x: Subwords(find_model(folder, x), steps[x], before.get(x, "")) for x in languages}
        damaged: Set[str] = set()
        for split, language in itertools.product(splits, languages):
            pieces = iterate_lines(text / f"{split}.{language}.pieces")
            trip = round_trip(files[split].sentences(language), pieces, whole[language])
            if language not in damaged and trip.warn(files[split].path(language)):
                damaged.add(language)
            splits[split]["round_trip"][language] = trip.as_dict()
            prefix = folder / corpus.name(split, language)
            unknown = _binarise(text / f"{split}.{language}.pieces", prefix, dictionaries[language])
            splits[split]["unknown"][language] = unknown.total()
            if split.startswith("test") or given:
                name, tokens = files[split].path(language), splits[split]["tokens"][language]
                warn_of_unknown(name, tokens, unknown, whole[language], dictionaries[language])
        shutil.rmtree(text)
        models = find_models(folder, languages)
        description = {
            "source_lang": corpus.source_lang,
            "target_lang": corpus.target_lang,
            "joined_dictionary": dictionaries[languages[0]] == dictionaries[languages[1]],
            KEY: entries,
            "sentencepiece": dict(zip(languages, models, strict=True)) if any(models) else None,
            **_mean_length(corpus, splits, like or {}),
            **({"given_symbols": given} if given else {}),
            **({"overlap": overlap.as_dict()} if len(files) > 1 else {}),
            **({"dropped": overlap.marked} if drop_overlap else {}),
            **({"language_tokens": before} if before else {}),
            "dictionaries": file_digests(folder, (f"dict.{x}.txt" for x in languages)),
            "cut_by": file_digests(folder, [*models, *(name for x in languages for name in steps[x].files)]),
            "splits": splits,
        }
        write_description(folder, description)
    return description


def statistics_table(description: Dict[str, Any]) -> str:
    """Write the corpus statistics as text: a row for each split and language; tokens leave out ``</s>``, and
    lines are changed that come out of the subwords otherwise (``round_trip``)."""
    row = "{:<8}{:<6}{:>12}{:>12}{:>14}{:>8}{:>10}{:>8}{:>10}"
    heads = ("split", "lang", "sentences", "documents", "tokens", "mean", "unknown", "empty", "changed")
    lines = [row.format(*heads)]
    for name, split in description["splits"].items():
        for language, tokens in split["tokens"].items():
            mean = f"{tokens / split['sentences']:.2f}"
            unknown = f"{100 * split['unknown'][language] / max(tokens, 1):.2f} %"
            counts = (split["sentences"], split["documents"], tokens)
            trip = split["round_trip"][language]
            changed = f"{100 * trip['changed'] / trip['lines']:.2f} %"
            lines.append(
                row.format(name, language, *counts, mean, unknown, split["empty"][language], changed)
            )
    lines += overlap_lines(description.get("overlap", {}))
    if "dropped" in description:
        lines.append(
            f"{description['dropped']} training pairs are context only, because other splits have them"
        )
    return "\n".join(lines)


def _check(corpus: Corpus, vocabulary: Vocabulary) -> Optional[Dict[str, Any]]:
    """Refuse requests that contradict themselves; returns the description of the folder of ``--like``."""
    if not corpus.splits:
        raise BadInput("expected --train, --valid or --test")
    if vocabulary.like is None:
        if "train" not in corpus.splits:
            raise BadInput("expected --train, or --like DATA to take subwords and dictionaries from DATA")
        return None
    like = read_description(vocabulary.like)
    entry(vocabulary.like, "joined_dictionary")
    if [like["source_lang"], like["target_lang"]] != corpus.languages:
        found = f"{like['source_lang']}-{like['target_lang']}"
        raise BadInput(f"has the languages {found}, not {'-'.join(corpus.languages)}", vocabulary.like)
    return like


def _mean_length(corpus: Corpus, splits: Dict[str, Dict[str, Any]], like: Dict[str, Any]) -> Dict[str, int]:
    """The mean subwords of a training source sentence: the shift of focused concatenation, section 4.3. It is
    that of ``--like``, of which only what ``ctxmt import`` made has none."""
    name, train = "average_source_length", splits.get("train")
    if name in like or train is None:
        return {name: like[name]} if name in like else {}
    return {name: max(1, round(train["tokens"][corpus.source_lang] / train["sentences"]))}


def _stage(
    corpus: Corpus,
    split: str,
    files: TextFiles,
    folder: Path,
    steps: Dict[str, TextSteps],
    overlap: Overlap,
    mark: bool,
) -> Dict[str, Any]:
    """Check one split, write its text after ``steps`` to ``text/`` and its other files to the folder; returns
    counts, with room for those by language. ``mark`` is that of ``overlap``."""
    sides = {"source": corpus.source_lang, "target": corpus.target_lang}
    columns = {side: folder / "text" / f"{split}.{language}" for side, language in sides.items()}
    others = {"document": "docids", "current": "current" if mark or files.has("current") else "",
              "metadata": "meta.jsonl" if files.metadata else ""}  # fmt: skip
    columns |= {column: folder / corpus.name(split, end) for column, end in others.items() if end}
    counts: Counter = Counter(sentences=0, documents=0, context_only=0)
    previous = None
    like_symbols: List[str] = []  # places of text that reads like a symbol, which ``Subwords`` spells out
    source_steps, target_steps = (steps[language] for language in corpus.languages)
    digest, of_metadata = hashlib.sha256(), hashlib.sha256()
    with contextlib.ExitStack() as stack:
        outputs = {
            column: stack.enter_context(open(path, "w", encoding="utf-8", newline="\n"))
            for column, path in columns.items()
        }
        pairs = overlap.pairs(split, files.pairs(), last=split == "train", mark=mark)
        for pair in tqdm(pairs, desc=f"check {split}", unit=" lines", disable=None):
            digest.update(digest_line(source_steps.surface(pair.source)))
            of_metadata.update(metadata_line(pair.metadata))
            source, target = source_steps.apply(pair.source), target_steps.apply(pair.target)
            pair = pair._replace(source=source, target=target)
            texts = {**pair._asdict(), "current": int(pair.current), "metadata": json.dumps(pair.metadata)}
            for column, output in outputs.items():
                output.write(f"{texts[column]}\n")
            counts.update(sentences=1, documents=pair.document != previous, context_only=not pair.current)
            previous = pair.document
            text = f"{pair.source} {pair.target}"
            if SEPARATOR in text or MASK in text:
                like_symbols.append(f"{files.prefix}:{pair.line}")
    if like_symbols:
        found = f"{SEPARATOR} or {MASK} is read as text in {len(like_symbols)} lines"
        logger.warning("%s: %s", found, named(like_symbols))
    by_language = ("tokens", "empty", "round_trip", "unknown")
    digests = {"source_digest": digest.hexdigest()}
    if files.metadata:
        digests["metadata_digest"] = of_metadata.hexdigest()
    return {**counts, **digests, **{key: {} for key in by_language}}


def _encode(path: Path, subwords: Subwords, workers: int) -> Tuple[Counter, int]:
    """Write ``path``.pieces; returns how often each piece occurs, and how many lines have none."""
    counter: Counter = Counter()
    empty = 0
    with (
        open(path, encoding="utf-8", newline="\n") as lines,
        open(f"{path}.pieces", "w", encoding="utf-8", newline="\n") as output,
    ):
        for batch in chunks(tqdm(lines, desc=f"encode {path.name}", unit=" lines", disable=None), BATCH):
            for pieces in subwords.encode_all(batch, workers):
                output.write(pieces + "\n")
                symbols = pieces.split()
                counter.update(symbols)
                empty += not symbols
    return counter, empty


def _binarise(pieces: Path, prefix: Path, dictionary: Any) -> Counter:
    """Do what fairseq-preprocess does to one file; returns how often each unknown token occurs."""
    from fairseq.data.indexed_dataset import make_builder

    place, unknown_place = dictionary.indices, dictionary.unk()
    unknown: Counter = Counter()
    builder = make_builder(f"{prefix}.bin", "mmap", len(dictionary))
    with open(pieces, encoding="utf-8", newline="\n") as lines:
        for line in tqdm(lines, desc=f"binarise {prefix.name}", unit=" lines", disable=None):
            symbols = line.split()
            tokens = [place.get(symbol, unknown_place) for symbol in symbols]
            if unknown_place in tokens:
                unknown.update(symbol for symbol in symbols if symbol not in place)
            builder.add_item(torch.tensor([*tokens, dictionary.eos()], dtype=torch.int32))
    builder.finalize(f"{prefix}.idx")
    return unknown
