"""Sentences and metadata as vectors, and the store that holds them."""
