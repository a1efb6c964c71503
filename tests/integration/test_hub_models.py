"""Models of Hugging Face's classes: tiny random ones, imported, against transformers itself."""

import itertools
import json
import unicodedata

import pytest
import torch
from fairseq import options, tasks
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from hypothesis import assume, given
from hypothesis import strategies as st

import ctxmt_fairseq
from ctxmt_fairseq import Translator
from ctxmt_fairseq.cli.main import main
from ctxmt_fairseq.generation.forced_scoring import TranslationScorer
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.symbols import SPECIAL_WORDS
from tests.helpers.hub_models import LANGUAGES, demo_text, make_hub
from tests.integration.commands import read, refused, run

pytestmark = pytest.mark.slow  # transformers alone takes seconds
every_kind = pytest.mark.parametrize("kind", LANGUAGES)
ctxmt_fairseq.register()


class Made:
    """A tiny model of a kind, as transformers has it and as it was imported."""

    def __init__(self, root, kind, text):
        self.kind, self.text = kind, text
        self.hub = make_hub(root / kind, kind, text, safe=kind != "mbart50")
        if kind == "nllb":  # as old versions saved them; the numbers are transformers' own then
            (root / kind / "added_tokens.json").unlink()
        self.out = root / f"{kind}-out"
        names = ("--source-lang", "--target-lang", "--source-token", "--target-token")
        told = [(name, value) for name, value in zip(names, LANGUAGES[kind], strict=True) if value]
        assert main(["import", str(root / kind), str(self.out), *itertools.chain(*told)]) == 0
        self.translator = Translator.load(self.out, device="cpu", lenpen=0.0, min_len=0, max_len_b=40)
        self.loaded = self.translator.loaded
        if kind == "fsmt":  # a tokenizer cuts as its source's language is cut
            files = [str(root / kind / name) for name in ("vocab-tgt.json", "vocab-src.json", "merges.txt")]
            self.reverse = type(self.hub.tokenizer)(["fr", "en"], *files)

    def source(self, sentence):
        """What transformers reads."""
        return f">>fra<< {sentence}" if self.kind == "marian-many" else sentence

    def symbols(self, sentence, target=False):
        """transformers' pieces, as our dictionaries write them."""
        tokenizer = self.reverse if target and self.kind == "fsmt" else self.hub.tokenizer
        if self.kind == "fsmt":
            known = tokenizer.encoder
            pieces = [x if x in known else "<unk>" for x in tokenizer._tokenize(sentence)] + ["</s>"]
            marked = [x if x in SPECIAL_WORDS | {"<unk>"} else f"{x}@@" for x in pieces]
            return [x.removesuffix("@@").removesuffix("</w>") if "</w>" in x else x for x in marked]
        ids = tokenizer(text_target=sentence) if target else tokenizer(self.source(sentence))
        table = getattr(tokenizer, "target_encoder" if target else "encoder", None) or tokenizer.get_vocab()
        names = {number: name for name, number in table.items()}
        if self.kind == "m2m_100":
            names.update(tokenizer.id_to_lang_token)
        return [names[number] for number in ids["input_ids"]]

    def ours(self, sentence, target=False):
        side = "target" if target else "source"
        tokens = getattr(self.loaded, f"encode_{side}")(sentence)
        return [getattr(self.loaded.task, f"{side}_dictionary")[token] for token in tokens]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root, known = tmp_path_factory.mktemp("hub"), {}
    text = demo_text(root / "demo")

    def of(kind):
        if kind not in known:
            known[kind] = Made(root, kind, text)
        return known[kind]

    return of


def padded(rows, pad):
    return torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], True, pad)


