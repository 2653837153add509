"""What is known beforehand: statements, what follows from them, what each licenses in a PAG, what became of each."""
