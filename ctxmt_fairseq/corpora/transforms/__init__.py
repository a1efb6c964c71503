"""Makes corpora from corpora, and scores their pairs."""
