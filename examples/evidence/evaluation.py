"""What a trained run is worth: translations, contrastive pronouns, and what it makes of its context."""

import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping

from ctxmt_fairseq.evaluation.metrics import read_translation
from ctxmt_fairseq.evaluation.significance.measures import measure
from ctxmt_fairseq.evaluation.significance.systems import per_unit
from evidence import systems, training
from evidence.commands import ctxmt
from evidence.texts import HELP
from evidence.workplace import Workplace

LENGTH = ("--max-len-a", "1.5", "--max-len-b", "10")
SIZES = (0, 1, 2, 3)  # context sentences on either side: windows of 1 to 4
LENGTHS = (5, 10, 20)  # the most words of all buckets but the last
OFTEN = 10  # words, lengths and places that are rarer are left out


@dataclass(frozen=True)
class Trained:
    """A run whose training has ended."""

    place: Workplace
    row: str
    seed: int

    @property
    def system(self) -> systems.System:
        return systems.ALL[self.row]

    @property
    def model(self) -> Path:
        return training.checkpoint(self.place, self.row, self.seed)

    @property
    def folder(self) -> Path:
        return self.place.run(self.row, self.seed)

    @property
    def test(self) -> Path:
        """Prefix of the test text."""
        return self.place.home(self.system.text) / "text" / "test"

    @property
    def texts(self) -> List[Path]:
        """Source, reference and document ids of the test text."""
        return [self.test.with_suffix(f".{kind}") for kind in self.system.text.kinds]

    @property
    def translation(self) -> Path:
        return self.folder / f"test.{self.system.text.target}"

    @property
    def control(self) -> "Trained":
        """The same seed of the row without context."""
        return Trained(self.place, systems.control_of(self.row), self.seed)


def scores(run: Trained) -> Dict[str, Any]:
    """Of the test text."""
    return _scores(run, _translated(run), "score")


def pronouns(run: Trained) -> Dict[str, Any]:
    """Accuracies of the contrastive set, by kind of context."""
    contexts = ("document", "random") if run.system.reads_context else ("document",)
    return {context: _contrast(run, context, "--context-selection", context) for context in contexts}


def own_vector(run: Trained) -> Dict[str, Any]:
    """Accuracies without the previous sentence: what the current sentence's own vector does is no context."""
    return _contrast(run, "own-vector", "--source-context", 0)


def probe(run: Trained) -> Dict[str, Any]:
    """Translations and probabilities with other contexts."""
    options = ("--contexts", "random", "empty", "absent", "--beam", 1, *LENGTH, "--cpu")
    return _found(run, "probe", run.model, run.test, *options)


def windows(run: Trained) -> Dict[str, Any]:
    """Windows smaller and larger than in training: translations of each size, and contrastive accuracies."""
    widest = ("--source-context", SIZES[-1], "--target-context", SIZES[-1])
    options = (*widest, "--contexts", "absent", "--sizes", *SIZES, "--beam", 1, *LENGTH, "--cpu")
    probed = _found(run, "probe", run.model, run.test, *options, name="windows")
    found = {"sizes": probed["sizes"]}
    if run.system.text.suite:
        sizes = (("--source-context", size, "--target-context", size) for size in SIZES)
        found["pronouns"] = [_contrast(run, f"size-{flags[1]}", *flags)["accuracy"] for flags in sizes]
    return found


def attention(run: Trained) -> Dict[str, Any]:
    """How much of it stays in the current sentence."""
    found = _found(run, "analyse", "attention-share", run.model, run.test, "--cpu", name="attention")
    return {key: found["models"][0][key] for key in ("means", "entropies")}


def statistics(run: Trained) -> Dict[str, Any]:
    """What each document of the test text adds to BLEU: with it any two results can be compared, though
    their translations are gone."""
    return _statistics(run, _translated(run))


def post_editing(run: Trained) -> Dict[str, Any]:
    """Scores and statistics of translations behind corrected ones: their target context is the reference."""
    _, reference, _ = run.texts
    path = _translation(run, run.translation.with_stem("post-editing"), "--target-context-from", reference)
    return {"scores": _scores(run, path, "post-editing"), "statistics": _statistics(run, path)}


def lengths(run: Trained) -> Dict[str, float]:
    """BLEU by the words of the source sentence."""
    source, reference, _ = run.texts
    edges = ("--edges", *LENGTHS)
    found = _found(run, "analyse", "lengths", source, reference, _translated(run), *edges, name="lengths")
    return {f"{max(each['least'], 1)}-{each['most'] or ''}": each["score"] for each in found["buckets"]}


def words(run: Trained) -> Dict[str, Any]:
    """Attention to words of the context: of every word, and by lengths and places."""
    found = _found(run, "analyse", "attention-words", run.model, run.test, "--cpu", name="words")
    kinds = {
        "words": "word",
        "source_lengths": "length",
        "context_lengths": "length",
        "positions": "position",
    }
    often = {
        kind: {each[name]: round(each["useful"], 4) for each in found[kind] if each["n"] >= OFTEN}
        for kind, name in kinds.items()
    }
    return {"sentences": found["sentences"], "mean": found["mean"], **often}


def groups(run: Trained) -> Dict[str, Any]:
    """How latent groups are used."""
    found = _found(run, "analyse", "group-use", run.model, run.texts[0], "--cpu", name="groups")
    return {key: found[key] for key in ("sentences", "used_in_sentences", "used_groups_per_sentence")}


