"""What is read line by line: sentences of documents, and what is known of them."""
