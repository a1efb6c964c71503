"""Commands as classes of typed options: what all of them keep to, and how a command line becomes one."""

import re
from contextlib import ExitStack
from typing import List, Literal, Optional

import pytest

from ctxmt_fairseq.base.command import Command, OptionGroup, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.option_types import non_negative_int
from ctxmt_fairseq.base.paths import Input, Output
from ctxmt_fairseq.cli import main
from ctxmt_fairseq.cli.moved import MOVED
from ctxmt_fairseq.cli.options.device import Device
from ctxmt_fairseq.cli.parser import CommandParser
from ctxmt_fairseq.corpora.corpus_command import NewCorpus
from ctxmt_fairseq.corpora.formats import FORMATS
from ctxmt_fairseq.corpora.pairs import Account, DocumentBuilder
from tests.helpers.every_command import commands, flags, is_made_of, options

EVERY = dict(commands())


def by_words(each):
    return pytest.mark.parametrize("words", each, ids=" ".join)


def test_there_are_all_commands():
    assert len(EVERY) > 45 and all(issubclass(command, Command) for command in EVERY.values())


@by_words(EVERY)
def test_options_of_a_command_have_names_of_their_own(words):
    names = [name for name, _ in options(EVERY[words])]
    assert len(names) == len(set(names))


@by_words(EVERY)
def test_what_is_written_is_an_output_and_what_names_a_file_has_its_type(words):
    """A path that is only a str would be written over."""
    for name, field in options(EVERY[words]):
        metavar, text = str(field.how.get("metavar")), field.how["help"]
        written, read = is_made_of(field, Output), is_made_of(field, Input)
        assert not (written and read)
        if re.match("FILE|DIR|PREFIX|SRC$|TGT$|REF$|HYP$|SET$", metavar) and name not in (
            "source_lang",
            "target_lang",
        ):
            assert written or read, name
        if re.match("(?i)write|draw|the picture|the page", text) and metavar.startswith("FILE"):
            assert written, name


@by_words(EVERY)
def test_a_value_of_two_dashes_is_refused_in_one_line(words, refusal):
    for name, field in options(EVERY[words]):
        if "flag" in field.how and field.annotation is not bool:
            flag = (field.how["flag"] or f"--{name.replace('_', '-')}").split()[0]
            assert (
                refusal(main.main, [*words, f"{flag}=--"])
                == f"ctxmt: error: {flag}=--: expected a value, found --"
            )


@pytest.mark.parametrize("words", [["control", "attributes", "--", "x", "--"], ["--", "--"]])
def test_two_dashes_alone_stand_once(words, refusal):
    assert refusal(main.main, words) == "ctxmt: error: --: give it once; what follows are no options"


@by_words(EVERY)
def test_help_shows_every_option_and_an_example(words, capsys):
    with pytest.raises(SystemExit) as stop:
        main.main([*words, "--help"])
    shown = capsys.readouterr().out
    assert stop.value.code == 0 and re.search(
        rf"(?s)Examples?:.*ctxmt {' '.join(words)}|fairseq-train", shown
    )
    for name, field in options(EVERY[words]):
        lines = " ".join(re.findall("(?m)^  -.*", shown))  # not the usage, which has them in any case
        assert set(flags(name, field)) <= set(re.findall(r"(?<!\S)--?[\w-]+", lines))


@pytest.mark.parametrize("old", MOVED)
def test_what_moved_says_where_it_went(old, refusal):
    command, _, flag = old.partition(" --")
    assert tuple(command.split()) not in EVERY or flag
    for given in ([f"--{flag}", "5"], [f"--{flag}=5"]) if flag else ([], ["a", "--b"]):
        assert refusal(main.main, [*command.split(), *given]) == f"ctxmt: error: ctxmt {old} {MOVED[old]}"
    for words in re.findall(r"ctxmt ([a-z-]+ [a-z-]+)", MOVED[old]):
        assert tuple(words.split()) in EVERY


