// The CPU micro-kernels' contracts, all families. Include this one header.
#ifndef CNT_KERNELS_H
#define CNT_KERNELS_H

#include "CNTImageKernels.h"

#include "../conv/conv.h"
#include "../conv/depthwise_image.h"
#include "../conv/pool_image.h"
#include "../conv/separable.h"
#include "../conv/stem.h"
#include "../conv/stem_pool.h"
#include "../depthwise/depthwise.h"
#include "../element/conversion.h"
#include "../element/rounding.h"
#include "../elementwise/elementwise.h"
#include "../gemm/gemm.h"
#include "../pack/pack.h"
#include "../peak/peak.h"
#include "../pool/pool.h"
#include "../program/program.h"
#include "../program/steps.h"
#include "../softmax/softmax.h"
#include "../strassen/strassen.h"
#include "../tensor/tensor.h"
#include "../winograd/winograd.h"

#endif
