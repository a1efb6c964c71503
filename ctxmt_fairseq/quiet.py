"""Keeps other libraries' debug messages out of our commands' stderr."""

import logging
import warnings


def quiet_libraries() -> None:
    """Show warnings only; else hydra, numba and matplotlib flood stderr.

    fairseq sets the root logger to DEBUG when it is imported, but only where nobody has set it up before.
    """
    logging.basicConfig()
    logging.getLogger().setLevel(logging.WARNING)
    for name in ("hydra", "numba", "matplotlib", "fairseq", "h5py", "umap", "sentence_transformers"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # a model that is not reachable is one line of ours, not one for each attempt
    logging.getLogger("huggingface_hub.utils._http").setLevel(logging.ERROR)
    # fairseq passes a boolean padding mask together with a float causal mask; torch warns once per process
    warnings.filterwarnings("ignore", "Support for mismatched key_padding_mask")
