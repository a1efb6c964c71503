"""``ctxmt probe``: CXMI against plain forward passes in NumPy, scores, and what cannot be had."""

import json

import numpy as np
import pytest
import sacrebleu

from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora.data_folder import write_description
from ctxmt_fairseq.evaluation.metrics import read_translation
from ctxmt_fairseq.evaluation.probe import word_report
from ctxmt_fairseq.evaluation.probe.conditions import selected
from ctxmt_fairseq.evaluation.probe.probed_text import read_probed_text
from ctxmt_fairseq.evaluation.probe.prober import Prober, warn_of_unknown_absence
from ctxmt_fairseq.evaluation.probe.word_values import WordValues
from ctxmt_fairseq.generation.loading import load_models
from ctxmt_fairseq.generation.search_settings import SearchSettings
from tests.helpers.plain_log_probs import PLAIN
from tests.helpers.probed_models import LENGTHS, TASKS, checkpoint, checkpoint_by_task, write_text

FAST = ("--samples", "100", "--beam", "2", "--max-len-b", "8", "--cpu")
STARTS = np.repeat(np.cumsum([0, *LENGTHS[:-1]]), LENGTHS)
ALL = ["document", "random", "shuffled", "empty", "absent", "reference", "swapped"]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """task -> checkpoint."""
    return checkpoint_by_task(tmp_path_factory.mktemp("probed"))


def read(prefix, suffix):
    with open(f"{prefix}.{suffix}", encoding="utf-8") as lines:
        return lines.read().splitlines()


def probe(model, text, *options):
    """What the command writes: (JSON, lines of words)."""
    files = {name: f"{text}.{name}" for name in ("json", "words")}
    main(["probe", str(model), text, *FAST, "--json", files["json"], "--words", files["words"], *options])
    with open(files["json"], encoding="utf-8") as file:
        record = json.load(file)
    return record, [json.loads(line) for line in read(text, "words")]


@pytest.mark.parametrize("task", TASKS)
def test_cxmi_is_that_of_plain_forward_passes(models, tmp_path, task):
    prefix = write_text(tmp_path, current=["1", "1", "0", *"1" * 10])
    record, lines = probe(models(task), prefix, "--cxmi-only", "--contexts", "absent empty")
    scored = read_translation(f"{prefix}.fr", [f"{prefix}.fr"], current=f"{prefix}.current")
    assert record["content"] == scored.content  # so results of score and probe are known to be of one text
    loaded = load_models(str(models(task)), device="cpu")
    text = {suffix: read(prefix, suffix) for suffix in ("en", "fr", "meta.jsonl")}
    current = [line for line in range(13) if line != 2]
    total, words, means = 0.0, 0, []
    for found, line in zip(lines, current, strict=True):
        context = text["en"][STARTS[line] : line]
        nothing = None if task == "metadata_context" else []
        bits = (PLAIN[task](loaded, text, line, context) - PLAIN[task](loaded, text, line, nothing)) / np.log(
            2
        )
        assert found["line"] == line + 1 and found["words"] == text["fr"][line].split()
        assert [*found["bits"], found["end_bits"]] == pytest.approx(bits.tolist(), abs=2e-5)
        assert found["sentence_bits"] == pytest.approx(bits.sum(), abs=5e-5)
        assert sum(found["bits"]) + found["end_bits"] == pytest.approx(found["sentence_bits"], abs=1e-5)
        if not context and task != "metadata_context":
            assert found["sentence_bits"] == pytest.approx(0, abs=1e-5)
        total, words = total + bits.sum(), words + len(text["fr"][line].split())
        means.append(np.log(2) * bits.mean())
    document, absent, empty = record["contexts"]
    assert document["cxmi"] == pytest.approx(total / words, abs=1e-5) and abs(total) > 1
    assert document["bits_per_sentence"] == pytest.approx(total / 12, abs=1e-4)
    # The authors' scales: nats a sentence, and as their program has it the mean token of each sentence.
    assert document["nats_per_sentence"] == pytest.approx(np.log(2) * total / 12, abs=1e-4)
    assert document["nats_per_token"] == pytest.approx(np.mean(means), abs=1e-5)
    assert (absent["context"], absent["cxmi"], absent["bits_per_sentence"]) == ("absent", 0, 0)
    assert empty["cxmi"] != pytest.approx(document["cxmi"], abs=1e-3)
    assert (record["sentences"], record["documents"], record["reference_words"]) == (12, 4, words)
    # The largest size is the model's own context; size 0 of text is no context.
    assert [size["size"] for size in record["sizes"]] == [0, 1, 2]
    assert record["sizes"][2]["cxmi"] == document["cxmi"]
    if task == "document_window":
        assert record["sizes"][0]["cxmi"] == 0


