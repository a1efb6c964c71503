"""From what raw files hold to a corpus: pairs of sentences in documents, counted, written in order."""
