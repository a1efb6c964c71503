"""The text of the runs: halves, parts, and where context matters in them."""

import pytest


def test_text_is_halved_by_documents_and_first_sentences_are_context(evidence, place, monkeypatch):
    commands = []

    def ctxmt(*arguments):
        commands.append(arguments)
        arguments[-1].mkdir()

    monkeypatch.setattr(evidence.corpus, "ctxmt", ctxmt)
    monkeypatch.setattr(evidence.corpus, "BLOCK", 2)
    pronouns = ["He saw it .", "It is .", "They", "a kit", "it 's"]
    prefix = place.corpora / "en-fr-subtitles" / "train"
    for kind, lines in {"en": pronouns, "fr": pronouns, "docids": "abbbb"}.items():
        with prefix.with_suffix(f".{kind}").open("a") as stream:
            stream.writelines(f"{line}\n" for line in lines)
    for folder in ("data-4000", "data-context", "data-pronouns"):
        evidence.corpus.prepare(place, evidence.texts.SUBTITLES, folder)
    text = place.work / "text"
    assert (text / "dev.docids").read_text().split() == ["d", "f"]
    assert (text / "test.docids").read_text().split() == ["e", "e", "g"]
    assert (text / "test.fr").read_text() == "v1 fr\nv2 fr\nv4 fr\n"
    for part in ("context", "pronouns"):
        assert (text / f"{part}.docids").read_text().split() == list("aacccbbbb")
    assert (text / "context.current").read_text().split() == list("010110111")
    assert (text / "pronouns.current").read_text().split() == list("000000101")
    assert (text / "starts.current").read_text().split() == list("000001101")
    assert (text / "context-even.current").read_text().split() == list("010110000")
    assert (text / "context-odd.current").read_text().split() == list("000000111")
    assert (text / "pronouns-odd.current").read_text().split() == list("000000101")
    assert [command[command.index("--out") + 1].name for command in commands] == [
        "data-4000",
        "data",
        "data-context",
        "data-pronouns",
    ]
    sizes = [command[command.index("--vocab-size") + 1] for command in commands if "--vocab-size" in command]
    assert sizes == ["4000", evidence.systems.VOCABULARY]
    for command, part in zip(commands[2:], ("context", "pronouns"), strict=True):
        assert command[:3] == ("preprocess", "--train", text / part)
        assert command[-4:] == ("--like", place.work / "data", "--out", place.work / f"data-{part}")
    assert not any("contrastive" in str(part) for command in commands for part in command)


def test_tags_of_whole_pages_are_those_of_all_their_sentences(evidence, place, monkeypatch):
    def ctxmt(command, *arguments):
        given = dict(zip(arguments, arguments[1:], strict=False))
        assert command == "corpus" and arguments[1] == place.home(pages) / "text" / "train"
        given["--output"].write_text("tags\n")

    monkeypatch.setattr(evidence.corpus, "ctxmt", ctxmt)
    pages = evidence.texts.HELP["fr"]
    text = place.home(pages) / "text"
    text.mkdir(parents=True)
    for kind in pages.kinds:
        (text / f"train.{kind}").write_text(f"{kind}\n")
    evidence.corpus.tag(place, pages)
    assert not list(text.glob("*.current"))
    assert [(text / f"tagged.{kind}").read_text() for kind in pages.kinds] == ["en\n", "fr\n", "docids\n"]


@pytest.mark.parametrize("finders", ["whole", "halves"])
def test_what_is_found_is_as_much_as_has_pronouns_on_the_same_text(evidence, place, monkeypatch, finders):
    chosen = {"context": "01010", "context-even": "01000", "context-odd": "00010"}

    def ctxmt(command, *arguments):
        given = dict(zip(arguments, arguments[1:], strict=False))
        if command == "probe":
            model, text = arguments[:2]
            finder = evidence.systems.FINDERS[finders][text.name]
            assert model == evidence.training.checkpoint(place, *finder)
            assert given["--select"] == chosen[text.name].count("1") and given["--against"] == "random"
            given["--select-output"].write_text("".join(f"{mark}\n" for mark in chosen[text.name]))
            given["--words"].write_text(f"bits of {text.name}\n")
        elif command == "corpus":
            assert arguments[:2] == ("tag", place.work / "text" / "context")
            given["--output"].write_text("tags\n")
        else:
            given["--out"].mkdir()

    monkeypatch.setattr(evidence.corpus, "ctxmt", ctxmt)
    text = place.work / "text"
    text.mkdir(parents=True)
    (text / "ready").touch()
    marks = {"pronouns": "00110", "pronouns-even": "00100", "pronouns-odd": "00010", "context": "01110"}
    for part, current in marks.items():
        (text / f"{part}.current").write_text("".join(f"{mark}\n" for mark in current))
    for kind in ("en", "fr", "docids"):
        (text / f"context.{kind}").write_text(f"{kind}\n")
    for _ in range(2):
        evidence.corpus.find(place, evidence.texts.SUBTITLES, evidence.systems.FINDERS[finders])
        evidence.corpus.tag(place, evidence.texts.SUBTITLES)
    kind = "halves-" if finders == "halves" else ""
    for folder in (f"{kind}weighted", "tagged"):
        assert (text / f"{folder}.current").read_text() == (text / "pronouns.current").read_text()
    assert (text / "upsampled.current").read_text() == (text / "context.current").read_text()
    assert (text / f"{kind}selected.current").read_text() == "0\n1\n0\n1\n0\n"
    bits = "".join(f"bits of {part}\n" for part in evidence.systems.FINDERS[finders])
    for folder in (f"{kind}weighted", f"{kind}selected", "tagged", "upsampled"):
        assert (text / f"{folder}.fr").read_text() == "fr\n"
        name = evidence.corpus.FOUND[folder].partition(".")[2]
        content = {"words.jsonl": bits, "tags.jsonl": "tags\n"}[name]
        file = place.work / f"data-{folder}" / f"train.en-fr.{name}"
        for _ in range(2):  # the second start is after a kill before the file was there
            file.unlink(missing_ok=True)
            evidence.corpus.prepare(place, evidence.texts.SUBTITLES, f"data-{folder}")
            assert file.read_text() == content
