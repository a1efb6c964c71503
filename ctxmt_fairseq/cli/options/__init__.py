"""Options that several commands have, each with what is done with them."""
