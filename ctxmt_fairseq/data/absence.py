"""What arrays of indices hold where there is nothing to point to."""

# Sentences of a window (``windows.Slots``), else an index from 0.
NO_SENTENCE = -2  # the slot is free: the document or the selection has no sentence for it
EMPTY_SENTENCE = -1  # a sentence of no words stands there

# Rows of vectors (``SentenceContexts``, a context store), else an index from 0.
NO_TEXT = -1  # nothing was embedded: the metadata is missing or says nothing, sentences were left out
EMPTY_TEXT = 0  # a row too: that of the empty text

# Distances of vectors (``MetadataContextDataset``), else 1 and more for previous sentences.
NO_VECTOR = -2  # the place is free: another example of the batch has more vectors
METADATA = -1
CURRENT = 0  # the current sentence's own

NO_TAG = -1  # of a vector that is no metadata; else 0 for an unseen text, 1 and more for those of training
