"""Monitors watch results over time and raise alerts: objectives, burn rates, health of evaluation."""
