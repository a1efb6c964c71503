"""The two symbols that the plugin adds to fairseq's dictionaries."""

SEPARATOR = "<sep>"  # ends every sentence of a window but the last
MASK = "<mask>"  # stands in for a source word that CoWord dropout removed


def add_symbols(dictionary) -> None:
    """Add the separator and the mask to a fairseq ``Dictionary`` that lacks them."""
    for symbol in (SEPARATOR, MASK):
        if symbol not in dictionary:
            dictionary.add_symbol(symbol)
