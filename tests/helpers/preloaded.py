"""What commands of ours and of fairseq import or work out anew at every start: imported by the server of
``forked`` before it forks."""

import gc

import fairseq  # noqa: F401
import sacrebleu  # noqa: F401
import sentencepiece  # noqa: F401
import torch._dynamo  # noqa: F401  (by optimizers)
from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf

# Hydra's parser of options learns from what it reads.
_ARGUMENTS = options.parse_args_and_arch(options.get_training_parser(), ["data", "--arch", "transformer"])
convert_namespace_to_omegaconf(_ARGUMENTS)
gc.collect()
gc.freeze()  # no command searches these objects for garbage again
