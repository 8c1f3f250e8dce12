"""Monitors: what watches results over time and raises alerts (objectives, burn rates, health of evaluation)."""
