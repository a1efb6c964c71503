"""What a checkpoint may say, and how it is read; what is mended in fairseq."""
