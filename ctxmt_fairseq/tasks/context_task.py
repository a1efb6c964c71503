"""What the tasks share: options that are saved in the checkpoint, and batches that lose no sentence."""

import contextlib
import copy
import logging
import math
import os
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Type

from fairseq.data import data_utils
from omegaconf import OmegaConf

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.checkpoints.allowed import check_trainable
from ctxmt_fairseq.checkpoints.fairseq_fixes import mend_command
from ctxmt_fairseq.checkpoints.known_symbols import symbols_digest
from ctxmt_fairseq.checkpoints.options import arch_name, as_command_line, saved_options
from ctxmt_fairseq.checkpoints.reading import check_architecture
from ctxmt_fairseq.checkpoints.resumption import latest_loadable
from ctxmt_fairseq.corpora.data_folder import entry, first_folder, languages_of, load_dictionary
from ctxmt_fairseq.criterions.attention_regularisation import parse_layers
from ctxmt_fairseq.data.context_dataset import ContextDataset
from ctxmt_fairseq.data.context_exchange import exchange_rows, window_formats
from ctxmt_fairseq.data.context_format import ContextRequest
from ctxmt_fairseq.data.context_options import SIZES, ContextOptions, flag, given_options
from ctxmt_fairseq.data.windows import WindowBuilder
from ctxmt_fairseq.models.initialisation import check_computed, load_sentence_model
from ctxmt_fairseq.models.sizes import refused_by_fairseq
from ctxmt_fairseq.tasks.context_config import DECODINGS
from ctxmt_fairseq.tasks.decoding_task import DecodingTask, check_targets
from ctxmt_fairseq.tasks.folder_symbols import check_shards, check_symbols, known_symbols
from ctxmt_fairseq.tasks.interactive import SteppedTokenizer
from ctxmt_fairseq.tasks.splits import Split, check_one_shard, read_split, text_digests, warn_of_other_texts
from ctxmt_fairseq.tasks.training_needs import check_weighing, training_needs
from ctxmt_fairseq.text.symbols import add_symbols
from ctxmt_fairseq.vectors.sentence_contexts import SentenceContexts

logger = logging.getLogger(__name__)


