"""``--to hf``: fairseq's post-norm transformer and ``concat_transformer`` as transformers' ``MarianMTModel``.

Its layers are the same, and its positions are a table in the file. So any of ours fit, but what tells the
sentences of a window apart does not.
"""

import json
import re
from pathlib import Path
from typing import Any, List, Sequence

import torch
from torch import Tensor

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.extras import import_of_extra
from ctxmt_fairseq.corpora.data_folder import description_of, language_token
from ctxmt_fairseq.corpora.subwords import find_model
from ctxmt_fairseq.data.context_options import flag
from ctxmt_fairseq.generation.exported_models import Target, Trained, check_layers, positions_table
from ctxmt_fairseq.text.symbols import SEPARATOR

_PROGRAM = "Marian of transformers"
_ACTIVATIONS = ("relu", "gelu", "swish")  # called the same there
_WITHOUT = ("encoder_normalize_before", "decoder_normalize_before", "layernorm_embedding")
_SIDES, _SIZES = ("encoder", "decoder"), ("layers", "attention_heads")
_NEVER = -1e9  # the logit of rows without a symbol


class HuggingFace(Target):
    """Needs the extra ``hf``."""

    loads = False
    library = "transformers"
    usage = """With transformers (and SentencePiece):

```python
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("{name}")
model = AutoModelForSeq2SeqLM.from_pretrained("{name}")
inputs = tokenizer("The sentence before. <sep> A sentence.", return_tensors="pt")
print(tokenizer.decode(model.generate(**inputs, num_beams=5)[0], skip_special_tokens=True))
```
A window is the sentences of its context and the current one with ` <sep> ` between them, as many as "context"
above says; without context it is the sentence alone. With target context the translation of the current
sentence stands behind the last `<sep>` of the output. Words such as `<sep>` and `</s>` are read as symbols.
If the training's data folder had the text step `spaces`, as `ctxmt preprocess` makes it, the model knows
no-break spaces (U+00A0, U+202F) and ideographic ones (U+3000) as the signs U+FDD0, U+FDD1 and U+FDD2 with
a blank behind them: put these in before, and take them out of the translation.
A model of several target languages wants `>>LANGUAGE<<` before each sentence, as in OPUS-MT.

The positions are fairseq's. `save_pretrained` of transformers leaves them out of its files, unless
`model._keys_to_ignore_on_save = None` was set before.
"""

    def write(self, model: Trained, folder: Path) -> None:
        transformers = import_of_extra("transformers", "hf", "--to hf needs transformers")
        network, task = model.loaded.model, model.loaded.task
        check_layers(model, _PROGRAM, _ACTIVATIONS, _WITHOUT)
        _check(network, task, model.folder)
        sides = task.source_dictionary, task.target_dictionary
        rows = [_rows(dictionary) for dictionary in sides]
        hub = _model(transformers, network, rows)
        hub._keys_to_ignore_on_save = None  # else it leaves out the positions
        hub.save_pretrained(folder)
        numbers = [
            {dictionary[row]: number for number, row in enumerate(order)}
            for dictionary, order in zip(sides, rows, strict=True)
        ]
        separate = numbers[0] != numbers[1]
        vocabularies = [folder / "vocab.json", folder / "target_vocab.json"][: 1 + separate]
        for file, content in zip(vocabularies, numbers, strict=False):
            file.write_text(json.dumps(content), encoding="utf-8")
        source, target = model.loaded.languages
        tokenizer = transformers.MarianTokenizer(
            *(str(find_model(model.folder, language)) for language in (source, target)),
            *map(str, vocabularies),
            source_lang=source,
            target_lang=target,
            separate_vocabs=separate,
            model_max_length=hub.config.max_position_embeddings,
            clean_up_tokenization_spaces=False,
        )
        separator = transformers.AddedToken(SEPARATOR, lstrip=True, rstrip=True, normalized=False)
        tokenizer.add_tokens([separator])
        tokenizer.save_pretrained(folder)


