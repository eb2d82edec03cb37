"""Drawings and animations of systems, as textbooks have them; `mb.view.draw` and `mb.view.animate` lead here."""