class ContextTask(DecodingTask):
    """Base of the three tasks; a subclass names its options and its dataset.

    A checkpoint has the context options in its task state, so a model that was trained on windows of four
    sentences is evaluated on windows of four, unless the command line says otherwise.

    Attributes:
        dataset_class: the class of its datasets.
        options_class: the options of the context.
        evaluation_options: other options that an evaluation may give, each with an example of a value.
        provides: what a batch can hold for models besides fairseq's inputs.
        request: which of it the models read, and how.
        loaded_symbols: how many the two dictionaries have as files.
    """

    dataset_class: Type[ContextDataset]
    options_class: Type[ContextOptions] = ContextOptions
    evaluation_options: Dict[str, Any] = {"decoding": "window"}
    provides: Tuple[str, ...] = ()

    def __init__(self, cfg, src_dict, tgt_dict):
        self.loaded_symbols = len(src_dict), len(tgt_dict)
        for dictionary in (src_dict, tgt_dict):
            add_symbols(dictionary)
        super().__init__(cfg, src_dict, tgt_dict)
        self.saved_options: Dict[str, Any] = {}
        self.request = ContextRequest(self.provides)
        self._check()

    @classmethod
    def setup_task(cls, cfg, **kwargs):
        mend_command()
        folder = first_folder(cfg.data)
        if not folder.is_dir():
            raise BadInput("no such data folder", folder)
        if None in (cfg.source_lang or None, cfg.target_lang or None):
            cfg.source_lang, cfg.target_lang = languages_of(folder) or data_utils.infer_language_pair(folder)
            if cfg.source_lang is None:
                told = "no ctxmt.json and no names of files tell its languages"
                raise BadInput(f"{told}; fairseq's commands have --source-lang and --target-lang", folder)
        task = super().setup_task(cfg, **kwargs)
        check_shards(task)
        return task

    @classmethod
    def load_dictionary(cls, filename):
        return load_dictionary(filename)

    # ---- options ---------------------------------------------------------------------------------------

    reads_highlights = False

    def _check(self) -> None:
        if self.cfg.decoding not in DECODINGS:
            raise BadInput(f"--decoding: expected {' or '.join(DECODINGS)}, found {self.cfg.decoding!r}")
        if len(self.target_start) and self.cfg.decoding != "prefix":
            raise BadInput("--decoding: expected prefix, because the target language's token is forced")
        parse_layers(self.cfg.attention_layers)
        if not 0 <= self.cfg.attention_weight < math.inf:
            raise BadInput(f"--attention-weight {self.cfg.attention_weight}: expected 0 or more")
        if self.cfg.attention_weight and not self.reads_highlights:
            raise BadInput("--attention-weight needs --task document_window")
        multiple = self.cfg.required_seq_len_multiple
        if isinstance(multiple, int) and not 1 <= multiple <= 1024:  # else fairseq's, which it looks up
            raise BadInput(f"--required-seq-len-multiple {multiple}: expected 1 to 1024 tokens")
        options = self.context_options(training=True)
        if options.target_text_on_source and self.src_dict.symbols != self.tgt_dict.symbols:
            name = "target_context_on_source" if options.target_context_on_source else "context_selection"
            value = "" if options.target_context_on_source else f" {options.context_selection}"
            raise BadInput(f"{flag(name)}{value} needs a joined dictionary (ctxmt preprocess --joint)")

    def context_options(self, training: bool = False) -> Any:
        """The ``ContextOptions`` in use: the command line's, else the checkpoint's, else the defaults."""
        names = self.options_class.travelling()
        given = {name: getattr(self.cfg, name, None) for name in vars(self.options_class())}
        values = {name: value for name, value in given.items() if value is not None or name not in names}
        options = self.options_class(**{**self.saved_options, **values})
        return options if training else options.evaluated()

    @property
    def options(self) -> Dict[str, Any]:
        """The options that are saved in a checkpoint, with the values in use."""
        options = self.context_options()
        return {name: getattr(options, name) for name in options.travelling()}

    @property
    def writes_separators(self) -> bool:
        """Whether the models write target windows, or did so in their training."""
        return self.decodes_windows or self.saved_options.get("target_context", 0) > 0

    @classmethod
    def checked_options(cls, options: Mapping[str, Any]) -> Dict[str, Any]:
        """Check the options by which an evaluation differs from the checkpoint; leave out Nones."""
        return given_options(options, {**cls.options_class.travelling(), **cls.evaluation_options})

    def with_options(self, **options: Any) -> "ContextTask":
        """Copy this task with other context options; copies share dictionaries and the models' request."""
        task = copy.copy(self)
        task.cfg = copy.deepcopy(self.cfg)
        for name, value in self.checked_options(options).items():
            setattr(task.cfg, name, value)
        task._check()
        return task

    def state_dict(self) -> Dict[str, Any]:
        """What every checkpoint gets: the context options, which symbols the embeddings have, and digests of
        the text."""
        sides = {"source": self.src_dict, "target": self.tgt_dict}
        digests = {side: symbols_digest(dictionary.symbols) for side, dictionary in sides.items()}
        return {"context": self.options, "dictionaries": digests, "texts": text_digests(self.cfg)}

    @classmethod
    def saved(cls, task_state: Optional[Dict[str, Any]]) -> Dict[str, Any]:
        """Check and return the options in a checkpoint's task state."""
        return saved_options((task_state or {}).get("context", {}), cls.options_class.travelling())

    def load_state_dict(self, state_dict: Dict[str, Any]) -> None:
        """Take the options of a checkpoint to be evaluated; warn of windows larger than in its training."""
        self.check_origin(state_dict)
        saved = self.saved(state_dict)
        for name, value in saved.items():
            known = self.saved_options.get(name, value)
            if known != value and getattr(self.cfg, name, None) is None:
                raise BadInput(f"{flag(name)}: the checkpoints have {known} and {value}; choose a value")
        new = {name: value for name, value in saved.items() if name not in self.saved_options}
        self.saved_options.update(saved)
        self._check()
        for name in SIZES:
            value = self.options[name]
            if value > new.get(name, value):
                logger.warning(
                    "%s %d: the model was trained with %d; windows larger than in training often make the "
                    "translation much worse", flag(name), value, new[name]
                )  # fmt: skip

    def check_origin(self, task_state: Dict[str, Any]) -> None:
        """Check that the parameters of a checkpoint are about the data folder's symbols, if both say so."""
        check_symbols(self, task_state.get("dictionaries"))
        self.check_inputs(task_state)

    def check_inputs(self, task_state: Dict[str, Any]) -> None:
        """Check that they are about what batches have besides symbols, also where symbols may be new."""

    def check_model(self, saved: Mapping[str, Any], cfg: Any) -> None:
        """Check that a model that takes over the parameters of a saved one computes the same."""
        check_computed(saved, cfg, arch_name(cfg))

    def check_resumed(self, task_state: Dict[str, Any]) -> None:
        """Check that a training goes on with the options of the context that it had so far; other text is
        named."""
        warn_of_other_texts(self.cfg, task_state.get("texts"))
        for name, value in self.saved(task_state).items():
            if self.options[name] != value:
                raise BadInput(
                    f"{flag(name)}: the training had {value} so far and has {self.options[name]} now; a new "
                    "training, with a --save-dir of its own, starts from the old one by --finetune-from-model"
                )

    @property
    def average_source_length(self) -> int:
        """The mean number of subwords of a training source sentence, as ``ctxmt preprocess`` measured it."""
        return entry(first_folder(self.cfg.data), "average_source_length")

    # ---- data ------------------------------------------------------------------------------------------

    def load_dataset(self, split: str, epoch: int = 1, combine: bool = False, **kwargs) -> None:
        # fairseq's evaluation commands pass the checkpoint's task_cfg: then even "train" is evaluated.
        training = split == self.cfg.train_subset and "task_cfg" not in kwargs
        languages = (self.cfg.source_lang, self.cfg.target_lang)
        paths = self.cfg.data.split(os.pathsep)
        folder = paths[(epoch - 1) % len(paths)] if training else paths[0]
        if combine:
            check_one_shard(folder, split, languages)
        options = self.context_options(training)

        def reading(folder: str) -> Tuple[Split, Any, Dict[str, Any]]:
            prefix = os.path.join(folder, f"{split}.{'-'.join(languages)}.")
            dictionaries = self.src_dict, self.tgt_dict
            read = read_split(prefix, languages, dictionaries, self.cfg.dataset_impl, options.reach == 0)
            if training:
                check_targets(read.target)
            needs = training_needs(options, self.cfg, prefix, read, self.tgt_dict) if training else {}
            return read, self.stored_contexts(split, folder, len(read.source)), needs

        read, contexts, needs = reading(folder)
        if training and split not in self.datasets:  # a fault of another folder is said now, not in its epoch
            for other in dict.fromkeys(paths):
                if other != folder:
                    reading(other)
        self.datasets[split] = self.build_dataset(
            split, read.source, read.target, read.documents, read.current, training, contexts, **needs
        )

    def build_dataset(self, split, source, target, documents, current, training, contexts=None, **needs):
        """Make a split's dataset; ``contexts`` is what a task reads besides tokens."""
        return self.dataset_class(
            source,
            self.src_dict,
            target,
            self.tgt_dict,
            WindowBuilder(documents, self.context_options(training), self.cfg.seed),
            self.request,
            current=current,
            training=training,
            left_pad_source=self.cfg.left_pad_source,
            left_pad_target=self.cfg.left_pad_target,
            pad_to_multiple=self.cfg.required_seq_len_multiple,
            name=split,
            **needs,
            **self.dataset_arguments(split, source, target, documents, training, contexts),
        )

    def dataset_arguments(self, split, source, target, documents, training, contexts) -> Dict[str, Any]:
        """Further arguments for ``dataset_class``."""
        return {}

    def exchange_context(self, sample, order):
        """Copy a batch with the context of row ``order[i]`` in row i (criterion ``context_margin``)."""
        return exchange_rows(sample, order, window_formats(self.cfg, self.src_dict, self.tgt_dict)[1])

    def stored_contexts(self, split: str, folder: str, sentences: int) -> Optional[SentenceContexts]:
        """Give what the data folder knows of a split's sentences besides their tokens; None: the task reads
        tokens alone. ``metadata_context`` overrides these three."""
        return None

    def contexts_of(
        self, sentences: Sequence[str], metadata: Sequence[Mapping[str, str]], device: str = "cpu"
    ) -> Optional[SentenceContexts]:
        """Give the same for new text: n source sentences and the metadata of each."""
        return None

    def contexts_of_typed(self, sentences: Sequence[str], device: str = "cpu") -> Optional[SentenceContexts]:
        """Give the same for sentences without metadata, which may be cut into subwords already."""
        return None

    def filter_indices_by_size(self, indices, dataset, max_positions=None, ignore_invalid_inputs=False):
        kept, left_out = dataset.filter_indices_by_size(indices, max_positions)
        if left_out and not (ignore_invalid_inputs or dataset.training):
            size = dataset.size(left_out[0])
            raise BadInput(
                f"{dataset.name}: line {dataset.lines[left_out[0]] + 1}: expected a sentence of at most "
                f"{max_positions} source and target tokens, found {size}; "
                "--skip-invalid-size-inputs-valid-test leaves it out"
            )
        if left_out:
            counts = (len(left_out), len(dataset))
            logger.warning("%s: %d of %d examples are too long and left out", dataset.name, *counts)
        return kept

    # ---- model --------------------------------------------------------------------------------------------

    def build_model(self, cfg, from_checkpoint=False):
        (check_architecture if from_checkpoint else check_trainable)(arch_name(cfg))
        args = as_command_line(cfg, from_checkpoint, getattr(self.cfg, "_name", None))
        # Of a checkpoint it is said which file does not fit.
        with contextlib.nullcontext() if from_checkpoint else refused_by_fairseq(arch_name(cfg)):
            model = super().build_model(args, from_checkpoint)
        if args is not cfg:  # what was built is what is saved
            OmegaConf.set_struct(cfg, False)
            cfg.clear()
            cfg.update(vars(args))
            OmegaConf.set_struct(cfg, True)  # as fairseq has it: old versions then have no None for the rest
        for layer in model.modules():
            if hasattr(layer, "can_use_fastpath"):  # fairseq 0.12.2's, which current torch refuses
                layer.can_use_fastpath = False
        self.request.adopt(model, arch_name(cfg))
        if self.cfg.eval_bleu:
            self.tokenizer = SteppedTokenizer(self.cfg, self.tokenizer)
        start, save_dir = self.cfg.sentence_checkpoint, getattr(args, "save_dir", None)
        # A training that goes on does so without it.
        gone = start and not os.path.exists(start) and save_dir and latest_loadable(Path(save_dir))
        if start and not (from_checkpoint or gone):
            load_sentence_model(model, start, known_symbols(self), self.check_inputs)
        if self.cfg.valid_contrast and not from_checkpoint:
            self.contrast = self.contrastive_validation(self, model)
        return model

    def build_criterion(self, cfg, **from_checkpoint):  # which fairseq 0.12.2 does not know
        criterion = super().build_criterion(cfg, **from_checkpoint)
        check_weighing(criterion, cfg, self.cfg)
        if getattr(criterion, "rdrop_alpha", 0) > 0 and self.request.format.kind:
            raise BadInput("--rdrop-alpha: expected 0; it repeats a batch without the context beside it")
        return criterion
