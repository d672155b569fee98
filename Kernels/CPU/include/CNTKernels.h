// The CPU micro-kernels' contracts, all families. Include this one header.
#ifndef CNT_KERNELS_H
#define CNT_KERNELS_H
#include "CNTImageKernels.h"
#endif
