"""Probes how a model uses its context: it translates and scores one text in several contexts."""
