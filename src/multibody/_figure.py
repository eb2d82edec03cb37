"""Figures that a notebook shows as the last expression of a cell, without pyplot."""

from io import BytesIO

from matplotlib import figure


class Figure(figure.Figure):
    """A figure of matplotlib with a picture for notebooks."""

    def _repr_png_(self) -> bytes:
        picture = BytesIO()
        self.savefig(picture, format="png")
        return picture.getvalue()
