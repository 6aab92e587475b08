"""The documentation site: `make docs` builds it from the Markdown pages of this folder into `site/`.

Nothing on a page comes from another server. Warnings are errors; a link to a page or heading
that does not exist is one.
"""

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

from morphlm.version import __version__  # noqa: E402

project = "morphlm"
author = "the authors of morphlm"
project_copyright = "the authors of morphlm, Apache-2.0"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "notebooks", "python_reference", "root_pages"]
source_suffix = {".md": "markdown", ".ipynb": "markdown"}
exclude_patterns = ["_ext", "fragments"]
root_doc = "index"

# Headings have the anchors that GitHub gives them, so that links work there and here.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]
suppress_warnings = ["myst.header"]  # a root page that is included may begin with any level of heading

# Docstrings are Markdown of the simplest sort: python_reference.py turns them into what autodoc reads.
autodoc_inherit_docstrings = False  # a method that only overrides is described at its base
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
maximum_signature_line_length = 100
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"morphlm {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
smartquotes = False
html_show_sphinx = False
html_last_updated_fmt = None
html_theme_options = {"sidebar_hide_name": False, "navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
