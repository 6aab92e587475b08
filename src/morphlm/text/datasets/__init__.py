"""Text to learn from: data sets fetched by name, made by a program, or cut from files of one's own.

Each becomes a folder of `train`, `dev` and `test` files in one language or two, with a description of its origin.
"""

from morphlm.text.datasets.folder import DataFolder, read_folder
from morphlm.text.datasets.registry import DATASETS, DataSet, get_dataset, list_datasets

__all__ = ["DATASETS", "DataFolder", "DataSet", "get_dataset", "list_datasets", "read_folder"]
