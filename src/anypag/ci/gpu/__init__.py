"""A graphics card: CuPy behind `Card`, the CUDA C code, and passes over a matrix on the card."""
