"""Translations of text in memory, for evaluations that translate the same sentences with several contexts."""

from typing import List, Mapping, Sequence

from ctxmt_fairseq.data.documents import Documents
from ctxmt_fairseq.generation.document_translation import DocumentTranslator


def translate_texts(
    translator: DocumentTranslator,
    sentences: List[str],
    documents: Documents,
    metadata: Sequence[Mapping[str, str]],
) -> List[str]:
    """The best translation of each of n source sentences.

    Args:
        documents: their boundaries.
        metadata: text by field for each sentence (task ``metadata_context``); under the field "" a text that
            is taken as it is, such as "Formal conversation". Other tasks read none of it.
    """
    loaded = translator.loaded
    sources = [loaded.encode_source(sentence) for sentence in sentences]
    running = translator.running(sources, documents, contexts=loaded.contexts_of(sentences, metadata))
    best = {line: nbest[0]["tokens"] for line, nbest in translator.translate(running, range(len(sources)))}
    return [loaded.decode_target(best[line]) for line in range(len(sources))]
