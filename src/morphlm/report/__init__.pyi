"""The public names of reports and pictures; each is imported when it is first used."""

from .document import WrittenReport as WrittenReport
from .document import make_report as make_report
from .explorer.launch import explore as explore
from .explorer.operations import Explorer as Explorer
from .pictures import figure_of as figure_of
from .pictures import picture_svg as picture_svg
from .pictures import save_picture as save_picture
