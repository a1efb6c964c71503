"""What a model makes of its context: one text, translated and scored with several contexts."""
