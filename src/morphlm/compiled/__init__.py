"""Compiled model files: any model as one file that is mapped and scored as it is, by Python and by `morphlm.hpp`."""
