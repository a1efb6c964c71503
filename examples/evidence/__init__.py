"""Systems trained on real text with several seeds, and what they make of context: ``run.sh``."""
