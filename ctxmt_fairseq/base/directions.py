"""Which of the values that a validation measures are better the higher they are."""


def highest_is_best(metric: str) -> bool:
    """Whether it is BLEU or a share of what is right; the others are losses, or say of what they are."""
    return metric in ("bleu", "accuracy") or metric.startswith("contrast_accuracy")
