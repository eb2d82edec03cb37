"""The quadruped on its four feet, which tests of whole bodies share."""

import pytest

import multibody as mb


@pytest.fixture(scope="package")
def dog():
    return mb.load("quadruped")


@pytest.fixture(scope="package")
def feet(dog):
    return [mb.constraints.PointContact(name, name) for name in dog.frames if name.startswith("foot")]
