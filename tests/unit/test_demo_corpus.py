"""The demo corpus as its files say: everything is read back from the folder, nothing from the generator."""

import json
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Dict, List, NamedTuple, Tuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.data.demo_corpus.write import write_demo_corpus
from ctxmt_fairseq.errors import BadInput

SPLITS = ("train", "valid", "test")


class Read(NamedTuple):
    """An example as its file shows it; ``decides`` is the distance, negative for the following sentence."""

    source: Tuple[str, ...]
    current: int
    candidates: Tuple[Tuple[str, ...], ...]  # right first
    decides: int
    meta: Tuple[Tuple[str, str], ...]


def lines_of(path: Path) -> List[str]:
    text = path.read_bytes().decode("utf-8")
    assert text.endswith("\n")
    return text[:-1].split("\n")


def read_opensubs(folder: Path, distance: int) -> List[Read]:
    current = {side: lines_of(folder / f"OpenSubs.current.{side}") for side in ("src", "trg")}
    context = {side: lines_of(folder / f"OpenSubs.c3.context.{side}") for side in ("src", "trg")}
    for size in (1, 2):  # the smaller contexts are the ends of the largest
        for side in ("src", "trg"):
            shorter = lines_of(folder / f"OpenSubs.c{size}.context.{side}")
            largest = context[side]
            expected = [largest[i] for i in range(len(largest)) if i % 3 >= 3 - size]
            assert shorter == expected
    examples = []
    for i in range(0, len(current["src"]), 2):
        windows = [
            {side: tuple(context[side][3 * j : 3 * j + 3]) + (current[side][j],) for side in ("src", "trg")}
            for j in (i, i + 1)
        ]
        assert windows[0]["src"] == windows[1]["src"]
        examples.append(Read(windows[0]["src"], 3, tuple(w["trg"] for w in windows), distance, ()))
    return examples


def read_bawden(path: Path) -> List[Read]:
    examples = []
    for block in json.loads(path.read_text("utf-8")).values():
        assert len(block["examples"]) == 2
        for example in block["examples"]:
            candidates = tuple(tuple(example["trg"][key]) for key in ("correct", "incorrect"))
            examples.append(Read(tuple(example["src"]), 1, candidates, 1, ()))
    return examples


def read_voita(path: Path) -> List[Read]:
    examples = []
    for example in json.loads(path.read_text("utf-8")):
        source = tuple(example["src"].split(" _eos "))
        candidates = [tuple(candidate.split(" _eos ")) for candidate in example["dst"]]
        right = candidates.pop(example["true_ind"])
        examples.append(Read(source, len(source) - 1, (right, *candidates), example["ctx_dist"], ()))
    return examples


def read_jsonl(path: Path, context: str) -> List[Read]:
    examples, ids = [], set()
    for line in lines_of(path):
        example = json.loads(line)
        required = {"id", "phenomenon", "distance", "context", "source", "current", "targets", "correct"}
        assert required <= set(example) <= required | {"meta"}
        assert example["context"] == context
        ids.add(example["id"])
        candidates = [tuple(candidate) for candidate in example["targets"]]
        right = candidates.pop(example["correct"])
        meta = tuple(sorted(example.get("meta", {}).items()))
        examples.append(
            Read(
                tuple(example["source"]),
                example["current"],
                (right, *candidates),
                example["distance"],
                meta,
            )
        )
    assert len(ids) == len(examples)
    return examples


def read_sets(folder: Path) -> Dict[str, Tuple[dict, List[Read]]]:
    sets = {}
    for entry in json.loads((folder / "contrastive/sets.json").read_text("utf-8")):
        path = folder / "contrastive" / entry["path"]
        if entry["format"] == "opensubs":
            examples = read_opensubs(path, *entry["distances"])
        elif entry["format"] == "bawden":
            examples = read_bawden(path)
        elif entry["format"] == "voita":
            examples = read_voita(path)
        else:
            examples = read_jsonl(path, entry["context"])
        sets[entry["name"]] = (entry, examples)
    return sets


def read_documents(folder: Path, split: str) -> List[List[Tuple[str, str, dict]]]:
    columns = [lines_of(folder / f"{split}.{suffix}") for suffix in ("en", "fr", "docids", "meta.jsonl")]
    assert len({len(column) for column in columns}) == 1
    documents: Dict[str, List[Tuple[str, str, dict]]] = {}
    previous = None
    for en, fr, name, meta in zip(*columns, strict=True):
        assert name == previous or name not in documents
        previous = name
        documents.setdefault(name, []).append((en, fr, json.loads(meta)))
    return list(documents.values())


