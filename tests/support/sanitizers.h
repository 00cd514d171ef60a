// SPDX-License-Identifier: Apache-2.0
// Which sanitizers watch: MXC_THREAD_SANITIZER and MXC_ADDRESS_SANITIZER are
// defined or not. GCC says so by macros, Clang by features.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define MXC_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MXC_THREAD_SANITIZER
#endif
#endif

#if defined(__SANITIZE_ADDRESS__)
#define MXC_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MXC_ADDRESS_SANITIZER
#endif
#endif
