"""Runs calotype and a peer in turn, and says how their times compare."""
