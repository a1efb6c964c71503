"""Hugging Face's models of translation, as families of models that can be imported."""

from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

import torch
from torch import Tensor

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.extras import import_of_extra
from ctxmt_fairseq.checkpoints.reading import naming
from ctxmt_fairseq.corpora.bpe_codes import SEPARATOR
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.generation.hub_family import OUTPUT, PIECES, HubFamily, Languages, Texts, read_pieces
from ctxmt_fairseq.generation.hub_folder import CONFIG, TOKENIZER, HubFolder
from ctxmt_fairseq.generation.imported_models import FAMILIES, Given, Parameters
from ctxmt_fairseq.models.blocks.marian import MarianPositions
from ctxmt_fairseq.text.text_lines import read_bytes

_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
_VOCABULARY = "vocab.json"
_GENERAL = ("PreTrainedTokenizer", "TokenizersBackend")  # classes of any tokenizer that tokenizer.json has


def read_folder(path: Path, languages: Languages) -> Given:
    """Read a model's folder for ``import_model``."""
    folder = HubFolder(path)
    kind = folder.get("model_type", str)
    if kind == "m2m_100" and not folder.has(_VOCABULARY):
        kind = "nllb"
    tokenizers = (folder.json(name, optional=True).get("tokenizer_class") for name in (TOKENIZER, CONFIG))
    tokenizer = str(next(filter(None, tokenizers), ""))
    if kind == "mbart" and tokenizer.startswith("MBart50"):
        kind = "mbart50"
    known = [name for name, each in FAMILIES.items() if issubclass(each, HubFamily)]
    if kind not in known:
        raise BadInput(f"model_type {kind}: expected one of {', '.join(known)}", path / CONFIG)
    family: Any = FAMILIES[kind]
    own = f"{family.tokenizer}Tokenizer"
    if tokenizer.removesuffix("Fast") not in ("", own, *_GENERAL):
        raise BadInput(f"tokenizer_class {tokenizer}: expected {own}, which cuts text as is known here", path)
    with naming(path):  # values may be anything
        return family().read(folder, languages)


@FAMILIES.register("marian")
class Marian(HubFamily):
    """OPUS-MT. The models of several target languages read the target's token before the source."""

    description = "Hugging Face's Marian (OPUS-MT)"
    archs = "marian"
    tokenizer = "Marian"
    arch = "concat_transformer"
    names: Sequence[Tuple[str, str]] = (
        *HubFamily.names,
        (r"^final_logits_bias$", "decoder.output_projection.bias"),
    )
    activations = {**HubFamily.activations, "swish": "swish", "silu": "swish"}
    token, language = ">>{}<<", r">>.+<<"
    start = "<pad>"

    def sizes(self, folder: HubFolder) -> Dict[str, Any]:
        if folder.get("d_model", int) % 2:
            folder.refuse("d_model")
        return {**super().sizes(folder), "marian": True}

    def shares(self, folder: HubFolder) -> Dict[str, Any]:
        shared = folder.json(CONFIG).get("share_encoder_decoder_embeddings", True) is True
        super().shares(folder)  # refuses what is not tied
        return {"share_all_embeddings": shared, "share_decoder_input_output_embed": True}

    def vocabularies(self, folder: HubFolder) -> Tuple[List[str], List[str]]:
        target = _VOCABULARY if self.shares(folder)["share_all_embeddings"] else "target_vocab.json"
        return _by_number(folder, _VOCABULARY), _by_number(folder, target)

    def text(self, folder: HubFolder, source: str, target: str) -> Texts:
        sides = {source: "source.spm", target: "target.spm"}
        return {f"spm.{language}.model": read_pieces(folder, name) for language, name in sides.items()}, {}

    def tokens(self, languages: Languages, symbols: List[str]) -> Dict[str, str]:
        if languages.source_token:
            raise BadInput("--source-token: the model has tokens of target languages alone")
        return {str(languages.source): self.token_of("target", languages, symbols)}

    def parameters(self, options: Dict[str, Any], parameters: Parameters) -> Parameters:
        made = super().parameters(options, parameters)
        bias = made.get("decoder.output_projection.bias", torch.zeros(1, len(made[OUTPUT])))
        return {**made, "decoder.output_projection.bias": bias.flatten()}

    @staticmethod
    def sinusoids(positions: int, dimension: int) -> Tensor:
        return MarianPositions.get_embedding(positions, dimension, -1)


