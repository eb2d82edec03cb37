"""Small URDF texts to be spoiled: one thing at a time."""

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
LIMIT = '<limit lower="-1" upper="1" velocity="2" effort="3"/>'


def link(name: str, content: str = INERTIAL) -> str:
    return f'<link name="{name}">{content}</link>\n'


def joint(
    name: str, parent: str, child: str, *, kind: str = "revolute", content: str = '<axis xyz="0 0 1"/>' + LIMIT
) -> str:
    return (
        f'<joint name="{name}" type="{kind}"><origin xyz="0 0 1"/><parent link="{parent}"/><child link="{child}"/>'
        f"{content}</joint>\n"
    )


def robot(*parts: str, name: str = "r") -> str:
    return f'<robot name="{name}">\n{"".join(parts)}</robot>\n'


def arm(content: str = '<axis xyz="0 0 1"/>' + LIMIT, *, kind: str = "revolute", links: str = "") -> str:
    """A base, and a rod on one joint."""
    return robot(link("base"), link("rod"), joint("hinge", "base", "rod", kind=kind, content=content), links)


def chain(count: int) -> str:
    """A chain of so many moving links."""
    return robot(
        link("l0"), *(link(f"l{k}") + joint(f"j{k}", f"l{k - 1}", f"l{k}") for k in range(1, count + 1)), name="chain"
    )
