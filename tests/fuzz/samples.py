"""Good input of every kind, made by the commands themselves: what the fuzzer spoils."""

import contextlib
import io
import json
import logging
import os
import shutil
import struct
import zlib
from pathlib import Path
from unittest.mock import patch

import torch

from ctxmt_fairseq import register
from ctxmt_fairseq.cli.main import main
from tests.fuzz.commands import COMMANDS
from tests.fuzz.raw_corpora import raw_corpora

TIME = 1_700_000_000  # of every file: a journal knows checkpoint and data folder by their time
MODEL = (
    "--encoder-embed-dim 8 --encoder-ffn-embed-dim 8 --encoder-layers 1 --decoder-layers 1 "
    "--encoder-attention-heads 2 --decoder-attention-heads 2 --share-all-embeddings --optimizer sgd --lr 0.1 "
    "--criterion cross_entropy --cpu --max-tokens 200 --max-update 2 --save-interval-updates 1 "
    "--num-workers 0 --keep-interval-updates 2 --disable-validation --no-progress-bar --log-interval 9"
).split()
SENTENCES = 8  # lines of the text
CONTRAPRO = {
    "src segment": "It sank.",
    "ref segment": "Es sank.",
    "ref pronoun": "es",
    "document id": "film.de",
    "segment id": 2,
    "ante distance": 1,
    "intrasegmental": False,
    "errors": [{"contrastive": "Sie sank."}],
}
CONTRAWSD = {
    "source": "The bank.",
    "reference": "La rive.",
    "ambig word": "bank",
    "sense": "shore",
    "errors": [{"contrastive": "La banque."}],
}
SCAT_RECORD = {
    "en": "<p>It</p> sank.",
    "fr": "<p>Elle</p> a coul\u00e9.",
    "context_en": "The  <hon>boat<hoff> .",
    "context_fr": "La  <hon>barque<hoff> .",
    "has_supporting_context": True,
}
FORMAL = "[F]Vous[/F] chantez.\n[F]Votre[/F] chat dort.\nIl pleut.\n"
INFORMAL = "[F]Tu[/F] chantes.\n[F]Ton[/F] chat dort.\nIl pleut.\n"
ATTRIBUTES = [
    {
        "source": "I was tall.",
        "attributes": {"speaker": who, "formality": "formal"},
        "expected": {"speaker": [right]},
        "wrong": {"speaker": [wrong]},
        "context": ["I am a woman"],
    }
    for who, right, wrong in (
        ("feminine", "fatigu\u00e9e", "fatigu\u00e9"),
        ("masculine", "fatigu\u00e9", "fatigu\u00e9e"),
    )
]


FORM = {"id": "1", "expected": "elle", "phenomenon": "pronoun", "distance": 1, "reference": "Elle dort."}
CTXPRO = {"expected": "elle", "rule": "NOM.FEM", "ref segment": "Elle dort.", "ante distance": 1}
MARKS = {
    "source": {"words": [0], "support": {"-1": [0, 1]}},
    "target": {"words": [0], "support": {"-1": [1]}},
}

LOG = """{'_name': None, 'seed': 1, 'context_discount': 0.1, 'best_checkpoint_metric': 'loss'}
num. shared model params: 9,000 (num. trained: 9,000)
2026-01-01 00:00:00 | INFO | valid | epoch 001 | valid on 'valid' subset | loss 7.1 | ppl 99 | num_updates 4
2026-01-01 | INFO | train | {"epoch": 1, "train_loss": "8", "train_num_updates": "4", "train_train_wall": "2"}
{"epoch": 2, "valid_loss": "6.5", "valid_ppl": "70.25", "valid_num_updates": "8"}
"""