@FAMILIES.register("m2m_100")
class M2M100(HubFamily):
    """Its symbols are those of a file, and then its languages."""

    description = "Hugging Face's M2M-100"
    archs = "m2m_100"
    tokenizer = "M2M100"
    token, language = "__{}__", r"__[a-z]{2,3}__"
    normalize_before = True

    def vocabularies(self, folder: HubFolder) -> Tuple[List[str], List[str]]:
        return _by_number(folder, _VOCABULARY), _by_number(folder, _VOCABULARY)

    def languages_of(self, folder: HubFolder) -> List[str]:
        codes = _codes("m2m_100")
        chosen = folder.json(TOKENIZER, optional=True).get("language_codes", "m2m100")
        if not isinstance(chosen, str) or chosen not in codes:
            folder.refuse("language_codes", TOKENIZER)
        return [*map(self.token.format, codes[chosen])]


@FAMILIES.register("nllb")
class NLLB(HubFamily):
    """The dense models. Symbols are the pieces of SentencePiece, behind fairseq's own, and the languages."""

    description = "NLLB"
    archs = "nllb"
    tokenizer = "Nllb"
    token, language = "{}", r"[a-z]{3}_[A-Z][a-z]{3}"
    normalize_before = True
    module = "nllb"

    def vocabularies(self, folder: HubFolder) -> Tuple[List[str], List[str]]:
        if folder.json(TOKENIZER, optional=True).get("legacy_behaviour"):  # languages behind the source
            folder.refuse("legacy_behaviour", TOKENIZER)
        model: Any = Subwords(folder.file(PIECES)).processor
        pieces = [model.id_to_piece(number) for number in range(3, model.get_piece_size())]
        return [*_SPECIAL, *pieces], [*_SPECIAL, *pieces]

    def languages_of(self, folder: HubFolder) -> List[str]:
        return [*_codes(self.module), "<mask>"]


@FAMILIES.register("mbart50")
class MBart50(NLLB):
    description = "mBART-50"
    archs = "mbart50"
    tokenizer = "MBart50"
    language = r"[a-z]{2}_[A-Z]{2}"
    learned = layernorm_embedding = True
    module = "mbart50"

    def parameters(self, options: Dict[str, Any], parameters: Parameters) -> Parameters:
        made = super().parameters(options, parameters)
        if made.pop("final_logits_bias", torch.zeros(1)).any():
            raise BadInput("final_logits_bias: expected zeros")
        return made


@FAMILIES.register("fsmt")
class FSMT(HubFamily):
    """fairseq's models of WMT19: Moses' words, cut by byte-pair encoding with the end of words marked."""

    description = "FSMT (fairseq's WMT19)"
    archs = "fsmt"
    tokenizer = "FSMT"

    def shares(self, folder: HubFolder) -> Dict[str, Any]:
        shared = folder.json(CONFIG).get("tie_word_embeddings") is True
        return {"share_all_embeddings": shared, "share_decoder_input_output_embed": True}

    def vocabularies(self, folder: HubFolder) -> Tuple[List[str], List[str]]:
        source, target = (_by_number(folder, f"vocab-{side}.json") for side in ("src", "tgt"))
        return [*map(_as_cut, source)], [*map(_as_cut, target)]

    def text(self, folder: HubFolder, source: str, target: str) -> Texts:
        lowercase = folder.json(TOKENIZER, optional=True).get("do_lower_case") is True
        steps: List[Dict[str, Any]] = [{"step": "lowercase"}] if lowercase else []
        steps += [{"step": "punctuation"}, {"step": "moses", "split_dashes": True}]
        steps += [{"step": "bpe", "codes": {source: "bpe.codes", target: "bpe.codes"}}]
        codes = b"#version: 0.2\n" + read_bytes(folder.file("merges.txt"))
        return {"bpe.codes": codes}, {"text_steps": steps}


def _by_number(folder: HubFolder, name: str) -> List[str]:
    """The symbols of a file, which has a number from 0 for each."""
    numbers = folder.json(name)
    wanted = set(range(len(numbers)))
    if not all(type(number) is int for number in numbers.values()) or {*numbers.values()} != wanted:
        raise BadInput("expected a number from 0 on for each symbol", folder.path / name)
    return sorted(numbers, key=numbers.__getitem__)


def _codes(module: str) -> Any:
    """The languages of a class, as transformers has them."""
    name = f"transformers.models.{module}.tokenization_{module}"
    return import_of_extra(name, "hf", "the tokens of languages need transformers").FAIRSEQ_LANGUAGE_CODES


def _as_cut(symbol: str) -> str:
    """A symbol as the step of byte-pair encoding writes it, which marks what is not the end of a word."""
    if symbol in _SPECIAL:
        return symbol
    return symbol.removesuffix("</w>") if symbol.endswith("</w>") else symbol + SEPARATOR
