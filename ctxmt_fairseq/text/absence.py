"""Numbers that arrays of indices have where there is nothing to point to."""

# Instead of sentences of a window (``windows.Slots``), which are indices from 0.
NO_SENTENCE = -2  # the slot is free, because the document or the selection has no sentence for it
EMPTY_SENTENCE = -1  # a sentence without words

# Instead of rows of vectors (``SentenceContexts``, a context store), which are indices from 0.
NO_TEXT = -1  # nothing was embedded: the metadata is missing or says nothing, or sentences were left out
EMPTY_TEXT = 0  # is a row, too: that of the empty text

# Instead of distances (``MetadataContextDataset``), which are 1 and more for previous sentences.
NO_VECTOR = -2  # the place is free, because another example of the batch has more vectors
METADATA = -1
CURRENT = 0  # the current sentence's own vector

NO_TAG = -1  # of a vector that is no metadata; an unseen text has 0, those of the training have 1 and more