def visible(example: Read, hidden: str, reach: int = 99) -> tuple:
    """What a model sees that lacks ``hidden``: a kind of context, or what is ``reach`` and more back."""
    first = max(0, example.current - reach + 1)
    source = example.source[first : example.current + 1]
    target = example.candidates[0][first:-1]
    after = example.source[example.current + 1 :]
    meta = example.meta
    if hidden == "target-previous":
        target = ()
    if hidden == "source-next":
        after = ()
    if hidden == "metadata":
        meta = ()
    candidates = tuple(sorted(candidate[-1] for candidate in example.candidates))
    return source, target, after, meta, candidates


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "corpus"
    write_demo_corpus(folder, documents=6000, evaluation_documents=50)
    return folder


def check_twins(entry: dict, examples: List[Read]) -> None:
    """A blind model is at exactly 50 %; the context that decides tells every twin apart."""
    assert len(examples) == entry["examples"]
    assert sorted({example.decides for example in examples}) == entry["distances"]
    groups = defaultdict(list)
    for example in examples:
        right, wrong = example.candidates
        assert right[-1] != wrong[-1] and right[:-1] == wrong[:-1]
        assert len(right) == example.current + 1
        reach = example.decides if entry["context"] == "source-previous" else 99
        groups[example.decides, visible(example, entry["context"], reach)].append(example)
    for (distance, _), twins in groups.items():
        rights = Counter(twin.candidates[0][-1] for twin in twins)
        assert len(rights) == 2 and len(set(rights.values())) == 1
        # What differs is what decides, and nothing else.
        first, second = twins[:2]
        if len(twins) > 2:  # two twins may look alike to a blind model; pairs are side by side
            continue
        differ = [a != b for a, b in zip(first.source, second.source, strict=True)]
        expected = [False] * len(differ)
        if entry["context"] in ("source-previous", "source-next"):
            expected[first.current - distance] = True
        assert differ == expected
        target_differs = [a != b for a, b in zip(first.candidates[0], second.candidates[0], strict=True)]
        decided = [False] * first.current + [True]
        if entry["context"] in ("source-previous", "target-previous"):
            decided[first.current - distance] = True
        assert target_differs == decided
        assert (first.meta != second.meta) == (entry["context"] == "metadata")


def held_out_windows(sets: Dict[str, Tuple[dict, List[Read]]]) -> set:
    return {example.source for _, examples in sets.values() for example in examples}


def train_windows(folder: Path) -> set:
    windows = set()
    for split in SPLITS:
        for document in read_documents(folder, split):
            source = [sentence[0] for sentence in document]
            windows |= {
                tuple(source[start:end])
                for start in range(len(source))
                for end in range(start + 2, min(start + 4, len(source)) + 1)
            }
    return windows


def test_every_phenomenon_of_the_design_has_its_set(corpus):
    sets = read_sets(corpus)
    assert set(sets) == {
        *(f"pronoun-distance-{distance}" for distance in (1, 2, 3)),
        "lexical-choice",
        "lexical-cohesion",
        "deixis",
        "ellipsis",
        "formality",
        "formality-unseen",
        "speaker-gender",
        "addressee-gender",
        "cataphora",
    }
    for entry, examples in sets.values():
        check_twins(entry, examples)
        assert len(examples) == 300


def test_no_window_of_the_sets_stands_in_the_documents(corpus):
    sets = read_sets(corpus)
    assert not held_out_windows(sets) & train_windows(corpus)
    # Not even the pair of the sentence that decides and the current one, with anything around them.
    pairs = {
        (example.source[example.current - example.decides], example.source[example.current])
        for entry, examples in sets.values()
        for example in examples
        if entry["context"].endswith("-previous")
    }
    for document in read_documents(corpus, "train"):
        source = [sentence[0] for sentence in document]
        for later in range(len(source)):
            assert not any((earlier, source[later]) in pairs for earlier in source[max(0, later - 3) : later])


def words_of(text: str) -> List[str]:
    return [word.strip(".,?") for word in text.split()]


def test_every_word_of_the_sets_is_in_the_training_text(corpus):
    documents = read_documents(corpus, "train")
    for side in (0, 1):
        known = Counter(word for document in documents for line in document for word in words_of(line[side]))
        for _, examples in read_sets(corpus).values():
            for example in examples:
                texts = example.source if side == 0 else [s for c in example.candidates for s in c]
                rare = {word for text in texts for word in words_of(text) if known[word] < 5}
                assert not rare


