"""What the families of Hugging Face's models share: their options, embeddings, symbols and languages.

A model of many languages becomes one of two, whose tokens stand before each of their sentences.
"""

import logging
import re
from difflib import get_close_matches
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

import torch
from fairseq.modules import SinusoidalPositionalEmbedding
from torch import Tensor

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.checkpoints.options import saved_options
from ctxmt_fairseq.corpora.data_folder import DESCRIPTION
from ctxmt_fairseq.corpora.subwords import Subwords
from ctxmt_fairseq.data.context_options import WindowOptions
from ctxmt_fairseq.generation.hub_folder import CONFIG, TOKENIZER, HubFolder
from ctxmt_fairseq.generation.imported_models import Family, Given, Parameters, Row
from ctxmt_fairseq.text.symbols import MASK
from ctxmt_fairseq.text.text_lines import read_bytes

logger = logging.getLogger(__name__)
Texts = Tuple[Dict[str, bytes], Dict[str, Any]]  # files and entries of the description, as ``Given`` has them
_SHOWN = 8
PIECES = "sentencepiece.bpe.model"
_ENCODER, _DECODER = (f"{side}.embed_tokens.weight" for side in ("encoder", "decoder"))
OUTPUT, _TIED = "decoder.output_projection.weight", ("shared.weight", "lm_head.weight")


class Languages(NamedTuple):
    """What the user says of a model's languages: their names (None: the model has two and says which), and
    what the model calls them (None: the same)."""

    source: Optional[str] = None
    target: Optional[str] = None
    source_token: Optional[str] = None
    target_token: Optional[str] = None


