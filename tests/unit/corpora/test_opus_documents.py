"""From OPUS' documents and links to documents without holes."""

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.films import HeldOut
from ctxmt_fairseq.corpora.formats.opus_names import document_id
from ctxmt_fairseq.corpora.formats.opus_pairs import Pairing, links_of
from ctxmt_fairseq.corpora.formats.opus_xml import Link, LinkedDocuments
from ctxmt_fairseq.corpora.pairs import Account, Pair
from ctxmt_fairseq.corpora.workers import skipping
from tests.helpers.opus_files import document, sentence, write_folder

EN, DE = "en/1999/133093/5.xml.gz", "de/1999/133093/6.xml.gz"


def part(tmp_path, english, german, links, source="en", **options):
    """``english``, ``german``: (text, start, end) per sentence; ``links``: (xtargets, overlap)."""
    names = dict(zip(("en", "de"), (EN, DE), strict=True))
    texts = {
        names[language]: document(*(sentence(n, *given) for n, given in enumerate(sentences, 1)))
        for language, sentences in (("en", english), ("de", german))
    }
    folder = write_folder(tmp_path, texts)
    target = "de" if source == "en" else "en"
    taken = [Link(*(tuple(side.split()) for side in pair.split(";")), overlap) for pair, overlap in links]
    opus = Pairing((folder,), source, target, **{"min_overlap": 0.9, "max_gap": 7.0, **options})
    return opus.part(LinkedDocuments(names[source], names[target], taken))


def at(texts, step=2.0, length=1.5):
    """Sentences that appear every ``step`` seconds."""
    return [(text, step * place, step * place + length) for place, text in enumerate(texts)]


def documents(found):
    return [
        (pair.source, pair.target, int(pair.document.removeprefix("1999/133093/5")[1:] or 1))
        for pair in found.pairs
    ]


LINKS = [
    *(("1;1", 0.95), ("2 3;2", 0.9)),  # documents end at what follows
    *(("4;", None), (";3", None), ("5;4", 0.89), ("6;5 6", 0.99), ("7;7", 1.0)),
]


def test_documents_end_at_holes_and_pauses(tmp_path):
    english = [*at(["a b", "c", "d", "e", "f", "g"]), ("h", 30.0, 31.0)]  # after 18.5 seconds
    german = at(["A B", "C", "D", "E", "F", "G", "H"])
    found = part(tmp_path, english, german, LINKS)
    assert documents(found) == [("a b", "A B", 1), ("c d", "C", 1), ("g", "F G", 2), ("h", "H", 3)]
    assert found.pairs[0] == Pair("a b", "A B", "1999/133093/5")
    assert found.account.left_out == {"unaligned": 2, "overlap": 1}
    assert (found.account.read, found.account.kept, found.account.balanced) == (7, 4, True)


def test_the_other_direction_has_the_same_documents(tmp_path):
    english = [*at(["a b", "c", "d", "e", "f", "g"]), ("h", 30.0, 31.0)]
    german = at(["A B", "C", "D", "E", "F", "G", "H"])
    exchanged = [(";".join(reversed(pair.split(";"))), overlap) for pair, overlap in LINKS]
    found = part(tmp_path, english, german, exchanged, source="de")
    assert [(pair.source, pair.target, pair.document) for pair in found.pairs] == [
        ("A B", "a b", "1999/133093/6"),
        ("C", "c d", "1999/133093/6"),
        ("F G", "g", "1999/133093/6/2"),
        ("H", "h", "1999/133093/6/3"),
    ]


def test_sentences_that_no_link_names_are_a_hole(tmp_path):
    text = at(["a", "b", "c"])
    found = part(tmp_path, text, text, [("1;1", 1.0), ("3;2", 1.0)])
    assert documents(found) == [("a", "a", 1), ("c", "b", 2)]


def test_options(tmp_path):
    text = at(["a", "b", "c"], step=9.0)
    links = [("1;1", 0.5), ("2;2", 0.4), ("3;3", None)]
    assert documents(part(tmp_path, text, text, links, min_overlap=0.4)) == [("a", "a", 1), ("b", "b", 2)]
    assert documents(part(tmp_path, text, text, links, min_overlap=0.4, max_gap=7.5)) == [
        ("a", "a", 1),
        ("b", "b", 1),
    ]


