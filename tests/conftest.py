"""What all tests share: the profiles of hypothesis.

"multibody" is the one that runs; it draws the same examples every time. `pytest --hypothesis-profile=thorough` draws
many new ones.
"""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "multibody",
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("thorough", settings.get_profile("multibody"), max_examples=1000, derandomize=False)
settings.load_profile("multibody")