class HubFamily(Family):
    """The models of a class of transformers.

    Attributes:
        activations: its functions, and what they are called here.
        token: a language's token; language: a pattern of them; "": it has none.
        start: the symbol that its decoder begins with.
        tokenizer: how the name of its tokenizer's class begins.
        normalize_before, learned, layernorm_embedding: what all of its models have.
    """

    arch, task = "transformer", "document_window"
    names: Sequence[Tuple[str, str]] = (
        (r"^model\.", ""),
        (r"^(en|de)coder\.version$", ""),
        (r"^(.*embed_positions)\.weights$", r"\1.weight"),
    )
    activations = {"relu": "relu", "gelu": "gelu"}
    token = language = ""
    start = "</s>"
    tokenizer = ""
    normalize_before = learned = layernorm_embedding = False

    def read(self, folder: HubFolder, languages: Languages) -> Given:
        """Read a folder for ``import_model``."""
        config, said = folder.json(CONFIG), folder.json(TOKENIZER, optional=True)
        pair = {**config, **said}.get("langs") or [said.get("source_lang"), said.get("target_lang")]
        source, target = languages.source or pair[0], languages.target or pair[1]
        if not (isinstance(source, str) and isinstance(target, str)) or source == target:
            raise BadInput("give two languages, --source-lang and --target-lang", folder.path)
        if [source, target] == [*reversed(pair)]:
            raise BadInput(f"translates {target} to {source}, not {source} to {target}", folder.path)
        source, target = str(source), str(target)  # torch saves no other class
        options = {**self.sizes(folder), "arch": self.archs, "source_lang": source, "target_lang": target}
        parameters = folder.parameters()
        symbols = dict(zip(("source", "target"), self.vocabularies(folder), strict=True))
        added, own = _added(folder), set()
        for known in symbols.values():
            if len(known) not in added:
                known += self.languages_of(folder)
            while len(known) in added:
                known.append(str(added[len(known)]))
                own.add(known[-1])
        self._name_own(folder, own - {MASK})
        for key, symbol in (("eos_token_id", "</s>"), ("decoder_start_token_id", self.start)):
            if config.get(key) not in (None, symbols["target"].index(symbol)):
                folder.refuse(key)
        context = folder.json(DESCRIPTION, optional=True).get("context", {})
        options["context"] = saved_options(context, WindowOptions.travelling())
        files, described = self.text(folder, source, target)
        tokens = self.tokens(languages._replace(source=source, target=target), symbols["source"])
        described["language_tokens"] = {name: token for name, token in tokens.items() if token}
        return Given(folder.path, options, parameters, symbols, files, described)

    def _name_own(self, folder: HubFolder, added: Iterable[str]) -> None:
        """Warn of tokens that somebody gave a tokenizer: here text is cut without them."""
        own = sorted(token for token in added if not re.fullmatch(self.language, token))
        if own:
            said = "%s: its tokenizer has tokens of its own, which no text becomes here: %s"
            logger.warning(said, folder.path, ", ".join(own[:_SHOWN]))

    def sizes(self, folder: HubFolder) -> Dict[str, Any]:
        """The model's options."""
        config, found = folder.json(CONFIG), {}
        for side, text in (("encoder", "source"), ("decoder", "target")):
            for name in ("layers", "attention_heads"):
                found[f"{side}_{name}"] = folder.get(f"{side}_{name}", int)
            found[f"{side}_embed_dim"] = folder.get("d_model", int)
            found[f"{side}_ffn_embed_dim"] = folder.get(f"{side}_ffn_dim", int)
            found[f"{side}_normalize_before"] = self.normalize_before
            found[f"{side}_learned_pos"] = self.learned
            found[f"max_{text}_positions"] = folder.get("max_position_embeddings", int)
        for name in ("dropout", "attention_dropout", "activation_dropout"):
            found[name] = config.get(name)
        activation = folder.get("activation_function", str)
        if activation not in self.activations:
            folder.refuse("activation_function")
        return {
            **found,
            "activation_fn": self.activations[activation],
            "no_scale_embedding": not config.get("scale_embedding"),
            "layernorm_embedding": self.layernorm_embedding,
            **self.shares(folder),
        }

    def shares(self, folder: HubFolder) -> Dict[str, Any]:
        """The option that says which embeddings are one."""
        if folder.json(CONFIG).get("tie_word_embeddings", True) is not True:
            folder.refuse("tie_word_embeddings")
        return {"share_all_embeddings": True}

    def vocabularies(self, folder: HubFolder) -> Tuple[List[str], List[str]]:
        """The symbols of the source's and the target's rows, without languages."""
        raise NotImplementedError

    def languages_of(self, folder: HubFolder) -> List[str]:
        """The symbols behind those, where the folder does not say it."""
        return []

    def text(self, folder: HubFolder, source: str, target: str) -> Texts:
        """By what text becomes symbols."""
        return {"spm.model": read_pieces(folder, PIECES)}, {}

    def tokens(self, languages: Languages, symbols: List[str]) -> Dict[str, str]:
        """What stands before the sentences of each language; "": nothing."""
        of_sides = (self.token_of(side, languages, symbols) for side in ("source", "target"))
        return dict(zip(languages[:2], of_sides, strict=True))  # type: ignore[arg-type]

    def token_of(self, side: str, languages: Languages, symbols: List[str]) -> str:
        """The token of the source's or the target's language; "": the model has none."""
        given = getattr(languages, f"{side}_token")
        token = self.token.format(given or getattr(languages, side))
        known = [symbol for symbol in symbols if self.language and re.fullmatch(self.language, symbol)]
        if (known or given) and token not in symbols:
            has = "the model has no languages' tokens"
            if known:
                near = ", ".join(get_close_matches(token, known, 8, 0))
                has = f"expected one of its {len(known)}, such as {near}"
            raise BadInput(f"--{side}-token, {token or given}: {has}")
        return token if known else ""

    def symbols(self, symbols: List[str], rows: int) -> List[Row]:
        """Their own; one that no text has where a dictionary's file cannot hold it, or holds it already, and
        where rows are left over."""
        found: Dict[str, int] = {}
        for row, symbol in enumerate([*symbols, *[""] * (rows - len(symbols))]):
            writable = symbol.split() == [symbol] and not {"\0", "\ufeff"} & set(symbol)
            found[symbol if writable and symbol not in found else f"<unused{row}>"] = row
        return list(found.items())

    def context(self, options: Dict[str, Any]) -> Dict[str, Any]:
        """As ``ctxmt export`` has written it; without it: single sentences."""
        return options.get("context", {})

    def parameters(self, options: Dict[str, Any], parameters: Parameters) -> Parameters:
        made, shared = dict(parameters), options.get("share_all_embeddings")
        tables = {name: made.pop(name) for name in (*_TIED, _ENCODER, _DECODER, OUTPUT) if name in made}

        def only(*names: str) -> Tensor:
            found = {name: tables[name] for name in names if name in tables}
            if not found:
                raise BadInput(f"expected embeddings, {' or '.join(names)}")
            (one, table), *others = found.items()
            for other, same in others:
                if not torch.equal(table, same):
                    raise BadInput(f"{one} and {other}: expected the same numbers")
            return table

        every = (_TIED[0], _ENCODER, _DECODER, *_TIED[1:])
        made[_ENCODER] = only(*(every if shared else (_ENCODER,)))
        made[_DECODER] = made[OUTPUT] = only(*(every if shared else (_DECODER, OUTPUT, _TIED[1])))
        for side in ("encoder", "decoder"):
            made[f"{side}.version"] = torch.tensor([3.0])  # else fairseq drops the final layer norms
            table = None if self.learned else made.pop(f"{side}.embed_positions.weight", None)
            if table is not None and not torch.allclose(table, self.sinusoids(*table.shape), atol=1e-3):
                raise BadInput(f"{side}.embed_positions: expected sinusoids")
        return made

    @staticmethod
    def sinusoids(positions: int, dimension: int) -> Tensor:
        """The class' table of positions."""
        return SinusoidalPositionalEmbedding.get_embedding(positions, dimension, 1)


def _added(folder: HubFolder) -> Dict[int, Any]:
    """The symbols by their numbers that a tokenizer has besides its subwords, as far as a folder says it."""
    said = folder.json(TOKENIZER, optional=True).get("added_tokens_decoder", {})
    if said:
        return {int(number): each["content"] for number, each in said.items()}
    listed = folder.json("tokenizer.json", optional=True).get("added_tokens", [])
    older = folder.json("added_tokens.json", optional=True)
    return {number: token for token, number in older.items()} | {
        each["id"]: each["content"] for each in listed
    }


def read_pieces(folder: HubFolder, name: str) -> bytes:
    """The content of a SentencePiece model."""
    Subwords(folder.file(name))  # to check it
    return read_bytes(folder.file(name))
