"""Models that CTranslate2 computes: they search and score behind the same windows as others.

Here is what such a folder says of a model, without parameters: the options and the task. fairseq's generator
keeps the settings of the search; the search itself is CTranslate2's.
"""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, Dict, List, Optional, Sequence, Tuple

import torch
from fairseq import tasks
from fairseq.data import data_utils
from fairseq.sequence_generator import SequenceGenerator
from torch import Tensor, nn

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.extras import import_of_extra
from ctxmt_fairseq.checkpoints.portable import CONVERTED, OPTIONS
from ctxmt_fairseq.checkpoints.reading import naming
from ctxmt_fairseq.checkpoints.shapes import LARGEST, shapes_only
from ctxmt_fairseq.data.context_options import flag
from ctxmt_fairseq.tasks.search.forced_prefix import forces_prefixes
from ctxmt_fairseq.text.json_files import Place, get
from ctxmt_fairseq.text.symbols import SEPARATOR
from ctxmt_fairseq.text.text_lines import file_digest

FACTOR = "￨"  # CTranslate2's, between a token and what else is embedded with it
PLACE = "p{}"  # such a factor: a place of ``SegmentPositions.places``
_MOST = 10_000  # parameters of a model
_END, PAD = "</s>", "<blank>"


def ctranslate2() -> Any:
    return import_of_extra("ctranslate2", "ctranslate2", "this model needs CTranslate2")


def symbols_of(dictionary: Any) -> List[str]:
    """A dictionary's symbols as CTranslate2 calls them."""
    return [PAD if symbol == dictionary.pad_word else symbol for symbol in dictionary.symbols]


def digest_of(folder: Path) -> str:
    """SHA-256 of what CTranslate2 reads in a folder."""
    return file_digest(folder / CONVERTED, folder / "config.json", *sorted(folder.glob("*_vocabulary.json")))


class ConvertedModel(nn.Module):
    """Takes the place of a model of fairseq's in an ensemble.

    Args:
        skeleton: the model without values, which knows how it reads its windows.
        translator: CTranslate2's.
        places: how many places of ``SegmentPositions`` have an embedding; 0: there are none.
    """

    def __init__(self, skeleton: Any, translator: Any, places: int):
        super().__init__()
        self.device_of_batches = nn.Parameter(torch.empty(0), requires_grad=False)
        self._skeleton = [skeleton]  # in a list, which hides its parameters
        self.translator, self.places = translator, places
        self.max_positions = skeleton.max_positions
        self.max_decoder_positions = skeleton.max_decoder_positions
        self.encoder, self.decoder = (  # what is asked of them besides computing
            SimpleNamespace(dictionary=side.dictionary) for side in (skeleton.encoder, skeleton.decoder)
        )
        self.sources, self.targets = (symbols_of(side.dictionary) for side in (self.encoder, self.decoder))
        self.numbers = {symbol: number for number, symbol in enumerate(self.targets)}
        self.separator = skeleton.decoder.dictionary.index(SEPARATOR)

    @property
    def search_class(self) -> Any:
        return ConvertedSearch

    def make_generation_fast_(self, **kwargs: Any) -> None:
        """Nothing could be faster."""

    def sources_of(self, net_input: Dict[str, Any]) -> List[List[str]]:
        """The source windows of a batch as CTranslate2 reads them."""
        tokens, encoder = net_input["src_tokens"], self._skeleton[0].encoder
        places = None
        if self.places:
            context = net_input.get("context")
            known = encoder.encode_context(context) if context is not None else None
            values, _ = encoder.row_values(tokens, known)
            with encoder.embed_positions.given(values):
                places = encoder.embed_positions.places(tokens)
            real = tokens.ne(encoder.padding_idx)
            if int((places * real).max()) >= self.places:
                raise BadInput("more source context than this folder was exported for: export it again")
        found = []
        for number, row in enumerate(tokens):
            at = row.ne(encoder.padding_idx).nonzero().flatten()
            words = [self.sources[token] for token in row[at].tolist()]
            if places is not None:
                factors = map(PLACE.format, places[number, at].tolist())
                words = [FACTOR.join(each) for each in zip(words, factors, strict=True)]
            found.append(words)
        return found

    def target_of(self, tokens: Sequence[int]) -> List[str]:
        """Target tokens without the end as CTranslate2 reads them."""
        positions = self._skeleton[0].decoder.embed_positions
        if getattr(positions, "kind", "none") != "none" and self.separator in tokens:
            raise BadInput("CTranslate2 computes this model's segment positions without target context alone")
        return [self.targets[token] for token in tokens]

    def scores(self, sources: List[List[str]], targets: List[List[str]]) -> List[List[float]]:
        """The log-probability of each token of targets, and of their end."""
        with naming(CONVERTED):
            scored = self.translator.score_batch(sources, targets, max_input_length=0)
        return [each.log_probs for each in scored]

    def log_probs(self, net_input: Dict[str, Any], rows: Tensor, target: Tensor) -> Tensor:
        """The log-probabilities (B, T) of targets (B, T), each of the source ``rows`` (B,) says."""
        sources, pad = self.sources_of(net_input), self._skeleton[0].decoder.padding_idx
        words = [self.target_of(row[row != pad].tolist()[:-1]) for row in target]
        scores = self.scores([sources[row] for row in rows.tolist()], words)
        return data_utils.collate_tokens([torch.tensor(row).double() for row in scores], 0.0)