@every_kind
def test_log_probabilities_are_those_of_transformers(made, kind):
    made = made(kind)
    hub, config, (sources, targets) = made.hub, made.hub.model.config, (side[:8] for side in made.text)
    ids = hub.tokenizer([made.source(sentence) for sentence in sources], padding=True, return_tensors="pt")
    if kind == "fsmt":
        rows = [made.reverse(each)["input_ids"] for each in targets]
    else:
        rows = [hub.tokenizer(text_target=each)["input_ids"] for each in targets]
    labels = padded(rows, 1)
    start = torch.full((len(rows), 1), config.decoder_start_token_id)
    with torch.no_grad():
        logits = hub.model(
            input_ids=ids["input_ids"],
            attention_mask=ids["attention_mask"],
            decoder_input_ids=torch.cat([start, labels[:, :-1]], dim=1),
            use_cache=False,  # FSMT cannot have it in transformers 4.57
        ).logits
    expected = logits.log_softmax(-1).gather(2, labels[:, :, None])[:, :, 0].double()
    encoded = [[getattr(made.loaded, f"encode_{side}")(each) for each in lines]
               for side, lines in (("source", sources), ("target", targets))]  # fmt: skip
    alone = Documents.from_lengths([1] * len(rows))
    scores = TranslationScorer(*encoded, alone).scores(made.loaded)
    for row, theirs, ours in zip(rows, expected, scores, strict=True):
        torch.testing.assert_close(torch.tensor(ours.window), theirs[: len(row)], atol=1e-5, rtol=0)
        assert len(ours.current) == len(row) - (hub.forced is not None)  # its language's token was given


@every_kind
@pytest.mark.parametrize("beam", [1, 4])
def test_translations_are_those_of_transformers(made, kind, beam):
    """Hypotheses are ranked by their log-probabilities, and the search ends when there are ``beam``."""
    made, ended = made(kind), 0
    hub, sources = made.hub, made.text[0][:12]
    found = made.translator.n_best([[sentence] for sentence in sources], beam=beam)
    more = {} if hub.forced is None else {"forced_bos_token_id": hub.forced}
    for sentence, ((best, *_),) in zip(sources, found, strict=True):
        ids = hub.tokenizer([made.source(sentence)], return_tensors="pt")
        theirs = hub.model.generate(
            input_ids=ids["input_ids"], attention_mask=ids["attention_mask"], num_beams=beam,
            length_penalty=0.0, early_stopping=True, do_sample=False, max_new_tokens=40 + len(more),
            use_cache=kind != "fsmt", output_scores=True, return_dict_in_generate=True, **more,
        )  # fmt: skip
        text = hub.tokenizer.decode(theirs.sequences[0], skip_special_tokens=True)
        assert text.removeprefix("__fr__") == best.text
        if beam > 1 and hub.model.config.eos_token_id in theirs.sequences[0, 1:]:
            ended += 1
            assert theirs.sequences_scores[0].item() == pytest.approx(best.score, abs=1e-4)
    assert beam == 1 or ended  # there was something to compare


HOSTILE = st.text() | st.text(
    st.sampled_from("aeAE .,'\"«»’…（）％\u00a0\u200b\u0301ßİ@&<>|[]-_0123９\U0001f600中▁")
)


@every_kind
def test_text_is_cut_as_transformers_does(made, kind):
    made = made(kind)
    special = {*made.hub.tokenizer.all_special_tokens, *made.hub.tokenizer.get_vocab().keys() & SPECIAL_WORDS}

    @given(HOSTILE)
    def check(text):
        text = " ".join(text.split())  # of which every command sees its words alone
        assume(text and not any(token in text for token in special) and not text.startswith(">>"))
        # Of what a character without a name is, each library has another version.
        assume(kind != "fsmt" or not any(unicodedata.category(x) == "Cn" for x in text))
        for target in (False, True):
            ours, theirs = made.ours(text, target), made.symbols(text, target)
            assert ours == theirs or (ours == ["</s>"] and theirs[1:] == ours)  # no words, no language

    check()
    for line in made.text[0][:20]:
        assert made.ours(line) == made.symbols(line)


def scores_of(model, lines):
    """The log-probabilities of all tokens, each sentence alone."""
    translator = Translator.load(model, device="cpu")
    documents = [[[line] for line in side[:8]] for side in lines]
    return [score.tokens for (score,) in translator.score(*documents)]


@every_kind
def test_exports_compute_what_was_imported(made, kind, tmp_path):
    """For every program; and what goes back to Marian's class may be imported again."""
    made = made(kind)
    expected = scores_of(made.out, made.text)
    targets = ["safetensors", "ctranslate2"]
    targets += ["hf"] if kind.startswith("marian") else []
    for target in targets:
        out = tmp_path / target
        run("ctxmt", "export", made.out, out, "--to", target)
        if target == "hf":
            code = ["--target-token", "fra"] if kind == "marian-many" else []
            run("ctxmt", "import", out, tmp_path / "again", *code)
            out = tmp_path / "again"
        for ours, theirs in zip(scores_of(out, made.text), expected, strict=True):
            assert ours == pytest.approx(theirs, abs=1e-4 if target == "ctranslate2" else 1e-5)


