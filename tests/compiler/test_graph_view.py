"""A kernel's graph, to read and to look at; and the settings that kernels take from the configuration."""

import numpy as np
import pytest

import multibody as mb


@pytest.fixture
def kernel():
    return mb.compile(lambda x, k: k * np.sin(x[0]) + x[1] * x[2], 3, ())


def test_the_listing_has_a_line_for_every_operation(kernel):
    lines = str(kernel.graph).splitlines()
    assert [line.split(" = ")[1].split()[0] for line in lines[:-2]] == ["sin", "mul", "fma"]
    assert "x[0]" in lines[0]
    assert lines[-1] == "# 3 operations, 3 flops"
    assert sum(kernel.ops.values()) == 3


def test_the_dot_file_has_every_node_and_edge(kernel):
    text = kernel.graph.to_dot()
    block = kernel.graph.block
    assert text.count("label=") == len(block.order) + len(block.outputs)
    assert text.count("->") == sum(len(block.graph.args[k]) for k in block.order) + len(block.outputs)


def test_the_picture_is_drawn(kernel, tmp_path):
    kernel.graph.draw(tmp_path / "graph.png")
    assert (tmp_path / "graph.png").read_bytes().startswith(b"\x89PNG")


def test_a_large_graph_is_drawn_in_part(tmp_path):
    def long(x):
        for _ in range(600):
            x = np.cos(x) * x
        return x

    mb.compile(long, ()).graph.draw(tmp_path / "graph.png")
    assert (tmp_path / "graph.png").stat().st_size > 0


def test_the_configuration_sets_the_precision(monkeypatch):
    monkeypatch.setattr(mb.config, "dtype", "float32")
    assert mb.compile(lambda x: 2 * x, 3)(np.ones(3)).dtype == np.float32
    assert mb.compile(lambda x: 2 * x, 3, dtype=np.float64)(np.ones(3)).dtype == np.float64
    last, _ = mb.compile_scan(lambda x: (2 * x, None), 1)(np.ones(1), steps=3)
    assert last.dtype == np.float32