def write(name, content):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def quietly(function, *arguments):
    """Call it without its output."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return function(*arguments)


def ctxmt(*arguments):
    assert quietly(main, [str(argument) for argument in arguments]) == 0, arguments


def make_samples(folder):
    """Fill a folder with samples; returns content by file name.

    ``text.*`` is parallel text with metadata, ``data`` its data folder with the store ``data/contexts``,
    ``given`` BPE codes and dictionaries of it, ``pieces`` a data folder with a subword model, ``encoder`` a
    sentence encoder,
    ``model`` and ``mtcue`` hold checkpoints, ``foreign`` that of another program, which its dictionaries fit,
    ``alone`` is a model without pickle, ``converted`` one of CTranslate2;
    contrastive sets of every format, sets of ``ctxmt control``,
    what commands write for each other, ``out.partial``, the journal of ``ctxmt translate`` to ``out``, and
    ``evaluated``, an evaluation's folder.
    """
    with _inside(folder):
        _text()
        _sets()
        for name, content in raw_corpora().items():
            write(name, "")
            Path(name).write_bytes(content)
        languages = ("--source-lang", "en", "--target-lang", "fr")
        text = ("--train", "text", "--valid", "text")
        ctxmt("preprocess", *languages, *text, "--no-subwords", "--out", "data")
        _given(languages)
        ctxmt("preprocess", *languages, "--train", "text", "--vocab-size", 60, "--out", "pieces")
        _encoder()
        ctxmt("embed", "data", *text, "--encoder", "discrete")
        shutil.copy("tags.jsonl", "data/train.en-fr.tags.jsonl")
        window = ("--arch", "concat_transformer", "--source-context", "1", "--target-context", "1")
        train("model", "document_window", *window)
        metadata = ("--arch", "mtcue_transformer", "--source-context", "1")
        train("mtcue", "metadata_context", *metadata)
        ctxmt("export", "model/checkpoint_last.pt", "alone", "--to", "safetensors")
        ctxmt("export", "model/checkpoint_last.pt", "converted", "--to", "ctranslate2")
        _foreign()
        _results()
        _coreference()
        _files()
        _journal()
        shutil.rmtree("demo")
        logging.getLogger().handlers.clear()  # fairseq's; what is left writes to the stderr of the time
        return {str(path): path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


def _files():
    """Subtitles of two kinds, and a table."""
    cues = (
        "1\n00:00:01,000 --> 00:00:02,000\n<i>The cat\n",
        "2\n00:00:03,000 --> 00:00:04,500\nsleeps.</i>\n- No.\n",
    )
    write("film.srt", "\n".join(cues))
    head = "[Events]\nFormat: Layer, Start, End, Style, Text\n"
    write("film.ass", head + "Dialogue: 0,0:00:01.00,0:00:02.00,Default,{\\an8}It sleeps.\\NNo.\n")
    write("terms.tsv", "it\til\nthe cat\tle chat\n\nNo\tNon\n")
    write("table.tsv", "id\tsource\tdocument\n7\tThe cat sleeps.\ta\n8\tNo.\tb\n")


@contextlib.contextmanager
def _inside(folder):
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _text():
    sizes = f"--documents 6 --evaluation-documents 1 --examples 4 --document-length {SENTENCES // 2}"
    ctxmt("demo-corpus", "demo", *sizes.split())
    for suffix in ("en", "fr", "docids", "meta.jsonl"):
        lines = Path(f"demo/train.{suffix}").read_text(encoding="utf-8").splitlines(keepends=True)
        write(f"text.{suffix}", "".join(lines[:SENTENCES]))
    write("text.current", "0\n" + "1\n" * (SENTENCES - 1))
    write("text.meta.plot", "A plot.\n\n" * (SENTENCES // 2))
    english = Path("text.en").read_text(encoding="utf-8").splitlines()
    write("blank.en", "\n".join([*english[:4], "", *english[4:]]) + "\n")
    write("joined.en", "<eos> ".join(english[:3]) + "\n" + english[3] + "\n")
    records = [
        {"source": line, "document": "a", "current": bool(number)} for number, line in enumerate(english)
    ]
    write("lines.jsonl", "".join(json.dumps(record) + "\n" for record in records))
    ids = Path("text.docids").read_text(encoding="utf-8").splitlines()
    references = Path("text.fr").read_text(encoding="utf-8").splitlines()
    tags = ({"tags": [["pronouns"] for _ in line.split()]} for line in references)
    write("tags.jsonl", "".join(json.dumps(line) + "\n" for line in tags))
    write("weights", "".join(f"{'2.5 ' * len(line.split())}\n" for line in references))
    write("counts", "the (3/4) The (1)\nle (2/2)\n")
    write("few.docids", "".join(line + "\n" for line in ids))


def _given(languages):
    """``given/``: BPE codes, and dictionaries of text that they cut."""
    write("given/codes", "".join(f"{merge}\n" for merge in ("e r", "er </w>", "t h", "o u", "l e")))
    ctxmt("preprocess", *languages, "--train", "text", "--bpe-codes", "given/codes", "--out", "cut")
    for language in ("en", "fr"):
        Path(f"cut/dict.{language}.txt").rename(f"given/{language}.txt")
    shutil.rmtree("cut")


def _encoder():
    """``encoder/``: a sentence encoder of every module but the static one."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    letters = [chr(letter) for letter in range(ord("a"), ord("z") + 1)]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    write("vocab.txt", "".join(f"{word}\n" for word in words))
    sizes = dict(hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8)
    BertModel(BertConfig(len(words), max_position_embeddings=32, **sizes)).save_pretrained("bert")
    BertTokenizerFast("vocab.txt").save_pretrained("bert")
    modules = [Transformer("bert"), Pooling(8), Dense(8, 4), Normalize()]
    SentenceTransformer(modules=modules, device="cpu").save("encoder", create_model_card=False)
    shutil.rmtree("bert")
    Path("vocab.txt").unlink()


