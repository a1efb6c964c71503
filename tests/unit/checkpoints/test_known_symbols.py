"""Whether a checkpoint's embeddings are of the data folder's symbols, and what becomes of new symbols."""

import json
from types import SimpleNamespace

import pytest
import torch
from fairseq import options, tasks
from fairseq.data import Dictionary
from fairseq.dataclass.utils import convert_namespace_to_omegaconf

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.checkpoints.known_symbols import KnownSymbols, symbols_digest
from ctxmt_fairseq.corpora.preprocess import Corpus, preprocess
from ctxmt_fairseq.corpora.vocabulary import Vocabulary
from ctxmt_fairseq.models.initialisation import load_sentence_model
from ctxmt_fairseq.text.symbols import MASK, SEPARATOR
from tests.helpers.multi_source_models import make
from tests.helpers.random_models import build_random, saved
from tests.helpers.saved_models import TINY, as_old, data_folder, trained
from tests.helpers.window_datasets import VOCABULARY
from tests.unit.corpora.test_preprocess import write

SYMBOLS = ["a", "b", "c", "<sep>", "<mask>"]
FIRST = symbols_digest(SYMBOLS[:3])


@pytest.mark.parametrize(
    "rows, given, digest, ours, new",
    [
        (3, 3, None, False, 2),  # a stock checkpoint with the dictionary that the folder was given
        (5, 3, None, False, 0),  # trained on the folder itself, with any task
        (5, None, None, True, 0),  # ours, from a folder that counted its text, as always
        (5, None, symbols_digest(SYMBOLS), True, 0),
        (3, None, FIRST, True, 2),  # what the checkpoint says counts
        (4, 3, symbols_digest(SYMBOLS[:4]), True, 1),
        (5, None, None, False, None),  # as many symbols, of another folder as like as not
        (3, None, None, True, None),
        (4, 3, None, False, None),
        (6, 6, None, False, None),
        (6, 3, None, True, None),
        (5, 5, symbols_digest(SYMBOLS[::-1]), True, None),
        (3, 3, symbols_digest(SYMBOLS), True, None),
        (6, None, symbols_digest([*SYMBOLS, "d"]), True, None),
        (3, 3, 7, True, None),
    ],
)
def test_what_can_be_told(rows, given, digest, ours, new):
    known = KnownSymbols(SYMBOLS, given, "dict.en.txt")
    if new is None:
        with pytest.raises(BadInput, match="than the 5 in dict.en.txt: .*preprocess --like .* or --dict"):
            known.beyond(rows, digest, ours)
    else:
        assert known.beyond(rows, digest, ours) == SYMBOLS[5 - new :]


def stock(symbols, **more):
    """A stock model of the first symbols of the vocabulary."""
    dictionary = Dictionary()
    for symbol in VOCABULARY.symbols[4:symbols]:
        dictionary.add_symbol(symbol)
    task = SimpleNamespace(source_dictionary=dictionary, target_dictionary=dictionary)
    sizes = {"encoder_embed_dim": 128, "encoder_ffn_embed_dim": 256, "encoder_layers": 2, "decoder_layers": 2}
    heads = {"encoder_attention_heads": 4, "decoder_attention_heads": 4}
    return build_random("transformer", task, 11, **{**sizes, **heads, **more})


def known(symbols):
    return dict.fromkeys(("source", "target"), KnownSymbols(VOCABULARY.symbols, symbols, "dict.txt"))


