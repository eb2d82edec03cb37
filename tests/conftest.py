"""What all tests share: the profiles of hypothesis, and one thread for linear algebra.

"multibody" is the profile that runs; it draws the same examples every time. "all", of `make test-all`, draws twice as
many, and `pytest --hypothesis-profile=thorough` many new ones.
"""

import os

# Before NumPy is loaded. Our matrices are small: threads do not help, and workers that share the cores wait for them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from hypothesis import HealthCheck, settings

settings.register_profile(
    "multibody",
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("all", settings.get_profile("multibody"), max_examples=25)
settings.register_profile("thorough", settings.get_profile("multibody"), max_examples=1000, derandomize=False)
settings.load_profile("multibody")