def _sets():
    for entry in json.loads(Path("demo/contrastive/sets.json").read_text(encoding="utf-8")):
        path = Path("demo/contrastive") / entry.get("path", entry["name"])
        found = next(each for each in Path("demo/contrastive").iterdir() if each.stem == path.stem)
        target = Path("sets") / entry["format"]
        if found.is_dir() and not target.exists():
            for file in found.iterdir():
                write(target / file.name, file.read_text(encoding="utf-8"))
        elif found.is_file():
            write(target.with_suffix(found.suffix), found.read_text(encoding="utf-8"))
    write("sets/contrawsd.json", json.dumps([CONTRAWSD]))
    write("sets/scat.json", json.dumps([SCAT_RECORD, SCAT_RECORD]))
    write("sets/contrapro.json", json.dumps([CONTRAPRO, {**CONTRAPRO, "segment id": 1}]))
    write("forms.jsonl", f"{json.dumps(FORM)}\n{json.dumps({**FORM, 'id': '2', 'distance': None})}\n")
    write("forms.json", json.dumps([CTXPRO, {**CTXPRO, "expected": "lui"}]))
    write("forms.hyp", "Elle dort.\nIl est l\u00e0.\n")
    write("forms.current", "1\n1\n")
    write("marks.jsonl", "".join(json.dumps({**MARKS, "line": line}) + "\n" for line in (2, 3)))
    write("documents/film.de", "Es sank.\nEs sank.\n")
    write("documents/film.en", "It sank.\nIt sank.\n")
    for name, content in (("formal", FORMAL), ("informal", INFORMAL)):
        write(f"{name}.fr", content)
        write(f"{name}.hyp", content.replace("[F]", "").replace("[/F]", ""))
    write("attributes.jsonl", "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in ATTRIBUTES))
    write("attributes.hyp", "J'\u00e9tais grande.\nJ'\u00e9tais grand.\n")
    sentences = {
        "speaker": {"feminine": "I am a woman", "masculine": "I am a man"},
        "formality": {"formal": ""},
    }
    write("sentences.json", json.dumps(sentences))
    write("labelled.tsv", "I am a woman\tfeminine\t1\nI am a man\tmasculine\t2.5\n")


def train(folder, task, *options):
    """Two updates, in this process."""
    from fairseq import options as parsing
    from fairseq.dataclass.utils import convert_namespace_to_omegaconf
    from fairseq_cli.train import main as fairseq_train

    register()
    arguments = ["data", "--task", task, *options, *MODEL, "--save-dir", folder]

    def run():
        args = parsing.parse_args_and_arch(parsing.get_training_parser(), input_args=arguments)
        fairseq_train(convert_namespace_to_omegaconf(args))

    quietly(run)
    for path in Path(folder).iterdir():
        if path.name not in ("checkpoint_last.pt", "checkpoint1.pt", "checkpoint2.pt"):
            path.unlink()
    best, last = (Path(folder) / f"checkpoint_{name}.pt" for name in ("best", "last"))
    best.write_bytes(last.read_bytes())


def _foreign():
    """A checkpoint as neulab/contextual-mt saves it: the same transformer, with <brk> between sentences."""
    state = torch.load("model/checkpoint_last.pt", weights_only=False)
    given = {"arch": "contextual_transformer", "source_lang": "en", "target_lang": "fr"}
    vars(state["cfg"]["model"]).update(given, source_context_size=1)
    Path("foreign").mkdir()
    torch.save(state, "foreign/checkpoint.pt")
    for language in ("en", "fr"):
        symbols = Path(f"data/dict.{language}.txt").read_text()
        Path(f"foreign/dict.{language}.txt").write_text(symbols.replace("<sep>", "<brk>"))


def _results():
    written = ("--examples", "examples.jsonl", "--json", "contrast.json")
    ctxmt("contrast", "model/checkpoint_last.pt", "sets/jsonl.jsonl", "--cpu", *written)
    write("run/train.log", LOG)
    references = ("--formal", "formal.fr", "--informal", "informal.fr")
    hypotheses = ("--formal-hypotheses", "formal.hyp", "--informal-hypotheses", "informal.hyp")
    eamt22 = {"english": "a", "polish": "b c", "context_csv": "<sp:feminine>,,<plural>,"}
    write("eamt22.json", json.dumps([eamt22]))
    lines = Path("text.en").read_text(encoding="utf-8").splitlines()
    words = [[{"text": line[:1], "start": 0, "end": 1, "pos": "X"}] if line.strip() else [] for line in lines]
    write("words.jsonl", "".join(json.dumps({"words": each}) + "\n" for each in words))
    write("eamt22.hyp", "b d\n")
    ratio = {"median": 1.5, "min": 1, "max": 2.0}
    measured = [{"name": "work", "ways": ["ours", "stock"], "ratio": ratio, "pairs": [[3, 2]]}]
    write("measured.json", json.dumps({"machine": "one core", "comparisons": measured}))
    write("setting.json", json.dumps({"count": 5, "kept": 10, "seed": 1}))
    ctxmt(
        "control", "formality", *references, *hypotheses, "--json", "result.json", "--setting", "setting.json"
    )
    write("prompts.tsv", "formal\tSir\ninformal\tMate\n")
    translated = "mtcue/checkpoint_last.pt --source formal.hyp --prompts prompts.tsv --json scores.json --cpu"
    ctxmt("control", "formality", *translated.split(), *references)
    ctxmt("evaluate", "model", "text", "sets/jsonl.jsonl", "--out", "evaluated", *"--cpu --beam 2".split())
    ctxmt(*"compare translations text.fr text.en text.fr --samples 100 --json compared.json".split())
    _picture()


def _coreference():
    """A pronoun of text.en, its annotation and alignment, and what CoreNLP would say of the text."""
    lines, ids = (Path(f"text.{name}").read_text(encoding="utf-8").splitlines() for name in ("en", "docids"))
    antecedent = {"line": 1, "span": [0, 1], "nominal": True}
    record = {"line": 2, "pronoun": [0, 1], "source": "corenlp", "antecedent": antecedent}
    write("coref.jsonl", json.dumps(record) + "\n")
    write("align", "0-0\n" * len(lines))
    write("words.jsonl", '{"words": []}\n' * len(lines))
    mentions = [
        {"sentNum": number, "startIndex": 1, "endIndex": 2, "type": kind}
        for number, kind in ((1, "NOMINAL"), (2, "PRONOMINAL"))
    ]
    for number, name in enumerate(dict.fromkeys(ids), 1):
        own = [line for line, document in zip(lines, ids, strict=True) if document == name]
        tokens = [{"tokens": [{"originalText": word, "pos": "NN"} for word in line.split()]} for line in own]
        write(f"corenlp/{number}.json", json.dumps({"sentences": tokens, "corefs": {"1": mentions}}))


def _picture():
    """Four dots as PNG."""
    parts = [b"\x89PNG\r\n\x1a\n"]
    header = struct.pack(">IIBBBBB", 2, 2, 8, 0, 0, 0, 0)
    for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(b"\0ab\0cd")), (b"IEND", b"")):
        parts += [struct.pack(">I", len(data)), kind, data, struct.pack(">I", zlib.crc32(kind + data))]
    Path("picture.png").write_bytes(b"".join(parts))


def _journal():
    """A translation that is interrupted after some sentences."""
    from ctxmt_fairseq.generation.document_translation import DocumentTranslator

    translate = DocumentTranslator.translate
    (journalled,) = (command for command in COMMANDS if command.name == "translate journal")
    for path in filter(Path.is_file, Path().rglob("*")):
        os.utime(path, (TIME, TIME))

    def interrupted(self, *arguments):
        for number, found in enumerate(translate(self, *arguments)):
            if number == 3:
                raise KeyboardInterrupt
            yield found

    before = set(Path().iterdir())
    with patch.object(DocumentTranslator, "translate", interrupted):
        code = quietly(main, journalled.arguments)
    assert code == 130 and len(set(Path().iterdir()) - before) >= 1
