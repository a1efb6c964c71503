"""One HTML page with the results of several runs."""
