"""Text steps of a data folder: what they do to text, and every command that must follow them."""

import dataclasses
import json
import shutil
from argparse import Namespace
from unittest.mock import MagicMock

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.corpora import text_steps
from ctxmt_fairseq.corpora.embed import Request, survey, texts_to_embed
from ctxmt_fairseq.corpora.preprocess import Corpus, preprocess
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.corpora.text_steps import Lowercase, TextStep, TextSteps, steps_of_language
from ctxmt_fairseq.corpora.vocabulary import Vocabulary
from ctxmt_fairseq.tasks import interactive
from ctxmt_fairseq.tasks.decoding_task import DecodingTask
from ctxmt_fairseq.tasks.interactive import InteractiveDocument, SteppedTokenizer
from ctxmt_fairseq.text.symbols import MASK, SEPARATOR, SPECIAL_WORDS
from tests.helpers.window_datasets import VOCABULARY
from tests.unit.corpora.test_preprocess import contents, read_back, write

LOWERCASE = [{"step": "lowercase"}]
SOURCE = ["The Cat is asleep .", "THE DOG barks at the cat .", "Paul IS asleep ."]
TARGET = ["Le Chat dort .", "LE CHIEN aboie après le chat .", "Paul DORT ."]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "THE Cat", "the cat"),
        ("de", "GRÖẞE, Straße", "größe, straße"),  # lower case, not folded to ss
        ("el", "ΟΔΟΣ ΣΑΣ", "οδος σας"),
        ("ru", "Ёжик ПОД ЕЛЬЮ", "ёжик под елью"),
        ("tr", "IŞIK İZMİR I\u0307", "ışık izmir i"),
        ("az_AZ", "QIZIL", "qızıl"),
        ("en", "IZMIR İ", "izmir i\u0307"),
    ],
)
def test_lower_case_is_that_of_the_language(language, text, expected):
    step = Lowercase(language)
    assert step.apply(text) == expected
    assert step.undo(step.apply(text)) == step.apply(step.apply(text)) == expected


@given(st.text(), st.sampled_from(["en", "tr", "el"]))
def test_lower_casing_twice_is_lower_casing_once(text, language):
    step = Lowercase(language)
    assert step.apply(step.apply(text)) == step.apply(text)


@dataclasses.dataclass(frozen=True)
class Tokens(TextStep):
    """A step as later ones will be: taken back in output, with a file in the data folder."""

    marks: str
    files = ("marks",)

    @classmethod
    def load(cls, entry, folder, language):
        return cls((folder / entry["file"]).read_text())

    def apply(self, text):
        for mark in self.marks:
            text = text.replace(mark, f" {mark}")
        return text

    def undo(self, text):
        for mark in self.marks:
            text = text.replace(f" {mark}", mark)
        return text


def folder_with(path, steps=(), splits=None, **options):
    """A data folder with whole words as symbols."""
    splits = splits or {"train": write(path.parent / "train", en=SOURCE, fr=TARGET, docids=["1"] * 3)}
    vocabulary = Vocabulary(steps=list(steps), **{"subwords": False, **options})
    preprocess(Corpus("en", "fr", splits), vocabulary, path)
    return path


def test_steps_apply_in_order_and_are_undone_in_reverse(monkeypatch, tmp_path):
    monkeypatch.setitem(text_steps.STEPS, "tokens", Tokens)
    (tmp_path / "marks").write_text(".,")
    entries = [{"step": "tokens", "file": "marks"}, *LOWERCASE]
    steps = TextSteps.of_entries(entries, tmp_path, "en")
    assert steps.apply("Yes, Paul.") == "yes , paul ."
    assert steps.undo("yes , paul .") == "yes, paul."
    assert steps.surface("Yes, Paul.") == "yes, paul."  # what lasts
    assert steps.lowercase and not TextSteps(steps.steps[:1]).lowercase
    assert steps.files == ("marks",)


