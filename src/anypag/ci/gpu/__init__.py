"""A graphics card: CuPy behind `Card`, the code for cards (`passes.cu`), and passes over a matrix on the card."""
