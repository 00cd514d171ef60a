// SPDX-License-Identifier: Apache-2.0
#include "runtime/library/registry.h"

#include <map>
#include <mutex>
#include <utility>

#include "runtime/library/bounded.h"
#include "runtime/library/lapack.h"

namespace mxc::runtime {
namespace {

using Key = std::pair<std::string, uint32_t>;

struct Registry {
  std::mutex mutex;
  std::map<Key, Function> functions;
};

Registry& TheRegistry() {
  static Registry registry;
  return registry;
}

struct KnownFunction {
  const char* name;
  uint32_t version;
  StatusOr<Function> (*load)();
  const char* failure;
};

constexpr KnownFunction kKnownFunctions[] = {
#define MXC_FUNCTION(name, version, load, failure) \
  {#name, version, &load, failure},
#include "runtime/library/functions.def"
};

const KnownFunction* FindKnown(const Key& key) {
  for (const KnownFunction& known : kKnownFunctions) {
    if (key == Key{known.name, known.version}) return &known;
  }
  return nullptr;
}

}  // namespace

Status RegisterFunction(const std::string& name, uint32_t version,
                        Function function) {
  const Key key = {name, version};
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  if (FindKnown(key) == nullptr &&
      registry.functions.emplace(key, function).second) {
    return {};
  }
  return Fail(StatusCode::kInvalidArgument,
              "version %u of a function '%s' is registered already", version,
              name.c_str());
}

const char* MeaningOfFailure(const std::string& name, uint32_t version) {
  const KnownFunction* known = FindKnown({name, version});
  return known != nullptr ? known->failure : "";
}

StatusOr<Function> FindFunction(const std::string& name, uint32_t version) {
  const Key key = {name, version};
  if (const KnownFunction* known = FindKnown(key)) return known->load();
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  const auto found = registry.functions.find(key);
  if (found != registry.functions.end()) return found->second;
  return Fail(StatusCode::kUnsupported,
              "calls version %u of a function '%s', which is not registered; "
              "--functions loads the library that has it",
              version, name.c_str());
}

}  // namespace mxc::runtime
