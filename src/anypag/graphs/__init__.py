"""What is learned and reasoned about: marks, PAGs, MAGs and DAGs, separation, projection, validity, formats."""
