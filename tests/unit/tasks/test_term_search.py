"""Searches that must hold terms, with a table of bigrams as the model."""

from types import SimpleNamespace

import pytest
import torch
from fairseq.data import Dictionary
from fairseq.search import BeamSearch
from fairseq.sequence_generator import EnsembleModel, SequenceGenerator
from fairseq.token_generation_constraints import pack_constraints

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.corpora.text_steps import TextSteps, Truecase
from ctxmt_fairseq.generation.forced_terms import ForcedTerms
from ctxmt_fairseq.text.glossary import missing, read_glossary

PIECES = ["▁the", "▁cat", "s", "▁dog", "alogue", ",", "▁l'", "▁eau", "eau", "▁de", "▁", "猫", "▁Cat"]
BYTES = ["the", "c@@", "at", "cat", "xx@@", "dog"]
SOURCES = 4


class Bigrams(EnsembleModel):
    """Each word depends on the one before it, and on the sentence."""

    def __init__(self, dictionary, likely=(), seed=0):
        torch.nn.Module.__init__(self)
        self.single_model, self.models_size, self.models, self.has_incremental = None, 1, [], False
        generator = torch.Generator().manual_seed(seed)
        size = len(dictionary)
        self.table = torch.randn(SOURCES, size, size, generator=generator)
        for before, after in likely:
            self.table[:, dictionary.index(before), dictionary.index(after)] += 20

    def max_decoder_positions(self):
        return 100

    def forward_encoder(self, net_input):
        return [net_input["src_tokens"][:, 0]]

    def reorder_encoder_out(self, encoder_outs, new_order):
        return [encoder_outs[0][new_order]]

    def reorder_incremental_state(self, incremental_states, new_order):
        pass

    def forward_decoder(self, tokens, encoder_outs, incremental_states, temperature=1.0):
        return self.table[encoder_outs[0], tokens[:, -1]].log_softmax(1), None


def models_of(pieces, spm=True):
    """What ``ForcedTerms`` reads of loaded models."""
    dictionary = Dictionary()
    for piece in pieces:
        dictionary.add_symbol(piece)
    subwords = Subwords()
    if spm:
        cut = {"cat": "▁cat", "cats": "▁cat s", "catalogue": "▁cat alogue", "the cat": "▁the ▁cat",
               "猫": "▁ 猫", "Cat": "▁Cat", "eau": "▁eau", "dog": "▁dog", "bird": "▁bird"}  # fmt: skip
        subwords.processor = SimpleNamespace(
            encode=lambda text, **how: cut[text].split(),
            decode_pieces=lambda pieces: "".join(pieces).replace("▁", " "),
        )
    else:
        subwords.steps = SimpleNamespace(
            separator="@@", apply=lambda text: text, undo=lambda text: text.replace("@@ ", "")
        )
    task = SimpleNamespace(target_dictionary=dictionary, searches_windows=False)
    return SimpleNamespace(task=task, target_subwords=subwords)


def generate(loaded, search, model, terms, beam=3, **how):
    dictionary = loaded.task.target_dictionary
    generator = SequenceGenerator(
        model, dictionary, beam_size=beam, search_strategy=search, **{"max_len_b": 12, **how}
    )
    sample = {
        "net_input": {"src_tokens": torch.arange(len(terms))[:, None], "src_lengths": torch.ones(len(terms))}
    }
    more = {} if isinstance(search, BeamSearch) else {"constraints": pack_constraints(terms)}
    found = generator.generate([], sample, **more)
    return [[(each["tokens"].tolist(), float(each["score"])) for each in nbest] for nbest in found]


def forced(loaded, *terms, beam=3):
    found = ForcedTerms(read_glossary(None, terms), loaded, beam)
    return found, [[*found.tokens(term).values()][0] for term in terms]


def text_of(loaded, tokens):
    return loaded.target_subwords.decode(loaded.task.target_dictionary.string(tokens))


