"""Everything that is measured of a trained model, in one folder: translations, scores and contrastive
sets."""
