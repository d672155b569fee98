#include "include/CNTKernels.h"
