// The OpenCL C programs as text, embedded at build time.
#ifndef CNT_KERNEL_SOURCES_H
#define CNT_KERNEL_SOURCES_H
#endif
