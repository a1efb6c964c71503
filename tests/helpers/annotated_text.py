"""Annotated sentences, written in short."""

from ctxmt_fairseq.text.annotation import AnnotatedWord

LABELS = {
    **dict.fromkeys(("Masc", "Fem", "Neut"), "gender"), **dict.fromkeys(("Sing", "Plur"), "number"),
    **dict.fromkeys(("Nom", "Acc", "Gen", "Dat", "Ins"), "case"),
    **dict.fromkeys(("Fin", "Inf", "Part"), "verb_form"), "2": "person",
}  # fmt: skip


def annotated(text):
    """The sentence and words of a text such as "cats/NOUN/Plur/=cat sleep/VERB ." ("=": the lemma)."""
    words, sentence = [], ""
    for part in text.split():
        word, pos, *labels = [*part.split("/"), "PUNCT" if part in ".,?!" else None][: part.count("/") + 2]
        sentence += " " if sentence else ""
        values = {"lemma" if x[0] == "=" else LABELS[x]: x.lstrip("=") for x in labels if x}
        words.append(AnnotatedWord(word, len(sentence), len(sentence) + len(word), pos, **values))
        sentence += word
    return sentence, words
