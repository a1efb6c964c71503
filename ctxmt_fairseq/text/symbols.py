"""The symbols of dictionaries that are no text: the two that the plugin adds, and fairseq's own."""

SEPARATOR = "<sep>"  # ends every sentence of a window but the last
MASK = "<mask>"  # takes the place of a source word that CoWord dropout removes
SPECIAL_WORDS = frozenset(["<s>", "</s>", "<pad>"])  # fairseq's own; ``<unk>`` may be text, an unknown word


def add_symbols(dictionary) -> None:
    """Add the separator and the mask to a fairseq ``Dictionary`` that lacks them."""
    for symbol in (SEPARATOR, MASK):
        if symbol not in dictionary:
            dictionary.add_symbol(symbol)
