"""``fairseq-interactive``: lines are consecutive sentences of one document, and an empty line ends it."""

import collections
from typing import Any, Deque, Dict, List, Optional

import numpy as np
import torch
from fairseq.data import LanguagePairDataset

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.data_folder import first_folder, language_token
from ctxmt_fairseq.corpora.subwords import WORD_START, Subwords, find_model
from ctxmt_fairseq.corpora.text_steps import TextSteps
from ctxmt_fairseq.tasks.search.current_sentence import Hypothesis
from ctxmt_fairseq.tasks.search.running_document import RunningDocuments
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.symbols import SEPARATOR


class SteppedTokenizer:
    """The tokenizer of fairseq's commands: the data folder's text steps, then one of fairseq's own."""

    def __init__(self, cfg: Any, tokenizer: Optional[Any] = None):
        folder = first_folder(cfg.data)
        self.source = TextSteps.load(folder, cfg.source_lang)
        self.target = TextSteps.load(folder, cfg.target_lang)
        self.tokenizer = tokenizer

    def encode(self, text: str) -> str:
        """Turn a source sentence into what the subwords' model reads."""
        text = self.source.apply(text)
        return text if self.tokenizer is None else self.tokenizer.encode(text)

    def decode(self, text: str) -> str:
        """Turn a translation into what users read."""
        text = text if self.tokenizer is None else self.tokenizer.decode(text)
        return self.target.undo(text)


class FolderPieces:
    """The subwords (``--bpe``) of fairseq's commands: the data folder's SentencePiece models."""

    def __init__(self, source: Subwords, target: Subwords):
        self.source, self.target = source, target

    @classmethod
    def of(cls, cfg: Any) -> Optional["FolderPieces"]:
        """Find the models of the folder and the languages that a task names; None: there are none."""
        folder = first_folder(cfg.data)
        sides = [
            (find_model(folder, language), None, language_token(folder, language))
            for language in (cfg.source_lang, cfg.target_lang)
        ]
        return cls(*(Subwords(*side) for side in sides)) if any(model for model, *_ in sides) else None

    def encode(self, text: str) -> str:
        """Cut a source sentence into pieces, joined by spaces, unless it is cut already."""
        return text if WORD_START in text else self.source.encode(text)

    def decode(self, text: str) -> str:
        """Join a translation's pieces to words, unless ``--remove-bpe`` has done so already."""
        return self.target.decode(text) if WORD_START in text else text


class OneByOneDataset(LanguagePairDataset):
    """Sentences in input order, one in a batch, because each may need the translation of the one before."""

    def ordered_indices(self):
        return np.arange(len(self))

    def batch_by_size(self, indices, *limits, **named_limits):
        return [indices[at : at + 1] for at in range(len(indices))]

    def filter_indices_by_size(self, indices, max_sizes):
        return indices, []


class InteractiveDocument:
    """The document typed so far, of which fairseq-interactive gives the task one sentence alone, as far as it
    is context of the next sentence."""

    def __init__(self, task: Any):
        self.task = task
        self.typed: Deque[str] = collections.deque()  # lines that are not translated yet
        self._begin()

    def _begin(self) -> None:
        self.texts: List[str] = []
        self.sources: List[torch.Tensor] = []
        self.targets: List[torch.Tensor] = []
        self.forgotten = 0  # sentences before these

    def translate(self, generator: Any, models: List[Any], sample: Dict[str, Any]) -> List[List[Hypothesis]]:
        """Translate one sentence (1, S); an empty one ends the document and has no hypothesis."""
        dictionary, source = self.task.src_dict, sample["net_input"]["src_tokens"][0].cpu()
        source = source[source != dictionary.pad()]
        # Tokens do not say what the dictionary lacks, nor what steps change; fairseq's hub has them alone.
        text = self.typed.popleft() if self.typed else dictionary.string(source)
        if len(source) == 1:
            self._begin()
            return [[]]
        if self.task.context_options().context_selection == "reference":
            raise BadInput("--context-selection reference needs references, which a dialogue does not have")
        if self.task.reach:
            raise BadInput(
                "--keep-sentence first: expected the sentence after it, which a dialogue does not have"
            )
        # A separator that was typed is not the end of a sentence.
        source = source.masked_fill(source == dictionary.index(SEPARATOR), dictionary.unk())
        self.texts.append(text)
        self.sources.append(source)
        line = len(self.sources) - 1
        running = RunningDocuments(
            self.task,
            self.sources,
            Documents.from_lengths([len(self.sources)]),
            [*self.targets, torch.empty(0, dtype=torch.long)],
            self.task.limits(models),
            contexts=self.task.contexts_of_typed(self.texts, str(sample["net_input"]["src_tokens"].device)),
        )
        running.before = self.forgotten
        hypotheses = running.translate(generator, models, [line], self.task.window_count)[line]
        self.targets.append(running.targets[line])
        more = max(0, len(self.sources) - self.task.context_options().reach)
        self.forgotten += more
        del self.texts[:more], self.sources[:more], self.targets[:more]
        return [hypotheses]