def test_without_overlap_and_times(tmp_path):
    """As in other corpora than subtitles."""
    text = [*at(["a", "b"]), ("c", 100.0, 101.0)]
    links = [("1;1", None), ("2;2", 0.1), ("3;3", None)]
    found = part(tmp_path, text, text, links, min_overlap=None, max_gap=None)
    assert documents(found) == [("a", "a", 1), ("b", "b", 1), ("c", "c", 1)]
    assert not found.account.remarks


def test_unaligned_sentences_as_context(tmp_path):
    text = at(["a", "b", "c", "d", "e"])
    links = [("1;1", 1.0), ("2;", None), (";2", None), ("3;3", 0.1), ("4;4", 1.0), ("5;5", 1.0)]
    found = part(tmp_path, text, text, links, keep_unaligned=True)
    assert [(*pair[:3], pair.current) for pair in found.pairs] == [
        ("a", "a", "1999/133093/5", True),
        ("b", "", "1999/133093/5", False),
        ("", "b", "1999/133093/5", False),
        ("d", "d", "1999/133093/5/2", True),
        ("e", "e", "1999/133093/5/2", True),
    ]
    assert found.account.balanced and found.account.left_out == {"overlap": 1}


def test_chapters_and_speakers_are_metadata(tmp_path):
    english = (
        '<document><CHAPTER ID="2"><s id="1"><w>Title</w></s>'
        '<SPEAKER ID="3" NAME="President"><P id="4"><s id="2"><w>Thanks</w></s></P></SPEAKER>'
        "</CHAPTER></document>"
    )
    folder = write_folder(tmp_path, {"en/ep.xml": english, "de/ep.xml": document(*map(sentence, "12", "ab"))})
    links = [Link(("1",), ("1",)), Link(("2",), ("2",))]
    found = Pairing((folder,), "en", "de").part(LinkedDocuments("en/ep.xml.gz", "de/ep.xml.gz", links))
    assert found.pairs == [
        Pair("Title", "a", "ep", metadata={"chapter": "2"}),
        Pair("Thanks", "b", "ep", metadata={"chapter": "2", "speaker": "President"}),
    ]


def test_what_subtitles_say_of_themselves(tmp_path):
    """Year, genre, country and duration: the source side's, else the target's, else the folder's year."""
    about = "<meta><source>{}</source><subtitle><duration>01:02:03,400</duration></subtitle></meta>"
    english = document(about.format("<genre>Comedy,Drama</genre><year>2009</year>"), sentence(1, "One"))
    french = document(
        about.format("<year>1900</year><country>France</country><genre> </genre>"), sentence(1, "Un")
    )
    plain = document(sentence(1, "One"))
    made = []
    for number, sides in enumerate([(english, french), (plain, french), (plain, plain)]):
        names = [f"{language}/1999/{number}/5.xml" for language in ("en", "fr")]
        folder = write_folder(tmp_path, dict(zip(names, sides, strict=True)))
        pairing = Pairing((folder,), "en", "fr", films=True)
        made.append(pairing.part(LinkedDocuments(*names, [Link(("1",), ("1",))])).pairs[0].metadata)
    duration = {"duration": "01:02:03,400"}
    assert made[0] == {"genre": "Comedy, Drama", "year": "2009", "country": "France", **duration}
    assert made[1] == {"year": "1900", "country": "France", **duration}
    assert made[2] == {"year": "1999"}


def test_cleaning_leaves_holes_and_symbols_are_text(tmp_path):
    text = at(["- a", "( laughs )", "c", "d &lt;sep&gt;", "e"])
    links = [(f"{number};{number}", 1.0) for number in range(1, 6)]
    found = part(tmp_path, text, text, links, cleaning=("brackets", "dashes"))
    assert documents(found) == [("a", "a", 1), ("c", "c", 2), ("d <sep>", "d <sep>", 2), ("e", "e", 2)]
    assert found.account.left_out == {"empty": 1}
    assert found.account.remarks["cleaned: brackets"] == 2 and found.account.remarks["cleaned: dashes"] == 2


