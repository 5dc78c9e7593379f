"""The specialist in use: a small 1-D convolutional network for one class, computed with numpy. It is trained by
``training/specialist/``, which uses the grid and the shape of the network from here.
"""