# ---- a command of one's own --------------------------------------------------------------------------------


class Times(OptionGroup):
    """How often."""

    heading = "how often"

    times: int = option("how often", 2, non_negative_int)

    def repeated(self, text):
        return [text] * self.times


class Either(OptionGroup):
    """One way or the other."""

    exclusive = True

    loud: bool = option("in capitals")
    mark: Optional[str] = option("what ends it")


class Greet(Command):
    """Say something, 100 % of the time.

    Example: greet hello
    """

    word: str = argument("WORD", "what is said")
    more: List[str] = argument("MORE", "what else", [])
    tone: Literal["kind", "plain"] = option("how", "plain")
    numbers: List[int] = option("which", [1, 2])
    out: Output = option("where to")
    times: Times
    either: Either

    def run(self):
        print(self.times.repeated(" ".join([self.word, *self.more])))


def greet(*words):
    return CommandParser(prog="greet", command=Greet).command(words)


def test_a_command_line_becomes_a_command():
    command = greet("hello", "world", "--out", "f", "--numbers", "3", "--times", "0", "--loud")
    assert (command.word, command.more, command.tone) == ("hello", ["world"], "plain")
    assert (command.numbers, command.out, command.times.times) == ([3], "f", 0)
    assert command.either.loud is True and command.either.mark is None
    plain = greet("hello", "--out", "f")
    assert (plain.more, plain.numbers, plain.either.loud) == ([], [1, 2], False)
    assert plain.numbers is not greet("hello", "--out", "f").numbers  # lists are nobody else's
    assert list(plain.settings()) == ["word", "more", "tone", "numbers", "out", "times", "loud", "mark"]
    assert Greet(word="a", out="f").times.times == 2
    with pytest.raises(TypeError, match="Greet has no option wrd"):
        Greet(wrd="a")


@pytest.mark.parametrize("body", [{"__annotations__": {"n": int}}, {"__annotations__": {"n": int}, "n": 3}])
def test_a_field_that_is_no_option_is_told_at_once(body):
    with pytest.raises(TypeError, match=r"Mine\.n: expected argument\(\.\.\), option\(\.\.\) or group"):
        type("Mine", (Command,), body)


@pytest.mark.parametrize(
    "words, message",
    [
        (["hello"], "the following arguments are required: --out"),
        (["hello", "--out", "f", "--tone", "rude"], "invalid choice: 'rude'"),
        (["hello", "--out", "f", "--times", "-1"], "expected a whole number of at least 0"),
        (["hello", "--out", "f", "--numbers", "0"], "expected a whole number of at least 1"),
        (["hello", "--out", " "], "expected a name, found nothing"),
        (["hello", "--out", "f", "--loud", "--mark", "!"], "not allowed with argument --loud"),
        (["hello", "--out", "f", "--tim", "3"], "unrecognized arguments: --tim 3"),
    ],
)
def test_wrong_command_lines(words, message):
    with pytest.raises(BadInput, match=message):
        greet(*words)


def test_help(capsys):
    with pytest.raises(SystemExit):
        greet("--help")
    shown = capsys.readouterr().out
    assert "Say something, 100 % of the time.\n\nExample: greet hello" in shown
    assert re.search(
        r"options:\n(.*\n)*  --out FILE +where to\n  --tone {kind,plain} +how \(default: plain\)", shown
    )
    assert (
        "how often:\n  --times N " in shown
        and "which (default: 1 2)" in shown
        and "[--loud | --mark NAME]" in shown
    )


class Spoken(NewCorpus):
    """Corpora as they are spoken."""

    words: str = option("what is said")

    def parts(self):
        document = DocumentBuilder("talk", Account())
        document.add(self.words, self.words)
        yield document.part()


