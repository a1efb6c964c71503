"""The task ``metadata_context``: context as vectors of sentences and metadata from a context store."""

import dataclasses
import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence

import numpy as np
from fairseq.tasks import register_task

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.checkpoints.options import shown
from ctxmt_fairseq.corpora.bpe_codes import SEPARATOR
from ctxmt_fairseq.corpora.data_folder import first_folder, split_digest
from ctxmt_fairseq.corpora.subwords import WORD_START, Subwords
from ctxmt_fairseq.corpora.text_steps import TextSteps
from ctxmt_fairseq.data.context_options import VectorOptions, explained, flag
from ctxmt_fairseq.data.metadata_context_dataset import MetadataContextDataset
from ctxmt_fairseq.tasks.context_config import TrainingConfig, config_of
from ctxmt_fairseq.tasks.context_task import ContextTask
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.metadata_text import is_prompt
from ctxmt_fairseq.text.text_lines import PathLike
from ctxmt_fairseq.vectors.context_store import ContextStore
from ctxmt_fairseq.vectors.sentence_contexts import SentenceContexts, contexts_of
from ctxmt_fairseq.vectors.text_encoders import TextEncoder, known_encoder

logger = logging.getLogger(__name__)

LEAST_CONTEXTS = 2.0  # for less, log2(L^2 - L), the scale that QK-norm starts from, is not positive


@dataclass
class StoreConfig(TrainingConfig):
    """The options of this task that concern no single sentence's context."""

    context_store: Optional[str] = explained(None, "folder that ctxmt embed wrote (default: DATA/contexts)")
    text_encoder: Optional[str] = explained(
        None, "encoder of the store, if neither minilm nor discrete (ctxmt embed --encoder)"
    )


MetadataContextConfig = config_of(VectorOptions, "MetadataContextConfig", __name__, StoreConfig)


def _checked_facts(store: Any) -> Dict[str, Any]:
    """Check what a checkpoint says of the training's store."""
    kinds = {"encoder": str, "dimension": int, "fields": list, "tags": list}
    facts = store if isinstance(store, dict) else {"store": store}
    for name, value in facts.items():
        texts = value if isinstance(value, list) else []
        if type(value) is not kinds.get(name) or not all(isinstance(text, str) for text in texts):
            raise BadInput(f"the checkpoint's context store: {shown(name)}: {shown(value)} is not expected")
    return facts