def consistency(run: Trained) -> Dict[str, Any]:
    """How alike recurring terms are translated in a document: by the sentence-level model, the control and
    this system, on the same terms."""
    source, reference, ids = run.texts
    train = run.test.with_name("train")
    learnt = ("--train", *(train.with_suffix(path.suffix) for path in (source, reference)))
    named = [f"{each.row}={_translated(each)}" for each in (*_simpler(run), run)]
    texts = (source, *named, "--docids", ids, "--reference", reference)
    found = _found(run, "analyse", "consistency", *texts, *learnt, "--all-pairs", name="consistency")
    return {key: found[key] for key in ("terms", "systems", "comparisons")}


def tagged_words(run: Trained) -> Dict[str, Any]:
    """What the document's own context adds to words with a tag, beside that of another document, in bits."""
    tags = _tags(run)
    if not tags.exists():
        languages = ("--source-lang", "en", "--target-lang", run.system.text.target)
        ctxmt("corpus", "tag", run.test, *languages, "--output", tags)
    options = ("--tags", tags, "--contexts", "random", "--against", "random", "--cxmi-only", "--cpu")
    found = _found(run, "probe", run.model, run.test, *options, name="tagged-words")
    return {each.pop("tag"): each for each in found["tags"]}


def _tags(run: Trained) -> Path:
    return run.test.with_suffix(".tags.jsonl")


def _simpler(run: Trained) -> List[Trained]:
    """Of the same seed the sentence-level model and the control, where this run is neither."""
    rows = list(dict.fromkeys((systems.start_of(run.row)[0], run.control.row, run.row)))
    return [Trained(run.place, row, run.seed) for row in rows[: rows.index(run.row)]]


@dataclass(frozen=True)
class Part:
    """A part of the evaluation: ``make`` it where ``applies``."""

    applies: Callable[[Trained], bool]
    make: Callable[[Trained], Any]


def _has_window_attention(run: Trained) -> bool:
    return run.system.reads_windows and run.system.arch == "concat_transformer"


def _has_context_encoder(run: Trained) -> bool:
    return run.system.arch in ("gated_context_transformer", "context_encoder_transformer")


def _has_pages(run: Trained) -> bool:
    """Whole documents, and what they are compared with."""
    return run.system.text in HELP.values() and all(each.translation.exists() for each in _simpler(run))


def _has_tags(run: Trained) -> bool:
    """Pages with context, and tags of their words, or what finds them."""
    pages = run.system.text in HELP.values() and run.system.reads_context
    return pages and (_tags(run).exists() or importlib.util.find_spec("spacy") is not None)


PARTS: Dict[str, Part] = {
    "scores": Part(lambda run: True, scores),
    "statistics": Part(lambda run: True, statistics),
    "pronouns": Part(lambda run: bool(run.system.text.suite), pronouns),
    "own_vector": Part(lambda run: run.system.embeds and bool(run.system.text.suite), own_vector),
    "probe": Part(lambda run: run.system.reads_context, probe),
    "post_editing": Part(lambda run: run.system.reads_target, post_editing),
    "windows": Part(lambda run: run.system.reads_windows, windows),
    "attention": Part(_has_window_attention, attention),
    "lengths": Part(lambda run: True, lengths),
    "words": Part(_has_context_encoder, words),
    "groups": Part(lambda run: "--shortening group" in run.system.flags, groups),
    "consistency": Part(_has_pages, consistency),
    "tagged_words": Part(_has_tags, tagged_words),
}


def missing(run: Trained, record: Mapping[str, Any]) -> List[str]:
    """Parts that a result does not have yet and that can be made here: an earlier driver knew fewer."""
    if run.row not in systems.EVALUATED or not training.trained(run.place, run.row, run.seed):
        return []
    return [name for name, part in PARTS.items() if name not in record and part.applies(run)]


def evaluate(run: Trained, names: List[str]) -> Dict[str, Any]:
    """These parts, for JSON; the files that they come from lie in the run."""
    return {name: PARTS[name].make(run) for name in names}


def _translated(run: Trained) -> Path:
    """The test text's translation, with the model's own translations as target context."""
    return _translation(run, run.translation)


def _translation(run: Trained, output: Path, *options: Any) -> Path:
    source, _, ids = run.texts
    if not output.exists():
        search = ("--beam", 4, *LENGTH, "--cpu", *options)
        ctxmt("translate", run.model, source, "--docids", ids, "--output", output, *search)
    return output


def _scores(run: Trained, translation: Path, name: str) -> Dict[str, Any]:
    _, reference, ids = run.texts
    return _found(run, "score", translation, reference, "--docids", ids, name=name)


def _statistics(run: Trained, path: Path) -> Dict[str, Any]:
    _, reference, ids = run.texts
    translation = read_translation(path, [reference], ids)
    rows = per_unit(measure("bleu").rows(0, translation), "document", translation)
    return {"bleu": [" ".join(map(str, row)) for row in rows.astype(int).tolist()]}


def _contrast(run: Trained, name: str, *options: Any) -> Dict[str, Any]:
    """Accuracies of the contrastive set; ``decisions`` has for each example 1 if it is right, else 0."""
    examples = run.folder / f"contrast.{name}.jsonl"
    suite = run.place.suite(run.system.text)
    options = (*options, "--examples", examples, "--cpu")
    found = _found(run, "contrast", run.model, suite, *options, name=f"contrast.{name}")
    records = [json.loads(line) for line in examples.read_text(encoding="utf-8").splitlines()]
    kept = ("name", "convention", "examples", "correct", "accuracy", "ties", "phenomena")
    return {
        **{key: found[key] for key in kept},
        "decisions": "".join(str(int(record["chosen"] == record["correct"])) for record in records),
    }


def _found(run: Trained, command: str, *arguments: Any, name: str = "") -> Any:
    """What a command writes with --json, into the run."""
    path = run.folder / f"{name or command}.json"
    ctxmt(command, *arguments, "--json", path)
    return json.loads(path.read_text(encoding="utf-8"))
