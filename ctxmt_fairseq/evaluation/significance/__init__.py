"""Whether a difference between systems means anything: paired tests on what they translated or chose."""