def test_broken_parts(tmp_path):
    text = at(["a", "b"])
    with pytest.raises(BadInput, match=f"{re.escape(EN)}: has no sentence 3, which the alignment names"):
        part(tmp_path, text, text, [("3;1", 1.0)])
    opus = Pairing((str(tmp_path),), "en", "de")
    missing = LinkedDocuments(EN, "de/1999/1/1.xml.gz", [Link(("1",), ("1",), 1.0)] * 3)
    left_out = skipping(opus.part, links_of, missing)
    assert left_out.pairs == [] and left_out.account.balanced
    assert left_out.account.left_out == {"in broken files": 3}
    assert "de/1999/1/1.xml.gz: no such document in" in left_out.account.broken[0]


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_nothing_is_lost_doubled_or_moved(tmp_path_factory, data):
    """Of any links each that is kept is a line, in order, and a document's neighbours are the film's."""
    sides = [data.draw(st.lists(st.integers(0, 2), min_size=1, max_size=8)) for _ in range(2)]
    length = min(map(len, sides))
    used = [0, 0]
    links = []
    for counts in zip(*(side[:length] for side in sides), strict=True):
        named = []
        for place, count in enumerate(counts):
            named.append(" ".join(str(used[place] + n + 1) for n in range(count)))
            used[place] += count
        links.append((";".join(named), data.draw(st.sampled_from([None, 0.2, 0.9, 1.0]))))
    english, german = (
        at([f"{name}{number}" for number in range(1, count + 1)] or ["x"])
        for name, count in zip("ed", used, strict=True)
    )
    found = part(tmp_path_factory.mktemp("opus"), english, german, links)

    def text(name, ids):
        return " ".join(f"{name}{number}" for number in ids.split())

    def number(word):
        return int(word[1:])

    kept = [pair.split(";") for pair, overlap in links if all(pair.split(";")) and (overlap or 0) >= 0.9]
    lines = [(pair.source, pair.target) for pair in found.pairs]
    assert lines == [(text("e", source), text("d", target)) for source, target in kept]
    assert found.account.balanced and found.account.read == length
    for before, after in zip(found.pairs, found.pairs[1:], strict=False):
        if before.document == after.document:
            assert number(after.source.split()[0]) == number(before.source.split()[-1]) + 1
            assert number(after.target.split()[0]) == number(before.target.split()[-1]) + 1


def test_document_ids_and_films():
    assert document_id("en/2009/1218838/4681542.xml.gz") == "2009/1218838/4681542"
    assert document_id("en/ep-00-01-17.xml") == "ep-00-01-17"
    assert HeldOut(()).key("2009/0133093/4681542/1") == HeldOut(()).key("1.2/2009/133093/4/2#2") == "133093"


def test_a_list_that_is_named_twice_is_divided(tmp_path):
    """As MTCue's lists of files: the first half is for development, the second for test."""
    names = [f"de/2008/{film}/67.xml" for film in (7, 8, 9, 10, 11)]
    (tmp_path / "blocklist.de").write_text("".join(f"{name}\n" for name in names))
    route = HeldOut([f"{split}={tmp_path / 'blocklist.de'}" for split in ("dev", "test")])
    assert [route(f"2008/{film}/1/2") for film in (7, 8, 9, 10, 11, 12)] == [1, 1, 2, 2, 2, 0]
    assert set(route.listed) == {"7", "8", "9", "10", "11"}


def test_held_out_films(tmp_path):
    (tmp_path / "films").write_text("tt0133093\n  7 \n\n")
    route = HeldOut([f"text/dev={tmp_path / 'films'}", "text/test=0.25", "other=.25"])
    assert route.prefixes == ["text/dev", "text/test", "other"]
    assert route("1999/133093/5") == route("2001/7/9/3") == 1
    places = Counter(route(f"1999/{number}/1/1") for number in range(1000, 5000))
    assert places[1] == 0 and abs(places[2] - 1000) < 100 and abs(places[3] - 1000) < 100
    assert all(route(f"1999/{number}/1/1") == route(f"2000/{number}/2/9") for number in range(50))
    for wrong in ("dev", "=0.1", "dev="):
        with pytest.raises(BadInput, match="expected PREFIX=FILE or PREFIX=SHARE"):
            HeldOut([wrong])
    with pytest.raises(BadInput, match="more than 1 together"):
        HeldOut(["a=0.7", "b=0.7"])
    with pytest.raises(BadInput, match="no such file"):
        HeldOut([f"a={tmp_path / 'none'}"])


def test_accounts_add_up():
    one = Account(3, 1, Counter(overlap=2), Counter(x=1), ["a"])
    one.add(Account(2, 1, Counter(empty=1), Counter(x=2), ["b"]))
    assert one.as_dict() == {
        **{"read": 5, "kept": 2, "left_out": {"empty": 1, "overlap": 2}, "remarks": {"x": 3}},
        "broken": ["a", "b"],
    }
    assert one.balanced and not Account(1).balanced