@pytest.mark.parametrize(
    "case, sharing",
    [
        ("gated", None),
        ("context encoder", "share_all_embeddings"),
        ("concat_transformer", "share_all_embeddings"),
        ("transformer", "share_decoder_input_output_embed"),
    ],
)
def test_new_symbols_keep_their_first_embeddings_and_all_others_are_the_checkpoints(
    case, sharing, tmp_path, caplog
):
    old = len(VOCABULARY) - 2
    same = {sharing: True} if sharing else {}
    sentence, model = stock(old, **same), make(case, seed=2, **same)
    if case == "transformer":
        model = stock(len(VOCABULARY), **same)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with caplog.at_level("INFO", "ctxmt_fairseq.models.initialisation"):
        load_sentence_model(model, saved(sentence, tmp_path / "sentence.pt"), known(old))
    own, theirs = model.state_dict(), sentence.state_dict()
    for name in ("encoder.embed_tokens", "decoder.embed_tokens", "decoder.output_projection"):
        weight = own[f"{name}.weight"]
        assert torch.equal(weight[:old], theirs[f"{name}.weight"])
        assert torch.equal(weight[old:], before[f"{name}.weight"][old:]) and weight[old:].std() > 0.01
    assert all(
        torch.equal(own[name], theirs[name]) for name in theirs if own[name].shape == theirs[name].shape
    )
    for side in ("source", "target"):
        assert f"embeddings of 2 new {side} symbols initialised: <sep>, <mask>\n" in caplog.text
    tokens = torch.tensor([[9, 40, 17, 2]])
    with torch.no_grad():
        logits = [m(tokens, torch.tensor([4]), tokens)[0] for m in (sentence, model)]
    torch.testing.assert_close(logits[1][..., :old], logits[0], atol=1e-6, rtol=0)


def test_symbols_that_cannot_be_told_are_refused(tmp_path):
    path = saved(stock(len(VOCABULARY) - 2), tmp_path / "sentence.pt")
    for given in (None, len(VOCABULARY), 400):
        with pytest.raises(
            BadInput, match="sentence.pt: .*504 symbols, maybe other ones than the 506 in dict"
        ):
            load_sentence_model(make("gated"), path, known(given))
    with pytest.raises(BadInput, match="expected the shape"):
        load_sentence_model(make("gated"), path)
    state = torch.load(path, weights_only=True)
    for digests in (7, {}, {"source": symbols_digest(VOCABULARY.symbols[:504])}):
        torch.save({**state, "task_state": {"context": {}, "dictionaries": digests}}, path)
        with pytest.raises(BadInput, match="504 symbols, maybe"):
            load_sentence_model(make("gated"), path, known(None))


@pytest.mark.parametrize("case", ["gated", "concat_transformer"])
def test_learned_positions_are_taken_over_by_whatever_name(case, tmp_path):
    learned = dict(encoder_learned_pos=True, decoder_learned_pos=True, max_source_positions=40)
    sentence, model = stock(len(VOCABULARY), **learned), make(case, seed=2, **learned)
    load_sentence_model(model, saved(sentence, tmp_path / "sentence.pt"))
    positions = model.encoder.embed_positions
    positions = getattr(positions, "token_positions", positions)
    assert torch.equal(positions.weight, sentence.encoder.embed_positions.weight)
    back = stock(len(VOCABULARY), **learned)  # and from a model of ours to any other
    load_sentence_model(back, saved(model, tmp_path / "model.pt"))
    assert torch.equal(back.encoder.embed_positions.weight, positions.weight)
    with pytest.raises(
        BadInput, match=r"positions.weight: .*\(22, 128\), found \(42, .*--max-source-positions"
    ):
        load_sentence_model(
            make(case, **{**learned, "max_source_positions": 20}), str(tmp_path / "sentence.pt")
        )


@pytest.mark.parametrize("kind", ["learned", "sinusoidal", "shift", "flag"])
def test_segments_start_as_the_architecture_starts_them(kind, tmp_path, caplog):
    model = make("concat_transformer", seed=2, segment_positions=kind, segment_shift=7)
    table = {name: value.clone() for name, value in model.state_dict().items() if "segment_table" in name}
    with caplog.at_level("INFO", "ctxmt_fairseq.models.initialisation"):
        load_sentence_model(model, saved(stock(len(VOCABULARY)), tmp_path / "sentence.pt"))
    assert len([name for name in table if name.endswith("weight")]) == {"learned": 2, "flag": 1}.get(kind, 0)
    assert all(torch.equal(model.state_dict()[name], value) for name, value in table.items())
    assert f"{len(table)} parameters new: " in caplog.text


def task_of(folder, *arguments):
    command = [str(folder), "--source-lang", "en", "--target-lang", "fr", "--arch", "concat_transformer"]
    command += ["--task", "document_window", "--cpu", *TINY, *arguments]
    args = options.parse_args_and_arch(options.get_training_parser(), input_args=command)
    cfg = convert_namespace_to_omegaconf(args)
    task = tasks.setup_task(cfg.task)
    return task, lambda: task.build_model(cfg.model)


