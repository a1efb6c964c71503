"""All pictures, drawn with matplotlib (the extra ``plots``): lines and bars, heat maps, points on maps."""
