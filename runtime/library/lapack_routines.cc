// SPDX-License-Identifier: Apache-2.0
#include "runtime/library/lapack_routines.h"

#include <dlfcn.h>

#include <string>

namespace mxc::runtime {
namespace {

// OpenBLAS has all routines in one library; the reference's LAPACK brings its
// BLAS along.
constexpr const char* kLibraries[] = {"libopenblas.so.0", "liblapack.so.3"};

template <class Routine>
bool Find(void* library, const std::string& name, Routine& routine) {
  routine = reinterpret_cast<Routine>(dlsym(library, (name + "_").c_str()));
  return routine != nullptr;
}

// `letter`: s or d.
template <class T>
bool FindAll(void* library, const std::string& letter,
             LapackRoutines<T>& routines) {
  return Find(library, letter + "potrf", routines.potrf) &&
         Find(library, letter + "potri", routines.potri) &&
         Find(library, letter + "trsm", routines.trsm) &&
         Find(library, letter + "geqrf", routines.geqrf) &&
         Find(library, letter + "orgqr", routines.orgqr) &&
         Find(library, letter + "syevd", routines.syevd);
}

// The order in which OpenBLAS sums depends on its threads. Where nobody else in
// the process had it loaded, it has one.
void* Load(const char* name) {
  void* present = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
  if (present != nullptr) return present;
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  void (*set_threads)(int) = nullptr;
  set_threads = reinterpret_cast<decltype(set_threads)>(
      dlsym(library, "openblas_set_num_threads"));
  if (set_threads != nullptr) set_threads(1);
  return library;
}

StatusOr<Lapack> LoadAny() {
  Lapack lapack;
  for (const char* name : kLibraries) {
    void* library = Load(name);
    if (library != nullptr && FindAll(library, "s", lapack.f32) &&
        FindAll(library, "d", lapack.f64)) {
      return lapack;
    }
  }
  return Fail(
      StatusCode::kUnsupported,
      "factorizes matrices with LAPACK, which this machine lacks: it has "
      "neither libopenblas.so.0 nor liblapack.so.3");
}

}  // namespace

StatusOr<const Lapack*> LoadLapack() {
  static const StatusOr<Lapack> lapack = LoadAny();
  if (!lapack.ok()) return lapack.status();
  return &*lapack;
}

}  // namespace mxc::runtime
