"""Words of a translation that a sentence alone does not decide: finds them, and makes test sets of them."""
