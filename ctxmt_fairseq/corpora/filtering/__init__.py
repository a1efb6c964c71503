"""The steps that select documents of a web crawl (the thesis, section 3.4)."""
