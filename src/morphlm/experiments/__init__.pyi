"""The public names of the experiments; each is imported when it is first used."""

from .calls import make_demo as make_demo
from .calls import preview_recipe as preview_recipe
from .calls import run_recipe as run_recipe
from .demo import DemoResult as DemoResult
from .recipe import Recipe as Recipe
from .recipe import load_recipe as load_recipe
from .recipe import recipe_names as recipe_names
from .reproduce import Preview as Preview
from .reproduce import Reproduction as Reproduction
