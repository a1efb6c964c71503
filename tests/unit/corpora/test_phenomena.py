"""The rules of ``ctxmt corpus tag``: sentences of which is known what context decides."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmt_fairseq.corpora.phenomena.genders import Genders
from ctxmt_fairseq.corpora.phenomena.lines import Hit, clause, linked
from ctxmt_fairseq.corpora.phenomena.rules import KNOWN, Rules
from ctxmt_fairseq.text.annotation import AnnotatedWord
from tests.helpers.annotated_text import annotated


def all_hits(target_lang, *pairs):
    """The hits of the last of several lines (source, target, alignment), and the words of its target."""
    rules, lines = Rules("en", target_lang), []
    for source, target, pairs_of_words in pairs:
        (text, words), (translation, its) = annotated(source), annotated(target)
        numbers = [tuple(map(int, pair.split("-"))) for pair in pairs_of_words.split()]
        lines.append(linked(None, (text, translation), (words, its), numbers))
    *before, last = lines
    return list(rules.hits(last, before[::-1])), last.target


def hits(target_lang, *pairs):
    """(tag, word, distance) of them."""
    found, words = all_hits(target_lang, *pairs)
    return [(hit.tag, words[hit.word].text, hit.distance) for hit in found]


FRENCH = ("the car/NOUN", "la/DET voiture/NOUN/Fem/Sing", "1-1")
CARS = ("cars", "voitures/NOUN/Fem/Plur", "0-0")
GERMAN = ("the window/NOUN", "das/DET Fenster/NOUN/Neut/Sing", "1-1")
RUSSIAN = ("the book/NOUN", "книга/NOUN/Fem/Sing", "1-0")


@pytest.mark.parametrize(
    ("language", "context", "source", "target", "pairs", "found"),
    [
        ("fr", FRENCH, "It shines", "Elle/PRON brille/VERB", "0-0", [("pronoun", "Elle", 1)]),
        ("fr", FRENCH, "that car", "la/DET voiture/NOUN/Fem/Sing", "0-0 1-1", []),  # an article
        ("fr", FRENCH, "he sees it", "il la/PRON voit/VERB", "0-0 2-1", [("pronoun", "la", 1)]),
        # What the tool took for an article, as it does before verbs that it takes for nouns.
        ("fr", FRENCH, "he shuts it", "il la/DET referme/NOUN/Fem/Sing", "0-0 2-1", [("pronoun", "la", 1)]),
        # The wrong gender, number, source word, no alignment: not a matter of this context.
        ("fr", FRENCH, "It shines", "Il/PRON brille/VERB", "0-0", []),
        ("fr", FRENCH, "They shine", "Elles/PRON brillent/VERB", "0-0", []),
        ("fr", FRENCH, "She shines", "Elle/PRON brille/VERB", "0-0", []),
        ("fr", FRENCH, "It shines", "Elle/PRON brille/VERB", "", []),
        # An antecedent in the sentence.
        ("fr", FRENCH, "the moon if it shines", "la/DET lune/NOUN/Fem/Sing si elle brille", "3-3", []),
        # Impersonal verbs.
        ("fr", ("a book", "un/DET livre/NOUN/Masc/Sing", ""), "it rains", "il pleut/VERB", "0-0", []),
        ("fr", ("a book", "un/DET livre/NOUN/Masc/Sing", ""), "it is there", "il est là", "0-0",
         [("pronoun", "il", 1)]),
        ("de", GERMAN, "It is open", "Es ist offen", "0-0", [("pronoun", "Es", 1)]),
        ("de", GERMAN, "It is open", "Er ist offen", "0-0", []),
        ("de", GERMAN, "They are open", "Sie sind offen", "0-0", []),
        ("de", GERMAN, "There is one", "es gibt eins", "0-0", []),
        ("ru", RUSSIAN, "I see it", "Я вижу её", "2-2", [("pronoun", "её", 1)]),
        ("ru", RUSSIAN, "I see it", "Я вижу его", "2-2", []),
        ("ru", RUSSIAN, "I see it", "Я вижу её/DET", "2-2", [("pronoun", "её", 1)]),
    ],
)  # fmt: skip
def test_pronouns(language, context, source, target, pairs, found):
    got = [hit for hit in hits(language, context, (source, target, pairs)) if hit[0] == "pronoun"]
    assert got == found


@pytest.mark.parametrize(
    ("language", "context", "target", "others"),
    [
        ("fr", FRENCH, "Elle/PRON brille/VERB/Fin", ["il"]),
        ("fr", FRENCH, "Elle/PRON est/AUX/Fin là/ADV", ["il"]),
        ("fr", FRENCH, "Elle/PRON a/AUX/Fin un/DET/Masc toit/NOUN/Masc", ["il"]),
        ("fr", FRENCH, "Elle/PRON est/AUX/Fin rouge/ADJ", []),
        ("fr", FRENCH, "Elle/PRON est/AUX/Fin très/ADV ronde/NOUN", []),
        ("fr", FRENCH, "Elle/PRON est/AUX/Fin venue/VERB/Part", []),
        ("fr", FRENCH, "Elle/PRON brille/VERB/Fin quand elle/PRON roule/VERB/Fin", []),
        ("de", GERMAN, "Es/PRON/Nom ist/AUX offen/ADJ", ["er", "sie"]),
        ("ru", RUSSIAN, "Она/PRON лежит/VERB/Fin", ["он", "оно"]),
        ("ru", RUSSIAN, "Она/PRON лежала/VERB/Fin/Fem", []),
        # In every case other forms, and none where the case is not known.
        ("de", GERMAN, "Es/PRON/Acc sah/VERB/Fin Anna", ["ihn", "sie"]),
        ("de", GERMAN, "Es/PRON sah/VERB/Fin Anna", []),
        ("fr", FRENCH, "Elle/PRON n'/ADV ouvre/VERB/Fin rien", ["il"]),
        ("fr", FRENCH, "Elle/PRON , ouvre/VERB/Fin", []),
        ("ru", RUSSIAN, "Ей/PRON/Dat верит/VERB/Fin Анна", ["ему"]),
        ("ru", RUSSIAN, "Ей/PRON/Ins довольна/VERB/Fin Анна", ["им"]),
        ("ru", RUSSIAN, "Ее/PRON/Acc видит/VERB/Fin Анна", ["его"]),
    ],
)
def test_candidates_differ_in_nothing_that_another_word_shows(language, context, target, others):
    found, _ = all_hits(language, context, ("It is", target, "0-0"))
    (hit,) = (hit for hit in found if hit.tag == "pronoun")
    assert list(hit.others) == others


@pytest.mark.parametrize(
    ("noun", "source", "target", "others"),
    [
        (FRENCH, "with it", "avec/ADP elle/PRON part/VERB/Fin", []),
        (CARS, "with them", "avec/ADP elles/PRON part/VERB/Fin", ["eux"]),
        (CARS, "so them", "donc/ADV elles/PRON partent/VERB/Fin", ["ils"]),
        (CARS, "so them", "donc/ADV elles/PRON partent/NOUN", []),  # unknown
        (("cats", "chats/NOUN/Masc/Plur", "0-0"), "so them", "donc/ADV ils/PRON partent/NOUN", ["elles"]),
        (FRENCH, "his it", "son nom/NOUN/Masc/Sing", None),
    ],
)  # fmt: skip
def test_a_french_pronoun_is_a_subject_or_not(noun, source, target, others):
    found, _ = all_hits("fr", noun, (source, target, "1-1"))
    assert [list(hit.others) for hit in found if hit.tag == "pronoun"] == ([] if others is None else [others])


def test_the_nearest_noun_counts():
    other = ("no", "non", "")
    assert hits("fr", FRENCH, other, FRENCH, other, ("it", "elle", "0-0")) == [("pronoun", "elle", 2)]


@pytest.mark.parametrize(
    ("language", "source", "target", "found"),
    [
        ("fr", "you see", "Tu/PRON vois/VERB/Fin", ["Tu", "vois"]),
        ("fr", "I see you", "je vous/PRON vois/VERB/Fin", ["vous"]),
        ("fr", "look , enough", "Regardez/PROPN , assez", ["Regardez"]),
        ("fr", "come", "venez/VERB/2/Plur", ["venez"]),
        ("fr", "he comes at my place", "il vient chez/ADP moi", []),
        ("de", "if you want", "wenn/SCONJ Sie/PRON heute/ADV wollen/VERB/Fin", ["Sie", "wollen"]),
        ("de", "click", "Klicken/NOUN Sie/PRON hier/ADV", ["Klicken", "Sie"]),
        ("de", "They come", "Sie/PRON kommen/VERB/Fin", []),
        ("de", "You come", "Sie/PRON kommen/VERB/Fin", ["Sie", "kommen"]),
        ("de", "as they come", "da sie/PRON kommen/VERB/Fin", []),
        ("de", "are you", "bist/AUX/Fin du/PRON", ["bist", "du"]),
        ("ru", "you know", "вы/PRON знаете/VERB/2/Plur", ["вы", "знаете"]),
        ("ru", "you knew", "вы/PRON уже/ADV знали/VERB/Fin", ["вы", "знали"]),
        ("ru", "you and he knew", "ты/PRON ,/PUNCT он/PRON знал/VERB/Fin", ["ты"]),
        ("ru", "your house", "твой дом/NOUN", ["твой"]),
        ("ru", "POWER", "СТЕПЕНЬ/VERB/2/Sing", []),
        ("ru", "see Help", "См./VERB/2/Sing Справку/NOUN", []),
        ("es", "your house", "tu casa", ["tu"]),
        ("sw", "you", "wewe", []),
    ],
)
def test_formality(language, source, target, found):
    assert [word for _, word, _ in hits(language, (source, target, ""))] == found


@pytest.mark.parametrize(
    ("source", "target", "pairs", "found"),
    [
        ("where are you", "wo seid ihr", "2-2", ["ihr"]),
        ("we helped her", "wir halfen ihr", "2-2", []),
        ("we help her and you", "wir helfen ihr", "", []),  # unknown what it translates
    ],
)
def test_the_german_ihr_addresses_somebody_where_it_translates_you(source, target, pairs, found):
    assert [word for _, word, _ in hits("de", (source, target, pairs))] == found


def test_formality_that_was_there_before():
    formal, informal = ("you", "vous", ""), ("you", "toi", "")
    assert hits("fr", formal, informal, ("yours", "la vôtre", "")) == [("formality", "vôtre", 2)]
    assert hits("fr", informal, ("yours", "la vôtre", "")) == [("formality", "vôtre", None)]


SAW = ("did/AUX he/PRON see/VERB it/PRON ?", "il l' a/AUX vu/VERB/=voir ?", "2-3")


@pytest.mark.parametrize(
    ("source", "target", "pairs", "found"),
    [
        ("he/PRON did/AUX .", "il l' a/AUX vu/VERB/=voir .", "1-3", ["vu"]),
        ("he/PRON did/AUX n't/PART .", "il n' a/AUX rien vu/VERB/=voir .", "", ["vu"]),
        ("he/PRON did/AUX .", "il l' a/AUX pris/VERB/=prendre .", "1-3", []),  # no verb of the context
        ("he/PRON did/AUX .", "il l' a/AUX fait/VERB/=faire .", "1-3", []),
        ("he/PRON did/AUX see/VERB it/PRON .", "il l' a/AUX vu/VERB/=voir .", "2-3", []),
        ("yes/INTJ .", "vu/VERB/=voir .", "", []),
    ],
)
def test_ellipsis(source, target, pairs, found):
    assert [word for tag, word, _ in hits("fr", SAW, (source, target, pairs)) if tag == "ellipsis"] == found


APPROVES = ("she/PRON approves/VERB .", "elle approuve/VERB/=approuver .", "1-1")
WANTS = ("she/PRON wants/VERB it/PRON", "sie will/AUX/=wollen das", "1-1")
COMES = ("can/AUX you/PRON come/VERB ?", "tu peux/VERB/=pouvoir venir/VERB/=venir ?", "0-1 2-2")


@pytest.mark.parametrize(
    ("language", "context", "source", "target", "pairs", "found"),
    [
        # A verb that the tool took for a noun; and a noun that begins like the verb, but is no guess.
        ("fr", APPROVES, "they/PRON do/AUX too/ADV", "ils approuvent/NOUN aussi", "1-1", ["approuvent"]),
        ("fr", APPROVES, "an/DET approval/NOUN , he/PRON did/AUX", "son approbation/NOUN , oui", "1-1", []),
        # An auxiliary without a verb is one.
        ("de", WANTS, "so do/AUX we/PRON .", "wir wollen/AUX/=wollen auch .", "", ["wollen"]),
        ("de", WANTS, "so do/AUX we/PRON .", "wir wollen/AUX/=wollen gehen/VERB/=gehen .", "", []),
        # What translates the auxiliary itself.
        ("fr", COMES, "I/PRON can/AUX .", "je peux/VERB/=pouvoir .", "1-1", []),
        ("fr", COMES, "I/PRON can/AUX .", "je viens/VERB/=venir .", "1-1", ["viens"]),
        # Without lemmas.
        ("fr", ("she/PRON sees/VERB", "elle voit/VERB", ""), "I/PRON did/AUX", "j' ai vu/VERB", "", []),
    ],
)
def test_verbs_that_only_their_form_or_their_sentence_shows(language, context, source, target, pairs, found):
    got = hits(language, context, (source, target, pairs))
    assert [word for tag, word, _ in got if tag == "ellipsis"] == found


SEE = ("whom/PRON do/AUX you/PRON see/VERB/Inf", "кого/PRON видишь/VERB", "")


@pytest.mark.parametrize(
    ("source", "target", "found"),
    [
        ("the sister/NOUN", "сестру/NOUN/Acc", ["сестру"]),
        ("my sister/NOUN", "мою/DET сестру/NOUN/Acc", ["сестру"]),
        ("only the sister/NOUN", "только/ADV сестру/NOUN/Acc", ["сестру"]),
        ("fewer sisters/NOUN", "меньше/ADV сестёр/NOUN/Gen", []),  # the adverb decides
        ("the sister/NOUN and aunt/NOUN", "сестру/NOUN/Acc и/CCONJ тётю/NOUN/Acc", ["сестру", "тётю"]),
        ("the sister/NOUN", "сестра/NOUN/Nom", []),
        ("blood/NOUN", "кровь/NOUN", []),  # nominative or accusative
        ("for the sister/NOUN", "для/ADP сестры/NOUN/Gen", []),
        ("my sister's book/NOUN", "книга/NOUN/Nom сестры/NOUN/Gen", []),
        ("I see/VERB/Fin her/PRON", "сестру/NOUN/Acc", []),
        ("I see/VERB/Fin her/PRON", "вижу/VERB сестру/NOUN/Acc", []),
        ("COUNT", "СЧЁТА/NOUN/Gen", []),
    ],
)
def test_inflection(source, target, found):
    got = [
        (word, distance)
        for tag, word, distance in hits("ru", SEE, (source, target, ""))
        if tag == "inflection"
    ]
    assert got == [(word, 1) for word in found]
    assert not hits("ru", (source, target, "")), "without context"


def test_a_noun_of_the_same_case_decides_as_a_verb_does():
    without = ("without/ADP a/DET sister/NOUN", "без/ADP сестры/NOUN/Gen", "")
    assert hits("ru", without, ("or/CCONJ an/DET aunt/NOUN", "или/CCONJ тёти/NOUN/Gen", ""))
    assert not hits("ru", without, ("or/CCONJ an/DET aunt/NOUN", "или/CCONJ тётю/NOUN/Acc", ""))


def test_genders_of_german_nouns_from_their_determiners():
    lines = ["Das Fenster ist zu.", "Öffnen Sie das große Fenster", "die Datei, in einer Datei", "im Fenster"]
    genders = Genders(KNOWN["targets"]["de"]["determiners"], lines)

    def of(text, lemma=None):
        return genders.of(AnnotatedWord(text, 0, len(text), "NOUN", lemma))

    assert [of("Fenster"), of("Datei"), of("Dialogfenster"), of("Dateien", "Datei")] == [
        "Neut",
        "Fem",
        "Neut",
        "Fem",
    ]
    assert of("Haus") is None


@given(st.lists(st.sampled_from(["a", ".", "b"]), min_size=1), st.data())
def test_a_clause_has_no_punctuation_and_as_many_words_as_can_be(texts, data):
    words = [
        AnnotatedWord(text, at, at + 1, "PUNCT" if text == "." else None) for at, text in enumerate(texts)
    ]
    at = data.draw(st.integers(0, len(texts) - 1))
    found = clause(words, at)
    if texts[at] != ".":
        assert at in found and "." not in [texts[place] for place in found]
        assert all(not 0 <= edge < len(texts) or texts[edge] == "." for edge in (found.start - 1, found.stop))


@settings(max_examples=100)
@given(st.text("ab .", max_size=12), st.sets(st.integers(0, 11)))
def test_parts_are_the_whole_line_whatever_is_annotated(text, places):
    text = text.strip()
    words = [
        AnnotatedWord(text[at], at, at + 1) for at in sorted(places) if at < len(text) and text[at] != " "
    ]
    line = linked(None, (text, text), (words, words), [])
    parts, tags = line.parts([Hit("pronoun", at, 1) for at in range(len(words))])
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert sum("pronoun" in each for each in tags) == len(words) and len(parts) == len(tags)


def test_what_is_known_of_languages_makes_sense():
    for known in KNOWN["targets"].values():
        for rows in known.get("pronouns", {}).values():
            forms = [{form for name, form in row.items() if name != "Case"} for row in rows]
            assert all(forms) and any(len(row) > 1 for row in forms)
            for form in set().union(*forms):  # one in several rows has another case in each
                cases = [row.get("Case") for row, its in zip(rows, forms, strict=True) if form in its]
                assert len(cases) == 1 or None not in cases and len({*cases}) == len(cases)
        assert ("formal" in known) == ("informal" in known)
