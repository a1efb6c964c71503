"""Corpora from corpora, and the scores of their pairs."""
