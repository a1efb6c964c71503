"""The sentences of a split that exchange contexts in a validation."""

import numpy as np

from ctxmt_fairseq.data.exchange_partners import ExchangePartners
from tests.helpers.multi_source_models import dataset


def test_rows_that_fit_the_model_one_by_one_are_exchanged():
    """However many tokens they have together."""
    data = dataset(lengths=(6, 6), source_context=3)
    data.filter_indices_by_size(np.arange(12), (20, 40))
    assert (data.window_sizes.source > 20).sum() > 6
    found = ExchangePartners(data, 2).of(np.arange(12))
    assert (found["orders"][:, found["rows"]] != found["rows"]).all()