def test_a_class_in_a_table_is_a_command(monkeypatch, tmp_path, capsys):
    """So a module of --user-dir registers one."""
    monkeypatch.setitem(FORMATS, "spoken", Spoken)
    with pytest.raises(SystemExit):
        main.main(["corpus", "--help"])
    assert re.search(r"spoken +Corpora as they are spoken\.", capsys.readouterr().out)
    languages = ["--source-lang", "en", "--target-lang", "de"]
    assert not main.main(["corpus", "spoken", "--words", "yes", *languages, "--out", str(tmp_path / "c")])
    assert (tmp_path / "c.de").read_text() == "yes\n"


MINE = """
from ctxmt_fairseq.cli import main
from ctxmt_fairseq.cli.options.user_folder import UserDir
from ctxmt_fairseq.base.command import Command, argument

class Mine(Command):
    "A command of my own."
    word: str = argument("WORD", "what is said")
    code: UserDir

    def run(self):
        print(self.word)

main.COMMANDS["cli."]["mine"] = Mine
"""


def test_a_command_of_user_dir(tmp_path, capsys):
    code = tmp_path / "commands_of_my_own"
    code.mkdir()
    (code / "__init__.py").write_text(MINE)
    try:
        assert not main.main(["mine", "hello", "--user-dir", str(code)])
        with pytest.raises(SystemExit):
            main.main(["--help"])
    finally:
        main.COMMANDS["cli."].pop("mine", None)
    assert re.match(r"(?s)hello\n.*mine +A command of my own\.", capsys.readouterr().out)


def test_no_length_penalty_at_all_is_refused(refusal):
    assert "--lenpens" in refusal(
        main.main, ["evaluate", "model", "text", "--out", "out", "--lenpen", "opt", "--lenpens", ""]
    )


@pytest.mark.parametrize(
    "line, near",
    [
        ("tranlate", "did you mean translate?"),
        ("analyse reslts", "did you mean results?"),
        ("translate m t --beem 3", "did you mean --beam?"),
        ("average runs --around bst", "did you mean best?"),
    ],
)
def test_a_word_that_is_nearly_right(line, near, refusal):
    assert near in refusal(main.main, line.split())


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ctxmt tr", ["train", "translate"]),
        ("ctxmt analyse attention-", ["attention-share", "attention-words"]),
        ("ctxmt translate m.pt - --deco", ["--decoding"]),
        ("ctxmt translate m.pt - --decoding w", ["window"]),
        ("ctxmt translate m.pt - --output ", []),  # bash takes names of files
    ],
)
def test_completion(monkeypatch, capsys, line, words):
    monkeypatch.setenv("COMP_LINE", f"{line} text")
    monkeypatch.setenv("COMP_POINT", str(len(line)))
    assert main.main(["completion", "ctxmt", "word", "before"]) == 0
    assert capsys.readouterr().out.split() == words


def test_threads_are_those_that_were_before():
    import torch

    before = torch.get_num_threads()
    with ExitStack() as end:
        Device(threads=before + 1, bf16=True, device="cpu").begin(end)
        assert torch.get_num_threads() == before + 1 and torch.is_autocast_enabled("cpu")
    assert torch.get_num_threads() == before and not torch.is_autocast_enabled("cpu")


def test_first_words(capsys):
    assert main.main([]) == 0 and "demo-corpus" in capsys.readouterr().out
    assert main.main(["--version"]) == 0
    assert re.search(r"ctxmt_fairseq \d+\.\d+\.\d+.*torch \d", capsys.readouterr().out)


@pytest.mark.parametrize("name", ["film.meta.jsonl", "film"])
def test_names_of_files_with_metadata_are_not_read_as_metadata(tmp_path, monkeypatch, refusal, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "film.meta.jsonl").write_text("{}")
    for words in (["translate", "model.pt", "text.en"], ["analyse", "attention", "model.pt"]):
        said = f"argument --metadata: expected text, found the name of a file or its beginning, '{name}'"
        assert said in refusal(main.main, [*words, "--metadata", "A film", "--metadata", name])
