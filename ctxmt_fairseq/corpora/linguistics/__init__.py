"""What is known of the words of a text: part of speech, lemma, gender, number, and what translates them."""