def _check(network: Any, task: Any, folder: Path) -> None:
    """Refuse by name what the model or its tokenizer cannot do."""
    args, options = network.args, task.options
    if args.decoder_embed_dim != args.encoder_embed_dim:
        raise BadInput(f"--decoder-embed-dim: {_PROGRAM} has one dimension for all embeddings")
    kind = getattr(network.encoder.embed_positions, "kind", "none")
    if kind != "none":
        raise BadInput(f"--segment-positions {kind}: {_PROGRAM} cannot tell the sentences of a window apart")
    windows = {"no_separator": False, "context_end": "separator", "target_context_on_source": 0}
    for name, usual in windows.items():
        if options.get(name, usual) != usual:
            raise BadInput(f"{flag(name)} {options[name]}: its tokenizer has windows with {SEPARATOR} alone")
    for step in description_of(folder).get("text_steps", []):
        if step["step"] != "spaces":  # ``usage`` says what is to be done
            raise BadInput(f"text step {step['step']}: its tokenizer knows SentencePiece alone", folder)
    source, target = task.cfg.source_lang, task.cfg.target_lang
    for language, pattern in ((source, r"(>>.+<<)?"), (target, "")):
        token = language_token(folder, language)
        if not re.fullmatch(pattern, token):
            has = "its tokenizer has >>LANGUAGE<< of the source alone"
            raise BadInput(f"language token {token}: {has}", folder)
        if not find_model(folder, language):
            raise BadInput(f"no SentencePiece model of {language}, which its tokenizer needs", folder)


def _rows(dictionary: Any) -> List[int]:
    """The numbers of symbols in a new order, where the separator has one place on both sides: a tokenizer has
    one number for each symbol that it looks for in text."""
    first = [*range(dictionary.nspecial), dictionary.index(SEPARATOR)]
    return [*first, *(number for number in range(len(dictionary)) if number not in first)]


def _model(transformers: Any, network: Any, rows: Sequence[List[int]]) -> Any:
    """The model with the symbols of the source and of the target in the order of ``rows``."""
    args, encoder, decoder = network.args, network.encoder, network.decoder
    tables = encoder.embed_tokens.weight, decoder.embed_tokens.weight, decoder.output_projection.weight
    size = max(map(len, rows))  # its two tables have as many rows
    length = min(encoder.max_positions(), decoder.max_positions())
    hub = transformers.MarianMTModel(
        transformers.MarianConfig(
            d_model=args.encoder_embed_dim,
            **{f"{side}_{name}": getattr(args, f"{side}_{name}") for side in _SIDES for name in _SIZES},
            **{f"{side}_ffn_dim": getattr(args, f"{side}_ffn_embed_dim") for side in _SIDES},
            **{name: getattr(args, name) for name in ("dropout", "attention_dropout", "activation_dropout")},
            activation_function=args.activation_fn,
            scale_embedding=not args.no_scale_embedding,
            vocab_size=size,
            decoder_vocab_size=size,
            share_encoder_decoder_embeddings=tables[0] is tables[1],
            tie_word_embeddings=tables[1] is tables[2],
            max_position_embeddings=length,
            bos_token_id=0,
            pad_token_id=1,
            eos_token_id=2,
            forced_eos_token_id=None,
            decoder_start_token_id=1 if getattr(args, "marian", False) else 2,
        )
    )

    def filled(table: Tensor, order: List[int], value: float = 0.0) -> Tensor:
        more = table.new_full((size - len(order), *table.shape[1:]), value)
        return torch.cat([table.detach()[order], more])

    made = {f"model.{name}": each for name, each in network.state_dict().items() if ".layers." in name}
    for name, side, table, order in zip(_SIDES, (encoder, decoder), tables, rows, strict=False):
        made[f"model.{name}.embed_tokens.weight"] = filled(table, order)
        made[f"model.{name}.embed_positions.weight"] = positions_table(side.embed_positions, length)
    if tables[0] is tables[1]:
        made["model.shared.weight"] = made["model.encoder.embed_tokens.weight"]
    made["lm_head.weight"] = filled(tables[2], rows[1])
    bias = decoder.output_projection.bias
    bias = torch.zeros(len(rows[1])) if bias is None else bias
    made["final_logits_bias"] = filled(bias, rows[1], _NEVER)[None]
    hub.load_state_dict(made)
    # As fairseq's search: no pad, and something behind the first token, which min_length counts.
    hub.generation_config.update(max_length=length, min_length=2, bad_words_ids=[[1]])
    return hub
