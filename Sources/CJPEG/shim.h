// libjpeg-turbo's classic interface: unlike its TurboJPEG interface it reports every warning, which is how a truncated file is told from a whole one.
#include <stdio.h>
#include <jpeglib.h>
#include <jerror.h>
