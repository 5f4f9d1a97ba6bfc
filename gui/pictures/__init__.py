"""Renderers of pictures (``core/pictures``): the canvas of the window, paper, thumbnails."""