@pytest.mark.parametrize("kind", ["marian", "marian-many", "marian-two"])
def test_a_model_goes_back_to_its_class(made, kind, tmp_path):
    """Through the shell: transformers gives the text the same numbers as before."""
    import transformers

    made = made(kind)
    run("ctxmt", "export", made.out, tmp_path / "out", "--to", "hf", "--license", "mit")
    found = [getattr(transformers, f"Auto{name}").from_pretrained(tmp_path / "out", local_files_only=True)
             for name in ("ModelForSeq2SeqLM", "Tokenizer")]  # fmt: skip
    sources, targets = [made.source(each) for each in made.text[0][:8]], made.text[1][:8]
    numbers = []
    for model, tokenizer in ((made.hub.model, made.hub.tokenizer), (found[0].eval(), found[1])):
        ids = tokenizer(sources, text_target=targets, padding=True, return_tensors="pt")
        real = ids["labels"] != tokenizer.pad_token_id
        with torch.no_grad():
            chosen = model(**ids).logits.log_softmax(-1).gather(2, ids["labels"][..., None])[..., 0]
        numbers.append(chosen[real])
    torch.testing.assert_close(*numbers, atol=1e-5, rtol=0)
    assert "library_name: transformers" in (tmp_path / "out/README.md").read_text()
    assert "out: a model of Hugging Face: ctxmt import" in refused("ctxmt", "card", tmp_path / "out")


def size_of(made, capsys):
    """What ``ctxmt import`` says of the model's size."""
    names = ("--source-lang", "--target-lang", "--source-token", "--target-token")
    told = [(name, value) for name, value in zip(names, LANGUAGES[made.kind], strict=True) if value]
    folder = str(made.hub.folder), str(made.out)
    assert main(["import", *folder, "--overwrite", *itertools.chain(*told)]) == 0
    lines = capsys.readouterr().out.splitlines()
    return next(line for line in lines if line.startswith("size: ")).split()[1:]


ARCHITECTURES = {
    "concat_transformer": ("--task", "document_window", "--segment-positions", "shift"),
    "gated_context_transformer": ("--task", "multi_source", "--source-context", "1"),
    "dual_encoder_transformer": ("--task", "multi_source", "--source-context", "1"),
    "context_encoder_transformer": ("--task", "multi_source", "--source-context", "1"),
    "caching_transformer": (
        *("--task", "multi_source", "--source-context", "1", "--current-in-context", "no"),
    ),
    "mtcue_transformer": ("--task", "metadata_context", "--source-context", "1", "--current-vector", "no"),
}


@every_kind
def test_every_architecture_starts_from_it(made, kind, tmp_path, capsys):
    """Without context it computes what the imported model does, but for the new symbols."""
    made = made(kind)
    text = [tmp_path / "text.en", tmp_path / "text.fr"]
    for path, lines in zip(text, made.text, strict=True):
        path.write_text("\n".join(lines[:30]) + "\n", encoding="utf-8")
    (tmp_path / "text.docids").write_text("0\n" * 15 + "1\n" * 15)
    data = ("--train", str(tmp_path / "text"), "--test", str(tmp_path / "text"))
    languages = ("--source-lang", "en", "--target-lang", "fr")
    like = ("--like", str(made.out), "--out", str(tmp_path / "data"))
    assert main(["preprocess", *languages, *data, *like]) == 0
    assert main(["embed", str(tmp_path / "data"), *data, "--encoder", "discrete"]) == 0
    size = size_of(made, capsys)
    sources, targets = ([getattr(made.loaded, f"encode_{side}")(each) for each in lines[:5]]
                        for side, lines in zip(("source", "target"), made.text, strict=True))  # fmt: skip
    pad, eos = made.loaded.task.source_dictionary.pad(), made.loaded.task.source_dictionary.eos()
    previous = [torch.cat([torch.tensor([eos]), each[:-1]]) for each in targets]
    batch = padded([x.tolist() for x in sources], pad), padded([x.tolist() for x in previous], pad)
    lengths = torch.tensor([len(each) for each in sources])

    def log_probs(model, symbols):
        with torch.no_grad():
            model.eval()
            logits = model(batch[0], lengths, batch[1])[0][..., :symbols]
        return logits.log_softmax(-1)[batch[1] != pad]

    own = len(made.loaded.task.target_dictionary) - 2 + (kind in ("nllb", "mbart50"))  # they have <mask>
    expected = log_probs(made.loaded.model, own)
    for arch, more in ARCHITECTURES.items():
        learned = "--encoder-learned-pos" in size
        more = [x if not learned or x != "shift" else "learned" for x in more]
        words = [str(tmp_path / "data"), "--arch", arch, *more, *size, "--cpu", "--optimizer", "adam"]
        words += ["--sentence-checkpoint", str(made.out / "checkpoint.pt")]
        cfg = convert_namespace_to_omegaconf(
            options.parse_args_and_arch(options.get_training_parser(), input_args=words)
        )
        model = tasks.setup_task(cfg.task).build_model(cfg.model)
        if "learned" in more:  # a segment's embedding is added to each position
            for side in (model.encoder, model.decoder):
                torch.nn.init.zeros_(side.embed_positions.segment_table.weight)
        torch.testing.assert_close(log_probs(model, own), expected, atol=2e-5, rtol=0, msg=arch)