@pytest.mark.parametrize("task", TASKS)
def test_translations_are_those_of_translate(models, tmp_path, capsys, task):
    prefix = write_text(tmp_path)
    record, _ = probe(models(task), prefix, "--contexts", "empty", "absent", "--sizes", "1", "2")
    capsys.readouterr()
    reference = read(prefix, "fr")
    contexts = ("--contexts", prefix) if task == "metadata_context" else ()
    command = ["translate", str(models(task)), f"{prefix}.en", "--docids", f"{prefix}.docids", *contexts]
    cases = {name: ("--context-selection", name) for name in ("document", "empty", "absent")}
    cases["size 1"] = ("--source-context", "1")
    found = {row["context"]: row for row in (*record["contexts"], *record["sizes"])}
    assert list(found) == ["document", "empty", "absent", "size 1", "size 2"]
    for name, options in cases.items():
        main([*command, *options, *FAST[2:]])
        hypotheses = capsys.readouterr().out.splitlines()
        bleu = sacrebleu.corpus_bleu(hypotheses, [reference]).score
        chrf = sacrebleu.corpus_chrf(hypotheses, [reference]).score
        assert (found[name]["bleu"], found[name]["chrf2"]) == pytest.approx((bleu, chrf)), name
    compared = {(row["b"], row["metric"]): row for row in record["comparisons"]}
    assert list(compared) == [(name, metric) for metric in ("bleu", "chrf2") for name in ("empty", "absent")]
    row = compared["absent", "chrf2"]
    assert (row["a"], row["unit"], row["units"]) == ("document", "document", 4)
    assert row["difference"] == pytest.approx(found["absent"]["chrf2"] - found["document"]["chrf2"])
    # The model's own size is the document's context itself: nothing to test.
    assert {row["b"] for row in record["size_comparisons"]} == {"size 1"}


def test_every_context_of_a_joined_dictionary(models, tmp_path, capsys):
    """Target context of other documents is their translation, of the reference's context the reference."""
    prefix = write_text(tmp_path)
    record, _ = probe(models("document_window"), prefix)
    table = capsys.readouterr().out
    assert [row["context"] for row in record["contexts"]] == ALL and record["left_out"] == {}
    for name in (*ALL, "size 0", "CXMI", "bits/sentence", "bleu: nrefs:1|case:mixed", "seed 1"):
        assert name in table
    assert len({row["cxmi"] for row in record["contexts"]}) == len(ALL)
    loaded = load_models(str(models("document_window")), device="cpu")
    text = read_probed_text(prefix, loaded)
    prober = Prober(loaded, text, SearchSettings(beam=2, max_len_b=8))
    conditions, _ = selected(loaded, ALL, prober.scorer)
    outcomes = {outcome.name: outcome for outcome in prober.outcomes(conditions)}
    assert outcomes["random"].hypotheses != outcomes["document"].hypotheses
    chrf = {row["context"]: row["chrf2"] for row in record["contexts"]}
    for name, outcome in outcomes.items():
        expected = sacrebleu.corpus_chrf(outcome.hypotheses, [read(prefix, "fr")]).score
        assert chrf[name] == pytest.approx(expected)


def test_words_and_translations_of_a_model_of_text_steps(tmp_path):
    """Moses' tokeniser cuts a full stop before a capital off, and not where the text is in lower case."""
    model = checkpoint(tmp_path, "document_window")
    steps = [{"step": "punctuation"}, {"step": "moses"}, {"step": "lowercase"}]
    described = {"source_lang": "en", "target_lang": "fr", "splits": {}, "text_steps": steps}
    write_description(tmp_path / "data", described)
    prefix = write_text(tmp_path, (2, 1), fr=["A bc. De", "bc. A", "d"], **{"meta.jsonl": ["{}"] * 3})
    _, lines = probe(model, prefix, "--cxmi-only", "--contexts", "absent", "--sizes", "0")
    assert [line["words"] for line in lines] == [["a", "bc", ".", "de"], ["bc", ".", "a"], ["d"]]
    loaded = load_models(str(model), device="cpu")
    loaded.decode_target = lambda tokens: "d…"
    prober = Prober(loaded, read_probed_text(prefix, loaded), SearchSettings(beam=1, max_len_b=2))
    (found,) = prober.outcomes(selected(loaded, ["document"], prober.scorer)[0])
    assert found.hypotheses == ["d..."] * 3  # as ctxmt score reads them