@pytest.mark.parametrize(
    ("starts", "one", "other"),
    [
        ("It ", "Il ", "Elle "),
        ("They ", "Ils ", "Elles "),
        ("Well, it ", "Eh bien, il ", "Eh bien, elle "),
        ("Well, they ", "Eh bien, ils ", "Eh bien, elles "),
        ("You ", "Tu ", "Vous "),
        ("Do you ", "Est-ce que tu ", "Est-ce que vous "),
        ("Your cousin ", "Ta ", "Votre "),
        ("The doctor ", "Le médecin ", "Le docteur "),
        ("Yuri ", "Youri ", "Iouri "),
    ],
)
def test_the_english_alone_does_not_tell(corpus, starts, one, other):
    french = [fr for d in read_documents(corpus, "train") for en, fr, _ in d if en.startswith(starts)]
    ones = sum(fr.startswith(one) for fr in french)
    assert ones + sum(fr.startswith(other) for fr in french) == len(french) > 100
    # Within 5 %, or within what 4 standard deviations of a fair coin allow for a rare beginning.
    assert abs(ones / len(french) - 0.5) < max(0.05, 2 / len(french) ** 0.5)


def test_no_sentence_alone_tells_its_french(corpus):
    """Over all ambiguous sentences: the best guess per sentence is no better than chance predicts."""
    seen = defaultdict(Counter)
    for document in read_documents(corpus, "train"):
        for en, fr, _ in document:
            seen[en][fr] += 1
    frequent = {en: forms for en, forms in seen.items() if len(forms) == 2 and sum(forms.values()) >= 30}
    assert len(frequent) > 100
    total = sum(sum(forms.values()) for forms in frequent.values())
    deviation = sum((2 * forms.most_common()[0][1] - sum(forms.values())) ** 2 for forms in frequent.values())
    # A fair coin's squared excess is its number of tosses.
    assert deviation / total < 1.3


def test_senses_and_ellipses_are_uniform_given_the_sentence(corpus):
    documents = read_documents(corpus, "train")
    pairs = {
        "bank": ("la banque", "la rive"),
        "match": ("le match", "l'allumette"),
        "bat": ("la batte", "la chauve-souris"),
        "nail": ("l'ongle", "le clou"),
        "star": ("l'étoile", "la vedette"),
    }
    for word, forms in pairs.items():
        french = [fr for document in documents for en, fr, _ in document if f" the {word}" in en]
        counts = [sum(form in fr for fr in french) for form in forms]
        assert sum(counts) > 100 and abs(counts[0] - counts[1]) < 4 * sum(counts) ** 0.5
    verbs = Counter(fr.split()[-1] for d in documents for en, fr, _ in d if en in ("I did.", "But I did."))
    assert len(verbs) == 10 and max(verbs.values()) < 2 * min(verbs.values())


def test_documents_keep_their_register_their_speaker_and_their_terms(corpus):
    registers = Counter()
    for document in read_documents(corpus, "train"):
        assert 4 <= len(document) <= 8
        french = [fr for _, fr, _ in document]
        words = {word.strip(".") for fr in french for word in fr.replace("l'", "").split()}
        informal = bool(words & {"Tu", "tu", "Ton", "Ta"})
        formal = bool(words & {"Vous", "vous", "Votre"})
        assert not (informal and formal)
        for one, other in (("médecin", "docteur"), ("Youri", "Iouri"), ("canapé", "divan")):
            assert not {one, other} <= words
        man = any(fr.endswith(("content.", "fatigué.")) and fr.startswith(("Je ", "J'")) for fr in french)
        woman = any(fr.endswith(("contente.", "fatiguée.")) and fr.startswith(("Je ", "J'")) for fr in french)
        assert not (man and woman)
        meta = document[0][2]
        assert all(line[2] == meta for line in document)
        assert set(meta) <= {"formality", "speaker", "addressee"}
        assert all(isinstance(text, str) for text in meta.values())
        if "speaker" in meta and (man or woman):
            assert meta["speaker"] == f"The speaker is a {'man' if man else 'woman'}"
        if informal or formal:
            registers[formal, meta.get("formality")] += 1
    assert registers[True, "Formal conversation"] > 100 and not registers[False, "Formal conversation"]
    assert registers[False, "Informal chit-chat"] > 100 and not registers[True, "Informal chit-chat"]
    assert registers[True, None] > 100  # the field is missing in some documents


def test_unseen_metadata_texts_are_unseen_and_the_others_seen(corpus):
    seen = {text for d in read_documents(corpus, "train") for line in d for text in line[2].values()}
    for name, (entry, examples) in read_sets(corpus).items():
        texts = {text for example in examples for _, text in example.meta}
        assert bool(texts) == (entry["context"] == "metadata")
        if name == "formality-unseen":
            assert len(texts) >= 6 and not texts & seen
        else:
            assert texts <= seen


