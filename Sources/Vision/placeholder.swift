// Vision