@register_task("metadata_context", dataclass=MetadataContextConfig)
class MetadataContextTask(ContextTask):
    """MTCue and its baselines: metadata, previous sentences and the current one are vectors.

    ``--source-context`` counts previous sentences. ``--target-context`` puts target sentences before the
    current one, as in ``document_window``.

    Attributes:
        vector_dimension: R of the store's vectors.
        contexts_per_sample: the 97.5th percentile of the number of vectors of a training sample, at least 2.
        tag_count: the rows of a table of tags, ``<unk>`` included.
    """

    dataset_class = MetadataContextDataset
    options_class = VectorOptions
    evaluation_options = {
        **ContextTask.evaluation_options,
        "context_store": "data-bin/contexts",
        "text_encoder": "minilm",
    }
    provides = ("vectors", "tags")

    def __init__(self, cfg, src_dict, tgt_dict):
        self.known: Dict[str, Any] = {}  # the training store's encoder, dimension, fields and tags
        self._stores: Dict[str, ContextStore] = {}
        self._encoders: Dict[Optional[str], TextEncoder] = {}  # by the user's name
        super().__init__(cfg, src_dict, tgt_dict)

    # ---- options ---------------------------------------------------------------------------------------

    def _check(self) -> None:
        super()._check()
        options = self.options
        for name in ("source_context_after", "target_context_on_source"):
            if options[name]:
                raise BadInput(f"{flag(name)} must be 0, because the store has previous source text alone")
        if options["context_selection"] in ("shuffled", "reference", "swapped"):
            raise BadInput(
                f"--context-selection {options['context_selection']}: expected document, random, empty or "
                "absent, because context is not only text here"
            )

    def state_dict(self) -> Dict[str, Any]:
        """What every checkpoint gets: the options, and what the training's store was."""
        return {**super().state_dict(), "store": self.known}

    def load_state_dict(self, state_dict: Dict[str, Any]) -> None:
        super().load_state_dict(state_dict)
        self.known.update(_checked_facts(state_dict.get("store", {})))

    def check_inputs(self, task_state: Dict[str, Any]) -> None:
        """Those are the vectors, or the tags, of the store."""
        saved = _checked_facts(task_state.get("store", {}))
        for name in self.known.keys() & saved.keys() - {"fields"}:
            if self.known[name] != saved[name]:
                raise BadInput(
                    f"--context-store: other {name} than in the training; name its store and fields"
                )

    def check_resumed(self, task_state: Dict[str, Any]) -> None:
        """Also check that it goes on with the metadata that it had so far."""
        super().check_resumed(task_state)
        has: List[str] = self.known.get("fields", [])
        had: List[str] = _checked_facts(task_state.get("store", {})).get("fields", has)
        if self._wanted_fields is None and set(had) != set(has):
            names = [", ".join(fields) or "none" for fields in (had, has)]
            raise BadInput(
                f"--context-store: the training had the metadata fields {names[0]} so far, and the store has "
                f"{names[1]} now; go on with the store of the training"
            )

    # ---- the store -------------------------------------------------------------------------------------

    def _store(self, folder: PathLike) -> ContextStore:
        """Open the store that belongs to a data folder."""
        path = self.cfg.context_store or os.path.join(folder, "contexts")
        if not os.path.isdir(path):
            raise BadInput("no such context store; --context-store names the one of ctxmt embed", path)
        if path not in self._stores:
            known = self.known.get("encoder"), self.known.get("dimension")
            self._stores[path] = ContextStore.open(path, encoder=known[0], dimension=known[1])
        return self._stores[path]

    @property
    def _folder(self) -> Path:
        return first_folder(self.cfg.data)

    def _training_contexts(self, folder: PathLike) -> SentenceContexts:
        """The training's contexts in a data folder; models must know some of them when they are built."""
        store = self._store(folder)
        split = store.header.splits.get(self.cfg.train_subset, {})
        return self._chosen(store.split(self.cfg.train_subset, split.get("sentences", 0)))

    def stored_contexts(self, split: str, folder: str, sentences: int) -> SentenceContexts:
        digests = [split_digest(folder, split, what) for what in ("source", "metadata")]
        contexts = self._store(folder).split(split, sentences, *digests)
        for name in self._wanted_fields or ():
            if name not in contexts.fields:
                fields = ", ".join(contexts.fields) or "none"
                raise BadInput(
                    f"--metadata-fields {name}: expected fields of the context store, which has {fields}"
                )
        return self._chosen(contexts)

    @property
    def _wanted_fields(self) -> Optional[List[str]]:
        """The fields that ``--metadata-fields`` names; None: all of them."""
        names = self.options["metadata_fields"]
        return None if names == "all" else [] if names == "none" else names.split(",")

    def _is_chosen(self, field: str) -> bool:
        """Whether ``--metadata-fields`` names this field, or it is a prompt."""
        wanted = self._wanted_fields
        return wanted is None or field in wanted or is_prompt(field)

    def _chosen(self, contexts: SentenceContexts) -> SentenceContexts:
        if self._wanted_fields is None:
            return contexts
        columns = [at for at, name in enumerate(contexts.fields) if self._is_chosen(name)]
        return dataclasses.replace(
            contexts,
            metadata=contexts.metadata[:, columns],
            fields=tuple(contexts.fields[column] for column in columns),
        )

    def contexts_of(
        self, sentences: Sequence[str], metadata: Sequence[Mapping[str, str]], device: str = "cpu"
    ) -> SentenceContexts:
        """Embed contexts of new text as in training; texts under the field "" stay as they are."""
        self._check_fields(list(dict.fromkeys(field for values in metadata for field in values)))
        metadata = [{name: values[name] for name in values if self._is_chosen(name)} for values in metadata]
        given = self.cfg.text_encoder
        if given not in self._encoders:
            known = self._know("encoder"), self.known.get("dimension")
            self._encoders[given] = known_encoder(*known, given, device)
        steps = TextSteps.load(self._folder, self.cfg.source_lang)
        sentences = [steps.surface(sentence) for sentence in sentences]
        return contexts_of(self._encoders[given], sentences, metadata)

    def _check_fields(self, given: Sequence[str]) -> None:
        """Refuse a chosen field that neither the training's store nor new text has; where none is chosen,
        warn of those that the store did not have."""
        if "fields" not in self.known:  # an older checkpoint
            return
        trained, wanted = self.known["fields"], self._wanted_fields
        for name in wanted or ():
            if name not in (*trained, *given):
                names = ", ".join(dict.fromkeys((*trained, *given))) or "none"
                raise BadInput(
                    f"--metadata-fields {name}: expected fields of the metadata, which has {names}"
                )
        new = [name for name in given if name not in trained and not is_prompt(name)]
        if new and wanted is None:
            logger.warning(
                "the model was trained without the metadata fields %s, and reads them all the same; "
                "--metadata-fields %s leaves them out",
                ", ".join(new),
                ",".join(trained) or "none",
            )

    def contexts_of_typed(self, sentences: Sequence[str], device: str = "cpu") -> SentenceContexts:
        subwords = Subwords.load(self._folder, self.cfg.source_lang)
        mark = WORD_START if subwords.processor else f"{SEPARATOR} "  # of a sentence that is cut already
        texts = [subwords.decode(text) if mark in text else text for text in sentences]
        return self.contexts_of(texts, [{}] * len(texts), device)

    # ---- what models are built from --------------------------------------------------------------------

    def _know(self, name: str) -> Any:
        """A fact about the training's store, from the checkpoint or from the store itself."""
        if "encoder" not in self.known:
            header = self._store(self._folder).header
            self.known.update(encoder=header.encoder, dimension=header.dimension, fields=list(header.fields))
        return self.known[name]

    @property
    def vector_dimension(self) -> int:
        return self._know("dimension")

    @property
    def contexts_per_sample(self) -> float:
        options = self.options
        contexts = self._training_contexts(self._folder)
        counts = (np.asarray(contexts.metadata) >= 0).sum(1)
        counts += options["current_vector"] == "yes"
        if options["source_context"]:
            languages = f"{self.cfg.source_lang}-{self.cfg.target_lang}"
            path = self._folder / f"{self.cfg.train_subset}.{languages}.docids"
            lines = np.arange(len(counts))
            starts, _ = Documents.read(path, len(counts)).bounds(lines)
            counts += np.minimum(lines - starts, options["source_context"])
        return max(LEAST_CONTEXTS, float(np.percentile(counts, 97.5)))

    @property
    def tag_count(self) -> int:
        if "tags" not in self.known:
            tags: Dict[str, None] = {}
            for folder in self.cfg.data.split(os.pathsep):
                contexts = self._training_contexts(folder)
                rows = np.unique(np.asarray(contexts.metadata))
                tags.update(dict.fromkeys(contexts.texts(rows[rows >= 0].tolist())))
            self.known["tags"] = list(tags)
        return 1 + len(self.known["tags"])

    def _tags(self, contexts: SentenceContexts) -> Optional[np.ndarray]:
        """Find the tag of every row of the vectors, 0 with a warning for texts that no training has had; None
        for models without tags."""
        if self.request.format.kind != "tags":
            return None
        numbers = {text: number for number, text in enumerate(self.known["tags"], 1)}
        tags = np.zeros(len(contexts.vectors), np.int32)
        rows = np.unique(np.asarray(contexts.metadata))
        rows = rows[rows >= 0]
        texts = contexts.texts(rows.tolist())
        tags[rows] = [numbers.get(text, 0) for text in texts]
        unknown = [text for text in texts if text not in numbers]
        if unknown:
            named = ", ".join(repr(text[:60]) for text in unknown[:3]) + ", ..." * (len(unknown) > 3)
            logger.warning("metadata without a tag of the model, which reads nothing there: %s", named)
        return tags

    # ---- data ------------------------------------------------------------------------------------------

    def dataset_arguments(self, split, source, target, documents, training, contexts):
        if contexts is None:
            raise BadInput(f"{split}: expected the contexts of the sentences, found none")
        return {"contexts": contexts, "tags": self._tags(contexts)}
