"""Paired tests of the difference between systems, on what they translated or chose."""