def test_like_takes_the_steps_and_their_files_over(monkeypatch, tmp_path):
    monkeypatch.setitem(text_steps.STEPS, "tokens", Tokens)
    data = folder_with(tmp_path / "data", LOWERCASE)
    (data / "marks").write_text(".")
    description = json.loads((data / "ctxmt.json").read_text())
    description["text_steps"].append({"step": "tokens", "file": "marks"})
    (data / "ctxmt.json").write_text(json.dumps(description))
    text = write(tmp_path / "new", en=["THE cat."], fr=["LE CHAT."], docids=["1"])
    like = folder_with(tmp_path / "like", splits={"test": text}, like=data)
    assert read_back(like, "test", "en") == [["the", "cat", "."]]
    assert read_back(like, "test", "fr") == [["le", "chat", "."]]
    assert (like / "marks").read_text() == "."
    assert json.loads((like / "ctxmt.json").read_text())["text_steps"] == description["text_steps"]
    subwords = Subwords.load(like, "en")
    assert subwords.encode("The Cat.") == "the cat ." and subwords.decode("the cat .") == "the cat."


TWICE = [{"step": "lowercase"}] * 2  # of a hundred thousand each would be loaded


@pytest.mark.parametrize(
    "entries", [{}, ["lowercase"], [{}], [{"step": "rot13"}], [{"step": ["a"]}], TWICE, None]
)
def test_steps_that_are_none_are_refused(tmp_path, entries):
    data = folder_with(tmp_path / "data")
    description = {**json.loads((data / "ctxmt.json").read_text()), "text_steps": entries}
    (data / "ctxmt.json").write_text(json.dumps(description))
    with pytest.raises(
        BadInput, match=r"ctxmt.json: (expected .*text_steps|text_steps: this version knows the steps)"
    ):
        Subwords.load(data, "en")


def test_folders_without_the_entry_have_no_steps(tmp_path):
    data = folder_with(tmp_path / "data")
    assert json.loads((data / "ctxmt.json").read_text())["text_steps"] == []
    for name in ("ctxmt.json with no list", "no ctxmt.json"):
        if name.startswith("no "):
            (data / "ctxmt.json").unlink()
        else:
            description = json.loads((data / "ctxmt.json").read_text())
            del description["text_steps"]
            (data / "ctxmt.json").write_text(json.dumps(description))
        assert Subwords.load(data, "en").encode("The  Cat") == "The Cat"
        assert steps_of_language(data, "target").surface("Le Chat") == "Le Chat"
    with pytest.raises(BadInput, match="no such data folder"):
        steps_of_language(tmp_path / "nothing", "target")
    with pytest.raises(BadInput, match=r"is no data folder: found no dict\.LANG\.txt"):
        steps_of_language(tmp_path, "target")  # one too high: its text would count as not lower-cased


def test_capitals_in_the_text_make_no_difference(tmp_path):
    folders = []
    for name, change in (("upper", str.upper), ("lower", str.lower)):
        (tmp_path / name).mkdir()
        text = write(
            tmp_path / name / "train", en=map(change, SOURCE), fr=map(change, TARGET), docids=["1"] * 3
        )
        out = tmp_path / name / "data"
        main(f"preprocess --source-lang en --target-lang fr --train {text} --vocab-size 30 --lowercase "
             f"--out {out}".split())  # fmt: skip
        folders.append(out)
    assert contents(folders[0]) == contents(folders[1])  # models, dictionaries, digests, all
    assert json.loads((folders[0] / "ctxmt.json").read_text())["text_steps"] == [
        {"step": "spaces"},
        *LOWERCASE,
    ]
    assert Subwords.load(folders[0], "en").encode("THE CAT") == Subwords.load(folders[0], "en").encode(
        "the cat"
    )
    for text in SOURCE:
        subwords = Subwords.load(folders[0], "en")
        assert subwords.decode(subwords.encode(text)) == text.lower()


def test_like_and_lowercase_together_are_refused(tmp_path, refusal):
    data = folder_with(tmp_path / "data")
    command = f"preprocess --source-lang en --target-lang fr --test x --like {data} --lowercase --out y"
    assert "leave out --lowercase" in refusal(main, command.split())