@pytest.mark.parametrize("seed", range(5))
def test_sentences_without_terms_are_searched_as_ever_to_the_last_bit(seed):
    loaded = models_of(PIECES)
    model = Bigrams(loaded.task.target_dictionary, seed=seed)
    terms, tokens = forced(loaded, "cat", "dog")
    plain = generate(loaded, BeamSearch(loaded.task.target_dictionary), model, [[]] * SOURCES)
    assert generate(loaded, terms.search, model, [[]] * SOURCES) == plain
    found = generate(loaded, terms.search, model, [[], tokens, [], tokens[1:]])
    assert found[0] == plain[0] and found[2] == plain[2]
    for row, wanted in ((1, ["cat", "dog"]), (3, ["dog"])):
        for hypothesis, _ in found[row]:
            assert not missing(text_of(loaded, hypothesis), wanted)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(
    "names", [("cat",), ("cat", "catalogue"), ("the cat", "dog"), ("cats", "cat", "Cat")]
)
def test_terms_come_as_whole_words_though_others_are_likelier(seed, names):
    loaded = models_of(PIECES)
    likely = [("▁cat", "s"), ("▁cat", "alogue"), ("▁dog", "s"), ("</s>", "▁the"), ("▁the", "</s>")]
    model = Bigrams(loaded.task.target_dictionary, likely, seed)
    terms, tokens = forced(loaded, *names)
    (nbest, *_) = generate(loaded, terms.search, model, [tokens], beam=5, max_len_b=20)
    text = text_of(loaded, nbest[0][0])
    assert not missing(text, names), text


def test_words_that_begin_within_others_do_not_count():
    loaded = models_of(BYTES, spm=False)
    model = Bigrams(loaded.task.target_dictionary, [("</s>", "xx@@"), ("xx@@", "cat"), ("cat", "</s>")])
    terms, tokens = forced(loaded, "cat")
    (nbest, *_) = generate(loaded, terms.search, model, [tokens])
    assert all("cat" in text_of(loaded, hypothesis).split() for hypothesis, _ in nbest)


def test_no_blank_behind_an_apostrophe_and_before_a_term_in_a_script_without_blanks():
    loaded = models_of(PIECES)
    likely = [("</s>", "▁l'"), ("▁l'", "eau"), ("eau", "</s>"), ("▁eau", "</s>")]
    terms, tokens = forced(loaded, "eau")
    (nbest, *_) = generate(loaded, terms.search, Bigrams(loaded.task.target_dictionary, likely), [tokens])
    assert text_of(loaded, nbest[0][0]) == "l'eau"
    assert forced(loaded, "猫")[1][0].tolist() == [loaded.task.target_dictionary.index("猫")]


def test_a_sentence_ends_at_its_greatest_length_and_where_no_term_can_come():
    loaded = models_of(PIECES)
    model = Bigrams(loaded.task.target_dictionary)
    terms, tokens = forced(loaded, "the cat", "dog", "cats")
    (nbest, *_) = generate(loaded, terms.search, model, [tokens], max_len_b=2)
    assert nbest and all(len(hypothesis) == 3 for hypothesis, _ in nbest)
    found = generate(loaded, terms.search, model, [tokens * 2] * 2, no_repeat_ngram_size=1, beam=1)
    assert all(nbest and nbest[0][1] > -1e6 for nbest in found)


def test_a_term_may_begin_a_sentence_with_the_capital_of_truecasing(tmp_path):
    loaded = models_of(["chat", "Chat", "noir", "Paris"], spm=False)
    (tmp_path / "counts").write_text("chat (9/10) Chat (1)\nnoir (9/9)\nParis (9/9)\n")
    loaded.target_subwords.steps = TextSteps([Truecase(tmp_path / "counts")], "fr")
    terms = ForcedTerms(read_glossary(None, ["chat noir", "noir", "Paris"]), loaded, 2)
    assert [*terms.tokens("chat noir, noir, Paris")] == ["chat noir", "noir", "Paris"]
    terms.count(["chat noir"], "Chat noir")
    terms.count(["noir", "Paris"], "Le chat noir, Paris")
    assert terms.remark is None
    terms.count(["noir", "Paris"], "Noire, paris")
    assert terms.remark == "2 of 5 terms are not in their translations: noir, Paris"


def test_what_cannot_be_written_is_left_out_and_what_cannot_be_searched_refused():
    loaded = models_of(PIECES)
    terms = ForcedTerms(read_glossary(None, ["bird", "cat"]), loaded, 3)
    assert [*terms.tokens("a bird, a cat")] == ["cat"]
    terms.count(["cat", "dog"], "the cat")
    lost, unknown = "1 of 2 terms are not in their translations: dog", "the models cannot write them: bird"
    assert terms.remark == f"{lost}; left out, because {unknown}"
    with pytest.raises(BadInput, match="expected a --beam below 9"):
        ForcedTerms(read_glossary(None, ["cat"]), loaded, 9)
    loaded.task.searches_windows = True
    with pytest.raises(BadInput, match="do not work with --decoding window"):
        ForcedTerms(read_glossary(None, ["cat"]), loaded, 3)