@pytest.mark.parametrize("kind", ["marian", "nllb"])
def test_from_a_folder_to_a_context_model(made, kind, tmp_path, capsys):
    """As in the docs: import, make data like it, train a few updates, translate and score documents."""
    made = made(kind)
    size, demo = size_of(made, capsys), made.hub.folder.parent / "demo"
    names = (
        "--source-lang",
        "en",
        "--target-lang",
        "fr",
        "--train",
        demo / "train",
        "--valid",
        demo / "valid",
    )
    run("ctxmt", "preprocess", *names, "--like", made.out, "--out", tmp_path / "data")
    assert json.loads((tmp_path / "data/ctxmt.json").read_text()).get("language_tokens", {}) == (
        {"en": "eng_Latn", "fr": "fra_Latn"} if kind == "nllb" else {}
    )
    run(
        *("ctxmt", "train", "windows", tmp_path / "data", tmp_path / "run", "--size", "tiny", "--cpu", *size),
        *("--from", made.out / "checkpoint.pt", "--max-update", 20, "--validate-interval", 100),
    )
    model = tmp_path / "run/checkpoints/checkpoint_last.pt"
    test = (f"{demo / 'test'}.en", "--docids", f"{demo / 'test'}.docids", "--cpu", "--beam", 2)
    run("ctxmt", "translate", model, *test, "--max-len-b", 20, "--output", tmp_path / "out")
    lines = read(tmp_path / "out")
    assert len(lines) == len(read(f"{demo / 'test'}.en")) and not [x for x in lines if "_Latn" in x]
    translator = Translator.load(model, device="cpu", lenpen=0.0, max_len_b=20)
    document = made.text[0][:3]
    nbest = translator.n_best([document])
    scores = translator.score([document], [[best[0].text for best in nbest[0]]])
    window = translator.loaded.encode_target(made.text[1][0])
    assert (len(window) and translator.loaded.task.target_dictionary[window[0]] == "fra_Latn") == (
        kind == "nllb"
    )
    assert len(scores[0]) == 3 and all(score.sum < 0 for score in scores[0])
    for target in ("safetensors", "ctranslate2", "hf"):
        _leaves(model, tmp_path / target, target, made, kind)


def _leaves(model, out, target, made, kind):
    """What was trained goes to each program, or is refused."""
    if target == "hf" and kind == "nllb":
        assert "--encoder-normalize-before True" in refused("ctxmt", "export", model, out, "--to", target)
        return
    run("ctxmt", "export", model, out, "--to", target)
    if target == "hf":  # it comes back, with its context
        run("ctxmt", "import", out, out := out.with_name("back"))
    assert Translator.load(out, device="cpu").loaded.task.options["target_context"] == 1
    ours = scores_of(out, made.text)
    for one, other in zip(ours, scores_of(model, made.text), strict=True):
        assert one == pytest.approx(other, abs=1e-4)
