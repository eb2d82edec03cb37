"""Tags that name entries of the documents: what each stands for, and which are refused."""

import pytest

from multibody.textbook.equation_tags import TagError, expand, find_tags, read_entries

from ..every_law import each_case

DATA = (
    "document,kind,number,title,state\n"
    "RD,section,1.1,Operators,code\n"
    "RD,equation,2.1,First,code\n"
    "RD,equation,2.2,Second,derivation\n"
    "RD,example,2.1.1,Numbers,code\n"
    "QT,equation,9,Nine,definition\n"
    "RD,equation,2.3,Third,later\n"
    "RD,section,1.2,Names,prose\n"
    "Kindr,item,1,One,definition\n"
    "Kindr,item,2,Two,definition\n"
    "Kindr,section,Angle-Axis Rates,Rates,definition\n"
)
ENTRIES, _ = read_entries(DATA)


@each_case(
    "tag, names",
    [
        ("[RD 2.1]", ["RD 2.1"]),
        ("[RD §1.1]", ["RD §1.1"]),
        ("[RD Ex. 2.1.1]", ["RD Ex. 2.1.1"]),
        ("[Kindr item 2]", ["Kindr item 2"]),
        ("[Kindr §Angle-Axis Rates]", ["Kindr §Angle-Axis Rates"]),
        ("[RD 2.1, 2.3]", ["RD 2.1", "RD 2.3"]),
        ("[RD 2.1-2.3]", ["RD 2.1", "RD 2.2", "RD 2.3"]),
        ("[RD 2.1–2.2, 2.3]", ["RD 2.1", "RD 2.2", "RD 2.3"]),
        ("[RD §1.1-1.2]", ["RD §1.1", "RD §1.2"]),
        ("[Kindr item 1, 2, §Angle-Axis Rates]", ["Kindr item 1", "Kindr item 2", "Kindr §Angle-Axis Rates"]),
        ("[RD 2.1; Kindr item 1-2]", ["RD 2.1", "Kindr item 1", "Kindr item 2"]),
        ("[RD §1.1; RD 2.1]", ["RD §1.1", "RD 2.1"]),
        ("[RD §1.1, RD 2.1]", ["RD §1.1", "RD 2.1"]),
        ("[RD 2.1; 2.3]", ["RD 2.1", "RD 2.3"]),
        ("[Kindr items 1, 2]", ["Kindr item 1", "Kindr item 2"]),
    ],
)
def test_a_tag_stands_for_its_entries(tag, names):
    assert expand(tag, ENTRIES) == names


@each_case(
    "tag, message",
    [
        ("[RD 2.9]", "no entry RD 2.9"),
        ("[RD §2.1]", "no entry RD §2.1"),
        ("[RD Ex. 2.1.1, 2.1]", "no entry RD Ex. 2.1"),
        ("[RD Ex 2.1.1]", "no entry RD Ex 2.1.1"),
        ("[Kindr 1]", "no entry Kindr 1"),
        ("[RD 2.1-2.9]", "no entry RD 2.9"),
        ("[RD 2.1-2.2-2.3]", "no entry RD 2.1-2.2-2.3"),
        ("[RD 2.3-2.1]", "runs backwards"),
        ("[RD 2.1-2.1]", "runs backwards"),
        ("[RD2.1]", "'RD2.1' is not a document"),
        ("[RD 2.1; Book 2.2]", "no entry RD Book 2.2"),
        ("[RD]", "names no entry"),
        ("[RD §]", "names no entry"),
        ("[RD 2.1;]", "names no entry"),
        ("[RD 2.1,, 2.2]", "names no entry"),
        ("[RD 2.1; Kindr]", "names no entry"),
        ("[RD §1.1; 2.1]", "no entry RD §2.1"),
        ("[RD 2.1", "does not close"),
    ],
)
def test_a_wrong_tag_is_refused(tag, message):
    with pytest.raises(TagError, match=message):
        expand(tag, ENTRIES)


SOURCE = '''"""A module.  [RD 1]"""

name = "[RD 2]"  # [RD 3]


class Pose:
    """A pose.

    [RD 4,
    5]
    """

    @decorated(1)  # [RD 6]
    def inverse(self):
        """[0, π], [RDX 7], [Kindr 8] and [QT9]"""

    size = 3
    """[MDN 10"""
'''


def test_tags_are_found_in_docstrings_and_comments_with_line_and_scope():
    found = [(tag.text, tag.line, tag.scope) for tag in find_tags(SOURCE, "src/a.py")]
    assert found == [
        ("[RD 1]", 1, ""),
        ("[RD 3]", 3, ""),
        ("[RD 4, 5]", 9, "Pose"),
        ("[RD 6]", 13, "Pose.inverse"),
        ("[Kindr 8]", 15, "Pose.inverse"),
        ("[QT9]", 15, "Pose.inverse"),
        ("[MDN 10", 18, "Pose"),
    ]
