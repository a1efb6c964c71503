"""What a worker of the loader sends: each tensor is an open file and a mapping of memory, so they are few."""

import io
from multiprocessing.reduction import ForkingPickler

import pytest
import torch

from tests.helpers.steps import SYSTEMS, build, dataset


def sent(batch):
    """How many tensors a batch is sent as."""
    found = []

    class Counting(ForkingPickler):
        def reducer_override(self, value):
            if isinstance(value, torch.Tensor):
                found.append(value)
                return list, ()
            return NotImplemented

    Counting(io.BytesIO()).dump(batch)
    return len(found)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", SYSTEMS)
def test_tensors_are_as_many_in_batches_of_any_size(name, training):
    task, _ = build(name)
    task.request.exchanges = 2  # what the margin loss compares, in validation
    examples = dataset(task, documents=10)
    examples.training = training
    batches = [examples.collater([examples[line] for line in range(3, last)]) for last in (5, 75)]
    few, many = map(sent, batches)
    assert few == many <= (12 if training else 24)
    assert [len(each) for each in batches[1]["parts"].current] == [
        len(examples.source[line]) for line in batches[1]["id"]
    ]