@pytest.mark.parametrize(
    ("task", "lengths", "names"),
    [
        ("metadata_context", LENGTHS, ["shuffled", "reference", "swapped"]),
        ("document_window", (13,), ["random"]),
        ("multi_source", (3,), ["random", "shuffled"]),
    ],
)
def test_what_cannot_be_had_is_named(models, tmp_path, capsys, task, lengths, names):
    prefix = write_text(tmp_path, lengths)
    record, _ = probe(models(task), prefix, "--cxmi-only")
    printed = capsys.readouterr().out
    assert list(record["left_out"]) == names
    assert [row["context"] for row in record["contexts"]] == [name for name in ALL if name not in names]
    for name in names:
        assert f"{name} is left out: --context-selection {name}" in printed
    assert "bleu" not in record["contexts"][0] and record["comparisons"] == []


def test_a_model_without_context_gains_nothing(models, tmp_path, caplog):
    model = checkpoint(
        tmp_path / "alone", "document_window", "--source-context", "0", "--target-context", "0"
    )
    record, lines = probe(model, write_text(tmp_path), "--cxmi-only", "--contexts", "absent", "shuffled")
    assert {row["cxmi"] for row in record["contexts"]} == {0} and len(record["sizes"]) == 1
    assert {value for line in lines for value in (*line["bits"], line["end_bits"])} == {0}
    assert "the model has no context" in caplog.text


def test_a_model_that_never_did_without_context_is_warned_about(models, caplog):
    warned = {
        "metadata_context": "with --current-vector yes",
        "multi_source": "without --sample-context-size",
    }
    for task in ("document_window", *warned):
        caplog.clear()
        loaded = load_models(str(models(task)), device="cpu")
        warn_of_unknown_absence(loaded, "absent")
        assert (f"the model was trained {warned.get(task)}" in caplog.text) == (task in warned), task
    loaded = load_models(str(models("metadata_context")), device="cpu")
    caplog.clear()
    loaded.task.cfg.current_vector = "no"
    warn_of_unknown_absence(loaded, "absent")
    warn_of_unknown_absence(load_models(str(models("multi_source")), device="cpu"), "random")
    assert not caplog.text


@pytest.mark.parametrize("task", ("document_window", "multi_source"))
def test_cxmi_against_other_contexts(models, tmp_path, task, capsys):
    prefix = write_text(tmp_path)
    options = (models(task), prefix, "--cxmi-only", "--contexts", "random", "empty")
    absent, lines = probe(*options)
    assert "CXMI compares" not in capsys.readouterr().out
    alone = {row["context"]: row["cxmi"] for row in absent["contexts"]}
    for name in ("random", "empty"):
        record, found = probe(*options, "--against", name)
        assert record["against"] == name and f"with context that is {name}" in capsys.readouterr().out
        for row in record["contexts"]:
            assert row["cxmi"] == pytest.approx(alone[row["context"]] - alone[name], abs=1e-5)
        assert found != lines and sum(line["sentence_bits"] for line in found) == pytest.approx(
            record["reference_words"] * (alone["document"] - alone[name]), abs=1e-3
        )


def document_interval(lines, tag, samples=4000):
    """95 % of the mean bits of the words with a tag, if the documents of ``LENGTHS`` were drawn anew."""
    document = np.repeat(np.arange(len(LENGTHS)), LENGTHS)
    words = [
        [(at, bits) for bits, tags in zip(line["bits"], line["tags"], strict=True) if tag in tags]
        for at, line in zip(document, lines, strict=True)
    ]
    draw, means = np.random.default_rng(7), []
    for _ in range(samples):
        times = np.bincount(draw.integers(0, len(LENGTHS), len(LENGTHS)), minlength=len(LENGTHS))
        drawn = [bits for line in words for at, bits in line for _ in range(times[at])]
        means += [np.mean(drawn)] if drawn else []
    return np.percentile(means, (2.5, 97.5))


