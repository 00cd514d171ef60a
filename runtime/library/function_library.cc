// SPDX-License-Identifier: Apache-2.0
#include "runtime/library/function_library.h"

#include <dlfcn.h>

#include <mutex>
#include <set>

namespace mxc::runtime {
namespace {

// Returns whether nobody has asked for this library before.
bool IsNew(void* library) {
  static std::mutex mutex;
  static std::set<void*> known;
  const std::lock_guard lock(mutex);
  return known.insert(library).second;
}

}  // namespace

StatusOr<FunctionLibrary> LoadFunctionLibrary(const std::string& path) {
  // A name without a slash would be looked for among the system's libraries.
  const bool is_name = path.find('/') == std::string::npos;
  void* library =
      dlopen((is_name ? "./" + path : path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Fail(StatusCode::kIo, "the functions of '%s' cannot be loaded: %s",
                path.c_str(), dlerror());
  }
  const FunctionLibrary entries = {
      .functions = reinterpret_cast<decltype(FunctionLibrary::functions)>(
          dlsym(library, "mxc_functions")),
      .operators = reinterpret_cast<decltype(FunctionLibrary::operators)>(
          dlsym(library, "mxc_operators"))};
  if (entries.functions == nullptr && entries.operators == nullptr) {
    return Fail(StatusCode::kInvalidArgument,
                "'%s' exports no function mxc_functions or mxc_operators, "
                "which would register what it has",
                path.c_str());
  }
  if (!IsNew(library)) return FunctionLibrary{};
  return entries;
}

}  // namespace mxc::runtime
