"""Simulation methods: one step of time each."""
