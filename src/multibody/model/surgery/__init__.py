"""Operations on models: each function takes a model and returns a new one.

Coordinates belong to joints by name. If joints are added or removed, the others keep their meaning, but may have other
indices in q.
"""

from multibody._signatures import readable_names
from multibody.model.surgery.attach import attach, beside
from multibody.model.surgery.change import change
from multibody.model.surgery.lock import lock
from multibody.model.surgery.payload import payload
from multibody.model.surgery.remove import remove
from multibody.model.surgery.rename import rename
from multibody.model.surgery.scale import scale
from multibody.model.surgery.with_frame import with_frame
from multibody.model.surgery.with_parameters import with_parameters

__all__ = [
    "attach",
    "beside",
    "change",
    "lock",
    "payload",
    "remove",
    "rename",
    "scale",
    "with_frame",
    "with_parameters",
]

readable_names(__name__)
