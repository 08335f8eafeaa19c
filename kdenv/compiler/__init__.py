"""Compiled code: kernels and where their machine code is kept, questions answered by type, states, bits, random numbers."""