@pytest.mark.parametrize("subwords", [True, False])
def test_text_never_becomes_a_symbol(tmp_path, subwords):
    options = {"vocab_size": 30} if subwords else {}
    data = folder_with(tmp_path / "data", LOWERCASE, subwords=subwords, **options)
    splits = {
        "test": write(tmp_path / "t", en=["a <SEP> b", "<Mask> </S>"], fr=["＜SEP＞", "x"], docids="11")
    }
    like = folder_with(tmp_path / "like", splits=splits, like=data)
    found = [*read_back(like, "test", "en"), *read_back(like, "test", "fr")]
    encode = Subwords.load(data, "en").encode
    found += [encode(text).split() for text in ("<SEP>", "<sep>", "＜sep＞", "<masK>", "a <S> </s> <pad>")]
    for pieces in found:
        assert pieces and not {SEPARATOR, MASK, *SPECIAL_WORDS} & set(pieces)


def test_embedded_are_sentences_as_the_models_read_them_and_metadata_as_they_are(tmp_path):
    meta = ['{"speaker": "Zoé"}'] * 3
    text = write(tmp_path / "train", en=SOURCE, fr=TARGET, docids=["1"] * 3, meta__jsonl=meta)
    data = folder_with(tmp_path / "data", LOWERCASE, {"train": text})
    write(tmp_path / "upper", en=map(str.upper, SOURCE), fr=TARGET, docids=["1"] * 3, meta__jsonl=meta)
    steps = steps_of_language(data, "source")
    for prefix in (text, str(tmp_path / "upper")):
        request = Request(data, {"train": prefix})
        survey(request)  # the same text: nothing to refuse
        (files,) = request.files().values()
        rows = list(texts_to_embed(files, ["speaker"], True, steps))
        assert [row[0] for row in rows] == [line.lower() for line in SOURCE]
        assert all("Zoé" in row[1] for row in rows)
    shutil.copytree(data, tmp_path / "cased")
    description = {**json.loads((data / "ctxmt.json").read_text()), "text_steps": []}
    (tmp_path / "cased" / "ctxmt.json").write_text(json.dumps(description))
    with pytest.raises(BadInput, match="another text than the split"):
        survey(Request(tmp_path / "cased", {"train": text}))


def test_fairseq_s_commands_read_and_write_through_the_steps(monkeypatch, tmp_path):
    monkeypatch.setitem(text_steps.STEPS, "tokens", Tokens)
    data = folder_with(tmp_path / "data")
    (data / "marks").write_text(".")
    description = json.loads((data / "ctxmt.json").read_text())
    description["text_steps"] = [{"step": "tokens", "file": "marks"}, *LOWERCASE]
    (data / "ctxmt.json").write_text(json.dumps(description))
    cfg = Namespace(data=f"{data}:other", source_lang="en", target_lang="fr")
    tokenizer = SteppedTokenizer(cfg)
    assert tokenizer.encode("The Cat.") == "the cat ." and tokenizer.decode("le chat .") == "le chat."
    own = Namespace(encode=lambda text: f"[{text}]", decode=lambda text: text.strip("[]"))
    tokenizer = SteppedTokenizer(cfg, own)
    assert tokenizer.encode("The Cat.") == "[the cat .]" and tokenizer.decode("[le chat .]") == "le chat."


def test_a_separator_that_was_typed_ends_no_sentence(monkeypatch):
    separator, word = VOCABULARY.index(SEPARATOR), 20
    documents = MagicMock()
    monkeypatch.setattr(interactive, "RunningDocuments", documents)
    source = torch.tensor([[word, separator, word, VOCABULARY.eos()]])
    task = MagicMock(src_dict=VOCABULARY, reach=0, **{"context_options.return_value.reach": 1})
    document = InteractiveDocument(task)
    document.translate(None, [], {"net_input": {"src_tokens": source}})
    (read,) = documents.call_args.args[1]
    assert read.tolist() == [word, VOCABULARY.unk(), word, VOCABULARY.eos()]


