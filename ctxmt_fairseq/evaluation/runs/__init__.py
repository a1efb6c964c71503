"""All that is measured of a trained model, in one folder: translations, scores, contrastive sets."""
