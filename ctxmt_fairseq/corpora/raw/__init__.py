"""Readers of the formats in which corpora are distributed. What they read is hostile until checked."""
