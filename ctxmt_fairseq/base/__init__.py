"""What every other part needs, and what knows nothing of translation."""
