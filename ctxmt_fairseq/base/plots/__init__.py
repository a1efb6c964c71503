"""All pictures, drawn with matplotlib: lines and bars, heat maps, points on maps."""
