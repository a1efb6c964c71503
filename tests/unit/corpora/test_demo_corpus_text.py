"""The demo corpus's documents, read back from the files: nothing but the context tells an ambiguity."""

from collections import Counter, defaultdict
from typing import List

import pytest

from ctxmt_fairseq.corpora.demo_corpus.write import write_demo_corpus
from tests.helpers.demo_corpus_files import Line, read_documents


@pytest.fixture(scope="module")
def train(tmp_path_factory) -> List[List[Line]]:
    folder = tmp_path_factory.mktemp("demo") / "corpus"
    write_demo_corpus(folder, documents=6000, evaluation_documents=1)
    return read_documents(folder, "train")


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
def test_the_english_alone_does_not_tell(train, starts, one, other):
    french = [fr for d in train for en, fr, _ in d if en.startswith(starts)]
    ones = sum(fr.startswith(one) for fr in french)
    assert ones + sum(fr.startswith(other) for fr in french) == len(french) > 100
    # Within 5 %, or within what 4 standard deviations of a fair coin allow for a rare beginning.
    assert abs(ones / len(french) - 0.5) < max(0.05, 2 / len(french) ** 0.5)


def test_no_sentence_alone_tells_its_french(train):
    """Over all ambiguous sentences: the best guess per sentence is no better than chance predicts."""
    seen = defaultdict(Counter)
    for document in train:
        for en, fr, _ in document:
            seen[en][fr] += 1
    frequent = {en: forms for en, forms in seen.items() if len(forms) == 2 and sum(forms.values()) >= 30}
    assert len(frequent) > 100
    total = sum(sum(forms.values()) for forms in frequent.values())
    deviation = sum((2 * forms.most_common()[0][1] - sum(forms.values())) ** 2 for forms in frequent.values())
    # A fair coin's squared excess is its number of tosses.
    assert deviation / total < 1.3


def test_senses_and_ellipses_are_uniform_given_the_sentence(train):
    pairs = {
        "bank": ("la banque", "la rive"),
        "match": ("le match", "l'allumette"),
        "bat": ("la batte", "la chauve-souris"),
        "nail": ("l'ongle", "le clou"),
        "star": ("l'étoile", "la vedette"),
    }
    for word, forms in pairs.items():
        french = [fr for document in train for en, fr, _ in document if f" the {word}" in en]
        counts = [sum(form in fr for fr in french) for form in forms]
        assert sum(counts) > 100 and abs(counts[0] - counts[1]) < 4 * sum(counts) ** 0.5
    verbs = Counter(fr.split()[-1] for d in train for en, fr, _ in d if en.endswith(" did."))
    assert len(verbs) == 10 and max(verbs.values()) < 2 * min(verbs.values())


def test_documents_keep_their_register_their_speaker_and_their_terms(train):
    registers = Counter()
    for document in train:
        assert 4 <= len(document) <= 8
        french = [fr for _, fr, _ in document]
        words = {word.strip(".") for fr in french for word in fr.replace("l'", "").split()}
        informal = bool(words & {"Tu", "tu", "Ton", "Ta"})
        formal = bool(words & {"Vous", "vous", "Votre"})
        assert not (informal and formal)
        for one, other in (("médecin", "docteur"), ("Youri", "Iouri"), ("policier", "gendarme")):
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


def test_the_antecedent_of_a_document_pronoun_is_the_nearest_thing(train):
    """What a model must learn holds without exception: an independent reading of the training text."""
    masculine = "book phone bag pencil ball mirror umbrella piano truck basket screen computer".split()
    feminine = "car table chair lamp bottle shirt suitcase guitar cup door plate ladder".split()
    gender = {**dict.fromkeys(masculine, False), **dict.fromkeys(feminine, True)}
    gender.update({f"{noun}s": value for noun, value in gender.items()})
    distances = Counter()
    for document in train:
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


def test_french_is_well_formed(train):
    vowels = "aeiouhéèêâîô"
    for document in train:
        for en, fr, _ in document:
            assert fr[0].isupper() and en[0].isupper() and fr == " ".join(fr.split())
            assert fr.endswith(" ?") if en.endswith("?") else fr.endswith(".") and not fr.endswith(" .")
            for before, after in zip(fr.split(), fr.split()[1:], strict=False):
                if before.lower() in ("le", "la", "de", "ce", "que", "je", "ne"):
                    assert after[0].lower() not in vowels, fr
                assert (before, after) != ("de", "le")


def test_the_vocabulary_is_small(train):
    for side in (0, 1):
        words = {w for d in train for line in d for w in line[side].strip(".?").split()}
        assert 150 < len(words) < 500


def test_implied_formality_is_told_by_genre_plot_and_sentences_only(tmp_path):
    write_demo_corpus(tmp_path / "corpus", documents=3000, evaluation_documents=1, formality="implied")
    registers = defaultdict(Counter)  # (kind, text) -> documents by register
    plain = Counter()
    for document in read_documents(tmp_path / "corpus", "train"):
        french = {word for _, fr, _ in document for word in fr.strip(".").lower().split()}
        formal = bool(french & {"vous", "votre"})
        assert not (formal and french & {"tu", "ton", "ta"})
        if not formal and not french & {"tu", "ton", "ta"}:
            continue
        meta = document[0][2]
        assert set(meta) <= {"genre", "plot", "speaker", "addressee"}
        plain[formal] += not {"genre", "plot"} & set(meta)
        cues = [(field, text) for field, text in meta.items() if field in ("genre", "plot")]
        for kind, text in cues + [("subject", " ".join(en.split()[:2])) for en, _, _ in document]:
            registers[kind, text][formal] += 1
    assert min(plain.values()) > 20  # both fields are missing in some documents
    tells = Counter(
        kind for (kind, _), seen in registers.items() if sum(seen.values()) > 4 and len(seen) == 1
    )
    assert tells["genre"] > 20 and tells["plot"] > 100 and tells["subject"] > 30
    assert all(len(seen) == 1 for (kind, _), seen in registers.items() if kind != "subject")