def test_a_dialogue_s_vectors_are_of_the_text_that_was_typed(monkeypatch):
    """Not of its tokens, which lack unknown words and capitals."""
    monkeypatch.setattr(interactive, "RunningDocuments", MagicMock())
    told = MagicMock(src_dict=VOCABULARY, reach=0, **{"context_options.return_value.reach": 1})
    told.contexts_of_typed.side_effect = lambda texts, *_: read.append([*texts])
    task, read = object.__new__(DecodingTask), []
    task.src_dict, task.document = VOCABULARY, InteractiveDocument(told)
    for lines in (["Zoé sings.", "She Dances.", "Why?"], ["", "It rains."]):  # as fairseq's buffer has them
        for source in task.get_interactive_tokens_and_lengths(lines, str.lower)[0]:
            task.document.translate(None, [], {"net_input": {"src_tokens": source[None]}})
    assert read == [["Zoé sings."], ["Zoé sings.", "She Dances."], ["She Dances.", "Why?"], ["It rains."]]


def test_score_follows_the_data_folder(tmp_path, capsys):
    data = folder_with(tmp_path / "data", LOWERCASE)
    plain = folder_with(tmp_path / "plain")
    write(tmp_path / "text", hyp=[line.lower() for line in TARGET], ref=TARGET)
    scores = {}
    for name in (data, plain, None):
        options = ["--data", str(name)] if name else []
        main(
            ["score", f"{tmp_path}/text.hyp", f"{tmp_path}/text.ref", *options, "--json", f"{tmp_path}/json"]
        )
        (scores[name], *_) = json.loads((tmp_path / "json").read_text())["scores"]
    capsys.readouterr()
    assert scores[data]["score"] == pytest.approx(100) and "case:lc" in scores[data]["signature"]
    assert scores[plain] == scores[None] and "case:mixed" in scores[None]["signature"]
    assert scores[None]["score"] < 90


def test_turkish_translations_are_compared_in_turkish_lower_case(tmp_path, capsys):
    text = write(tmp_path / "t", en=SOURCE, tr=TARGET, docids="111")
    preprocess(
        Corpus("en", "tr", {"train": text}), Vocabulary(steps=LOWERCASE, subwords=False), tmp_path / "d"
    )
    write(tmp_path / "text", hyp=["ılık ışık altında ıslak"] * 2, ref=["ILIK IŞIK ALTINDA ISLAK"] * 2)
    main(["score", f"{tmp_path}/text.hyp", f"{tmp_path}/text.ref", "--data", f"{tmp_path}/d"])
    assert "100.00" in capsys.readouterr().out


def test_control_finds_phrases_in_lower_cased_translations(tmp_path, capsys):
    data = folder_with(tmp_path / "data", LOWERCASE)
    write(
        tmp_path / "t",
        formal=["[F]Vous[/F] chantez ."], informal=["[F]Tu[/F] chantes ."],
        h1=["vous chantez ."], h2=["tu chantes ."],
    )  # fmt: skip
    example = {"source": "I sing .", "attributes": {"formality": "formal"},
               "expected": {"formality": ["Vous"]}, "wrong": {"formality": ["Tu"]}}  # fmt: skip
    write(tmp_path / "set", jsonl=[json.dumps(example)])
    formality = ["control", "formality", "--formal", f"{tmp_path}/t.formal", "--informal",
                 f"{tmp_path}/t.informal", "--formal-hypotheses", f"{tmp_path}/t.h1",
                 "--informal-hypotheses", f"{tmp_path}/t.h2", "--json", f"{tmp_path}/json"]  # fmt: skip
    attributes = ["control", "attributes", f"{tmp_path}/set.jsonl", "--hypotheses", f"{tmp_path}/t.h1",
                  "--json", f"{tmp_path}/json"]  # fmt: skip
    for command, right in ((formality, 1), (attributes, 1)):
        main(command)
        assert '"right": 0' in (tmp_path / "json").read_text()
        main([*command, "--data", str(data)])
        assert f'"right": {right}' in (tmp_path / "json").read_text()
    capsys.readouterr()