@pytest.fixture(scope="module")
def stock_checkpoint(tmp_path_factory):
    """Of fairseq's own task and architecture, on a folder with ten words; beside it one of old."""
    root = tmp_path_factory.mktemp("stock")
    state, args = trained(root, arch="transformer", task="translation")
    torch.save(state, root / "sentence.pt")
    torch.save(as_old(state, args), root / "old.pt")
    return root / "sentence.pt"


@pytest.mark.parametrize("name", ["sentence.pt", "old.pt"])
def test_a_folder_of_fairseq_preprocess(name, stock_checkpoint, tmp_path):
    path = str(stock_checkpoint.with_name(name))
    task, build = task_of(data_folder(tmp_path / "data"), "--sentence-checkpoint", path)
    assert len(task.src_dict) == 16 and task.src_dict.symbols[-2:] == [SEPARATOR, MASK]
    model, sentence = build(), torch.load(stock_checkpoint, weights_only=True)["model"]
    assert torch.equal(model.encoder.embed_tokens.weight[:14], sentence["encoder.embed_tokens.weight"])
    digest = symbols_digest(task.tgt_dict.symbols)
    assert task.state_dict()["dictionaries"] == {"source": digest, "target": digest}


def test_a_folder_of_ours(stock_checkpoint, tmp_path):
    given = data_folder(tmp_path / "given")
    text = write(tmp_path / "t", en=["a b c d"], fr=["e f g h i j"], docids="1")
    paths = {language: str(given / f"dict.{language}.txt") for language in ("en", "fr")}
    for name, dictionaries in (("given", paths), ("counted", {})):
        vocabulary = Vocabulary(subwords=False, dictionaries=dictionaries)
        preprocess(Corpus("en", "fr", {"train": text}), vocabulary, tmp_path / f"{name}-data")
        build = task_of(tmp_path / f"{name}-data", "--sentence-checkpoint", str(stock_checkpoint))[1]
        if name == "given":
            assert len(build().encoder.embed_tokens.weight) == 16
        else:
            with pytest.raises(BadInput, match="14 symbols, maybe other ones than the 16 in .*dict.en.txt"):
                build()


def test_a_checkpoint_of_ours_is_of_its_own_symbols(tmp_path):
    state, _ = trained(tmp_path)
    torch.save(state, tmp_path / "sentence.pt")
    start = ("--sentence-checkpoint", str(tmp_path / "sentence.pt"))
    task_of(tmp_path / "data", *start)[1]()
    lines = (tmp_path / "data" / "dict.en.txt").read_text().splitlines()
    (tmp_path / "data" / "dict.en.txt").write_text("\n".join(lines[::-1]) + "\n")
    with pytest.raises(
        BadInput, match="sentence.pt: the checkpoint has other symbols than the 16 in .*dict.en.txt"
    ):
        task_of(tmp_path / "data", *start)[1]()


def test_a_checkpoint_that_is_not_there_is_refused(tmp_path):
    _, build = task_of(data_folder(tmp_path / "data"), "--sentence-checkpoint", str(tmp_path / "gone"))
    with pytest.raises(BadInput, match="gone: no such checkpoint"):
        build()
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone/checkpoint.pt").touch()
    with pytest.raises(BadInput, match="gone: no such .*; that of the folder is .*gone/checkpoint.pt"):
        build()


def test_validation_with_bleu_undoes_the_text_steps(tmp_path):
    folder = data_folder(tmp_path / "data")
    (folder / "bpe.codes").write_text("a b\n")
    steps = [{"step": "bpe", "codes": {"en": "bpe.codes", "fr": "bpe.codes"}}]
    description = {"version": 1, "source_lang": "en", "target_lang": "fr", "splits": {}, "text_steps": steps}
    (folder / "ctxmt.json").write_text(json.dumps(description))
    task, build = task_of(folder, "--eval-bleu", "--eval-bleu-args", "{}")
    build()
    assert task.tokenizer.decode("c@@ d e") == "cd e"
