"""Rendering shared by alert messages, reports and drift pages: marked claims, shortened texts, SVG charts."""