def test_words_and_tags(models, tmp_path, capsys):
    """The tables have the means of the lines' values, and only words that occur often enough."""
    prefix = write_text(tmp_path)
    reference = read(prefix, "fr")
    tags = [[["vowel"] if word in "aei" else [] for word in line.split()] for line in reference]
    (tmp_path / "tags").write_text("".join(json.dumps({"tags": line}) + "\n" for line in tags))
    options = ("--cxmi-only", "--contexts", "absent", "--tags", str(tmp_path / "tags"), "--min-count", "3")
    record, lines = probe(models("document_window"), prefix, *options, "--top", "4")
    printed = capsys.readouterr().out
    values = {}
    for line, tagged in zip(lines, tags, strict=True):
        assert line["tags"] == tagged
        for word, value in zip(line["words"], line["bits"], strict=True):
            values.setdefault(word, []).append(value)
    means = {word: np.mean(each) for word, each in values.items() if len(each) >= 3}
    best = sorted(means, key=means.get, reverse=True)[:4]
    assert [row["word"] for row in record["top_words"]] == best and len(means) > 4
    for row in record["top_words"]:
        assert row["n"] == len(values[row["word"]])
        assert row["bits_per_word"] == pytest.approx(means[row["word"]], abs=1e-5)
        assert f"{row['bits_per_word']:+.3f}" in printed
    vowels = sum((values[word] for word in "aei"), [])
    by_tag = {row["tag"]: row for row in record["tags"]}
    assert list(by_tag) == ["vowel", "(no tag)"]
    assert by_tag["vowel"]["n"] == len(vowels)
    assert by_tag["vowel"]["bits"] == pytest.approx(sum(vowels), abs=1e-4)
    assert by_tag["(no tag)"]["n"] == record["reference_words"] - len(vowels)
    low, high = document_interval(lines, "vowel")
    assert (by_tag["vowel"]["low"], by_tag["vowel"]["high"]) == pytest.approx(
        (low, high), abs=(high - low) / 8
    )
    assert f"({by_tag['vowel']['low']:+.3f} .. {by_tag['vowel']['high']:+.3f})" in printed


def test_a_tag_of_one_document_has_no_interval():
    words = [WordValues(["a", "b"], np.array([3.0, number]), 0.0, True) for number in range(4)]
    tags = [[["rare"], ["common"]], *[[[], ["common"]]] * 3]
    sentences = [
        word_report.SentenceWords(at, *each, 2) for at, each in enumerate(zip(words, tags, strict=True))
    ]
    rows = {row.name: row for row in word_report.by_tag(sentences, [0, 1, 2, 2], 100, 1)}
    assert rows["rare"].low is rows["rare"].high is None and rows["common"].low < rows["common"].high
    (line,) = (row for row in word_report.bits_table("tag", [*rows.values()]).splitlines() if "rare" in row)
    assert line.split() == ["rare", "1", "+3.000", "-", "+3.00"]


def test_the_curve(models, tmp_path):
    prefix = write_text(tmp_path)
    record, _ = probe(models("document_window"), prefix, "--contexts", "absent", "--plot", f"{prefix}.png")
    head, *rows = [line.split(",") for line in read(prefix, "csv")]
    assert head == [
        *("size", "bleu", "chrf2", "cxmi", "bits_per_sentence", "nats_per_sentence", "nats_per_token")
    ]
    assert [[float(cell) for cell in row] for row in rows] == [
        pytest.approx([size[name] for name in head], rel=1e-4) for size in record["sizes"]
    ]
    with open(f"{prefix}.png", "rb") as picture:
        assert picture.read(8) == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize(
    ("options", "files", "message"),
    [
        (("--contexts", "documents"), {}, "--contexts documents: expected names from document, random"),
        (("--sizes", "3"), {}, "--sizes 3: expected at most 2, the models' context"),
        (("--context-selection", "empty"), {}, "unrecognized arguments: --context-selection empty"),
        (("--plot", "x.jpg"), {}, "x.jpg: the name of a picture must"),
        (("--tags", "tags"), {"tags": ['{"tags": []}']}, "tags:1: expected tags of the line's"),
        ((), {"fr": ["a"]}, "text.fr: expected 13 lines, as in "),
        (("--unit", "document"), {"docids": ["a"] * 13}, "--unit document: expected two documents or more"),
        ((), {"docids": ["a"]}, "text.docids: expected 13 document ids"),
        ((), {"current": ["0"] * 13}, "text.fr: expected references of sentences to translate, found none"),
        ((), {"fr": [""] * 13}, "text.fr: expected references of sentences to translate, found none"),
        (
            (),
            {"fr": ["a " * 2000, *"a" * 12]},
            "target tokens; the models read at most 1024 and 1024: shorten it",
        ),
    ],
)
def test_refusals(models, tmp_path, monkeypatch, refusal, options, files, message):
    prefix = write_text(tmp_path, **{suffix: lines for suffix, lines in files.items() if suffix != "tags"})
    if "tags" in files:
        (tmp_path / "tags").write_text("\n".join(files["tags"]))
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    command = ["probe", str(models("document_window")), prefix, *FAST, "--json", "json", *options]
    assert message in refusal(main, command)
    assert sorted(tmp_path.iterdir()) == before