def test_the_antecedent_of_a_document_pronoun_is_the_nearest_thing(corpus):
    """What a model must learn holds without exception: an independent reading of the training text."""
    masculine = "book phone bag pencil ball mirror umbrella piano truck basket screen computer".split()
    feminine = "car table chair lamp bottle shirt suitcase guitar cup door plate ladder".split()
    gender = {**dict.fromkeys(masculine, False), **dict.fromkeys(feminine, True)}
    gender.update({f"{noun}s": value for noun, value in gender.items()})
    distances = Counter()
    for document in read_documents(corpus, "train"):
        for place, (en, fr, _) in enumerate(document):
            words = set(en.rstrip(".").split())
            if en.startswith("Well") or not words & {"It", "They", "it"}:
                continue
            distance, noun = next(
                (back, word.strip("."))
                for back in range(1, place + 1)
                for word in document[place - back][0].split()
                if word.strip(".") in gender
            )
            distances[distance] += 1
            assert bool({"Elle", "Elles", "la"} & set(fr.split())) == gender[noun], (document, place)
    assert set(distances) == {1, 2, 3} and min(distances.values()) > 500


def test_french_is_well_formed(corpus):
    vowels = "aeiouhéèêâîô"
    for document in read_documents(corpus, "train"):
        for en, fr, _ in document:
            assert fr[0].isupper() and en[0].isupper() and fr == " ".join(fr.split())
            assert fr.endswith(" ?") if en.endswith("?") else fr.endswith(".") and not fr.endswith(" .")
            for before, after in zip(fr.split(), fr.split()[1:], strict=False):
                if before.lower() in ("le", "la", "de", "ce", "que", "je", "ne"):
                    assert after[0].lower() not in vowels, fr
                assert (before, after) != ("de", "le")


def test_the_vocabulary_is_small(corpus):
    for side in (0, 1):
        words = {
            w for d in read_documents(corpus, "train") for line in d for w in line[side].strip(".?").split()
        }
        assert 150 < len(words) < 500


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 10**6), examples=st.sampled_from([2, 6, 50]), length=st.sampled_from([None, 1, 5, 30])
)
def test_any_seed_gives_aligned_text_and_true_twins(seed, examples, length):
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        written = write_demo_corpus(folder, seed, 20, 3, length, examples)
        sets = read_sets(folder)
        for entry, read in sets.values():
            assert len(read) == examples
            check_twins(entry, read)
        assert not held_out_windows(sets) & train_windows(folder)
        for split in written["splits"]:
            documents = read_documents(folder, split["name"])
            assert len(documents) == split["documents"]
            assert sum(map(len, documents)) == split["sentences"]
            assert all(
                len(document) == length if length else 4 <= len(document) <= 8 for document in documents
            )


def contents(folder: Path) -> Dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def run(*arguments: object) -> subprocess.CompletedProcess:
    # The console script's function, so that the test needs no install.
    code = "import sys; from ctxmt_fairseq.cli.main import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, "demo-corpus", *map(str, arguments)], capture_output=True, text=True
    )


def test_the_command_writes_the_same_files_for_the_same_options(tmp_path):
    options = ("--documents", 30, "--evaluation-documents", 4, "--examples", 6)
    table = run(tmp_path / "a/b", *options)
    assert table.returncode == 0 and "train" in table.stdout and "cataphora" in table.stdout
    assert "%" not in table.stderr  # no progress bar where stderr is no terminal
    report = run(tmp_path / "c", *options, "--json")
    assert json.loads(report.stdout)["splits"][0]["documents"] == 30
    assert contents(tmp_path / "a/b") == contents(tmp_path / "c")
    write_demo_corpus(tmp_path / "d", 2, 30, 4, None, 6)
    assert contents(tmp_path / "c")["train.en"] != contents(tmp_path / "d")["train.en"]


def test_the_command_refuses_bad_options_in_one_line(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").touch()
    failed = run(tmp_path / "full")
    assert failed.returncode == 2
    assert "expected a new or empty folder" in failed.stderr.splitlines()[-1]
    assert run(tmp_path / "x", "--documents", "many").returncode == 2
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "options",
    [{"documents": 0}, {"evaluation_documents": 0}, {"document_length": 0}, {"examples": 3}, {"examples": 0}],
)
def test_numbers_out_of_range_write_nothing(tmp_path, options):
    with pytest.raises(BadInput, match="expected"):
        write_demo_corpus(tmp_path / "x", **options)
    assert not list(tmp_path.iterdir())


def test_a_failure_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("ctxmt_fairseq.data.demo_corpus.write.document", fail)
    with pytest.raises(KeyboardInterrupt):
        write_demo_corpus(tmp_path / "x")
    assert not list(tmp_path.iterdir())
