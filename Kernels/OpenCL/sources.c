#include "CNTKernelSources.h"
