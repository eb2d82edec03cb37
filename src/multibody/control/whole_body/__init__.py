"""Whole-body control: torques, accelerations and contact forces together."""

from multibody.control.whole_body.controller import Command, WholeBody
from multibody.control.whole_body.report import Report
