"""One HTML page of what runs have found."""