class ConvertedSearch(SequenceGenerator):
    """CTranslate2's beam search in the place of fairseq's.

    CTranslate2 reads a forced prefix token by token: at once (``return_alternatives``) it would search
    sentence by sentence, and fix the first free token. It divides scores by the length of prefix and sentence
    when it chooses what to keep; the n-best list is ranked anew.
    """

    def __init__(self, models: Any, *args: Any, **kwargs: Any):
        super().__init__(models, *args, **kwargs)
        blocker = self.repeat_ngram_blocker
        for name, given in (("unkpen", self.unk_penalty), ("no_repeat_ngram_size", blocker is not None)):
            if given:
                raise BadInput(f"{flag(name)}: CTranslate2's search has no such option")
        self.converted = self.model.models[0]
        self.ends = [_END]
        if self.model.separator is not None:
            self.ends.append(self.converted.targets[self.model.separator])

    def generate(self, models: Any, sample: Dict[str, Any], **kwargs: Any) -> List[List[Dict[str, Any]]]:
        if kwargs.get("constraints") is not None:
            raise BadInput("--glossary: CTranslate2's search forces no terms")
        sources = self.converted.sources_of(sample["net_input"])
        prefixes: List[List[str]] = [[] for _ in sources]
        if forces_prefixes(self):
            prefixes = [self.converted.target_of(each.tolist()) for each in self.model.prefixes]
        found = self._search(sources, prefixes, self.min_len > 1)
        exact = self._rescored(sources, prefixes, found)
        rows = []
        for row, (prefix, hypotheses) in enumerate(zip(prefixes, found, strict=True)):
            each = [self._hypothesis(prefix, *one, exact.get((row, at))) for at, one in enumerate(hypotheses)]
            rows.append(sorted(each, key=lambda hypothesis: -hypothesis["score"]))
        return rows

    def _search(self, sources: Any, prefixes: Any, limited: bool) -> List[List[Tuple[List[str], Any]]]:
        """The hypotheses behind the prefixes, with their scores. CTranslate2 knows one least and one greatest
        length of a batch, prefixes included: a row with a hypothesis of another length is searched again
        alone. Where it is told what it may not write (``limited``), it raises the probabilities of all else:
        then there are no scores."""
        sizes = [len(prefix) for prefix in prefixes]
        room = self.model.max_decoder_positions() - 1 if forces_prefixes(self) else self.max_len - 1
        mosts = [min(int(self.max_len_b), room - size) for size in sizes]  # of each row alone
        most = min(mosts)
        with naming(CONVERTED):
            results = self.converted.translator.translate_batch(
                *(sources, prefixes),
                beam_size=self.beam_size,
                num_hypotheses=self.beam_size,
                length_penalty=self.len_penalty if self.normalize_scores else 0,
                min_decoding_length=min(sizes) + self.min_len if limited else 0,
                max_decoding_length=max(sizes) + most,
                suppress_sequences=[[PAD]] if limited else None,  # fairseq chooses none either
                max_input_length=0,
                return_scores=True,
                end_token=self.ends,  # either: of one translation both may be found, which counts as two
                return_end_token=True,
            )
        found = []
        for row, (result, size) in enumerate(zip(results, sizes, strict=True)):
            own = [words[size:] for words in result.hypotheses]
            longest = most - (mosts[row] > most)  # one that a batch mate may have cut off is none
            right = (self.min_len <= len(self._words(each)) <= longest for each in own)
            if (all(right) and not any(PAD in each for each in own)) or (limited and len(sources) == 1):
                scores = [None] * len(own) if limited else result.scores
                found.append([*zip(own, scores, strict=True)])
            else:
                found += self._search([sources[row]], [prefixes[row]], True)
        return found

    def _words(self, tokens: List[str]) -> List[str]:
        """A hypothesis without its end, which it lacks if it was cut off."""
        return tokens[:-1] if tokens and tokens[-1] in self.ends else tokens

    def _rescored(self, sources: Any, prefixes: Any, found: Any) -> Dict[Tuple[int, int], List[float]]:
        """The log-probabilities of the tokens where the search's sum does not do: of hypotheses without one,
        that were cut off before their end, or that are windows."""
        separator = self.converted.targets[self.converted.separator]
        places, texts, spans = [], [], []
        for row, hypotheses in enumerate(found):
            for at, (tokens, score) in enumerate(hypotheses):
                words, begin = self._words(tokens), len(prefixes[row])
                if score is None or words == tokens or separator in words:
                    places.append((row, at))
                    texts.append([*prefixes[row], *(token for token in tokens if token != _END)])
                    spans.append(slice(begin, begin + len(words) + 1))
        if not places:
            return {}
        scores = self.converted.scores([sources[row] for row, _ in places], texts)
        return {place: each[span] for place, each, span in zip(places, scores, spans, strict=True)}

    def _hypothesis(
        self, prefix: List[str], words: List[str], score: Any, exact: Optional[List[float]]
    ) -> Dict[str, Any]:
        """What fairseq's search would return."""
        tokens = [*map(self.converted.numbers.__getitem__, self._words(words)), self.eos]
        if exact is None:  # the search divides by the length with the prefix
            penalty = self.len_penalty if self.normalize_scores else 0
            exact = [score * (len(prefix) + len(tokens)) ** penalty / len(tokens)] * len(tokens)
        scores = torch.tensor(exact)
        total = scores.sum()
        return {
            "tokens": torch.tensor(tokens),
            "positional_scores": scores,
            "score": total / len(tokens) ** self.len_penalty if self.normalize_scores else total,
            "attention": torch.empty(0),
            "alignment": torch.empty(0),
        }


def load_converted(file: Path, state: Dict[str, Any], task: Any, device: torch.device) -> Tuple[Any, Any]:
    """The model of a folder, in a list, and its task.

    Args:
        file: CTranslate2's. state: what the folder says besides, as fairseq loads it.
        task: of the models before it; None: it is the first.
    """
    place, said = Place(file.with_name(OPTIONS)), state["extra_state"]
    places = get(place, said, "places", int)
    if digest_of(file.parent) != get(place, said, "digest", str):
        raise BadInput("truncated or damaged: not what ctxmt export has written", file)
    with naming(file):
        cfg = state["cfg"]
        task = task or tasks.setup_task(cfg.task, from_checkpoint=True)
        task.load_state_dict(state["task_state"])
        with shapes_only(LARGEST, _MOST):
            skeleton = task.build_model(cfg.model, from_checkpoint=True)
        translator = ctranslate2().Translator(
            *(str(file.parent), device.type),
            device_index=device.index or 0,
            inter_threads=1,
            intra_threads=torch.get_num_threads(),
        )
    return [ConvertedModel(skeleton, translator, places)], task
