"""What a section of the report is."""

from __future__ import annotations

from dataclasses import dataclass

from morphlm.report.html import Markup, tag


@dataclass(frozen=True)
class PageSection:
    """A section of the report, with an entry in the table of contents."""

    identity: str
    title: str
    explanation: str  # what is shown and how to read it, in a few sentences
    body: Markup
    data: Markup | None = None  # what scripts draw

    def html(self) -> Markup:
        heading = tag("h2", self.title, id=f"{self.identity}-title")
        about = tag("div", heading, tag("p", self.explanation), class_="about")
        parts = (about, tag("div", self.body, class_="body"), self.data)
        return tag("section", parts, id=self.identity, class_="chapter", aria_labelledby=f"{self.identity}-title")
