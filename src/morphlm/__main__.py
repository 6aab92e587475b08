"""`python -m morphlm` is the command `morphlm`."""

from morphlm.cli.main import run

run()
