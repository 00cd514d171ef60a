// SPDX-License-Identifier: Apache-2.0
// The routines of the machine's LAPACK and BLAS that lapack.cc calls. Matrices
// are column-major, integers 32 bits; a length follows for each letter.
#pragma once

#include <cstddef>

#include "runtime/base/status.h"

namespace mxc::runtime {

template <class T>
struct LapackRoutines {
  void (*potrf)(const char* uplo, const int* n, T* a, const int* lda, int* info,
                size_t) = nullptr;
  void (*potri)(const char* uplo, const int* n, T* a, const int* lda, int* info,
                size_t) = nullptr;
  void (*trsm)(const char* side, const char* uplo, const char* trans,
               const char* diag, const int* m, const int* n, const T* alpha,
               const T* a, const int* lda, T* b, const int* ldb, size_t, size_t,
               size_t, size_t) = nullptr;
  void (*geqrf)(const int* m, const int* n, T* a, const int* lda, T* tau,
                T* work, const int* lwork, int* info) = nullptr;
  void (*orgqr)(const int* m, const int* n, const int* k, T* a, const int* lda,
                const T* tau, T* work, const int* lwork, int* info) = nullptr;
  void (*syevd)(const char* jobz, const char* uplo, const int* n, T* a,
                const int* lda, T* w, T* work, const int* lwork, int* iwork,
                const int* liwork, int* info, size_t, size_t) = nullptr;
};

struct Lapack {
  LapackRoutines<float> f32;
  LapackRoutines<double> f64;

  template <class T>
  const LapackRoutines<T>& of() const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return f32;
    } else {
      return f64;
    }
  }
};

// Loads it once; it stays. kUnsupported where the machine has none.
StatusOr<const Lapack*> LoadLapack();

}  // namespace mxc::runtime
