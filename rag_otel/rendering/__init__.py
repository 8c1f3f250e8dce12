"""What several pages and messages show in the same way: claims marked in a text, charts as SVG."""
