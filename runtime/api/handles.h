// SPDX-License-Identifier: Apache-2.0
// What stands behind the handles of runtime/mxc.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "runtime/api/given_inputs.h"
#include "runtime/base/status.h"
#include "runtime/executor/describe.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/model.h"
#include "runtime/mxc.h"

struct mxc_model {
  std::shared_ptr<const mxc::runtime::Model> model;
};

struct mxc_team {
  std::shared_ptr<mxc::runtime::Team> team;
};

struct mxc_executor {
  std::unique_ptr<mxc::runtime::Executor> executor;
  size_t entry = 0;
  mxc::runtime::GivenInputs given;
  std::vector<const void*> mapped;    // that a caller has not given back
  bool has_run = false;               // and so has outputs
  std::vector<int64_t> lengths = {};  // of open axes (mxc_set_lengths)
  // Those that inputs and outputs with an open axis have then, by their buffer.
  std::map<uint32_t, std::array<int64_t, MXC_MAX_RANK>> extents = {};
};

namespace mxc::runtime {

// Null for success.
mxc_status* ToC(const Status& status);
// "out of memory", which needs no memory.
mxc_status* OutOfMemory();

// Calls `body`, which returns a Status, and lets no exception through: what is
// allocated is in proportion to the file, but memory may end all the same.
template <class Body>
mxc_status* Guarded(Body body) {
  try {
    return ToC(body());
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  }
}

// An argument that a call cannot do without, by its name in the header.
struct Needed {
  const void* pointer;
  const char* name;
};

// An array of `size` bytes, which is not needed where it holds nothing.
inline Needed NeededArray(const void* pointer, size_t size, const char* name) {
  return {size > 0 ? pointer : name, name};
}

// The same, where every pointer of `needed` points to something; else
// kInvalidArgument.
template <class Body>
mxc_status* Guarded(std::initializer_list<Needed> needed, Body body) {
  return Guarded([&]() -> Status {
    for (const Needed& argument : needed) {
      if (argument.pointer != nullptr) continue;
      return Fail(StatusCode::kInvalidArgument, "'%s' is null", argument.name);
    }
    return body();
  });
}

// Between mxc_run_async and mxc_wait memory is the run's.
inline Status CheckIdle(const Executor& executor) {
  if (!executor.IsRunning()) return {};
  return Fail(StatusCode::kBusy, "a run is going on; wait for it");
}

// What every run asks for.
inline Status CheckReady(const mxc_executor& executor) {
  if (!executor.mapped.empty()) {
    return Fail(StatusCode::kBusy,
                "an input or output is mapped; unmap it before a run");
  }
  return executor.given.Check(*executor.executor);
}

// What the caller asks for, with the fields that it knows. `otherwise`: for a
// null pointer, and for fields that it lacks.
template <class Options>
StatusOr<Options> ReadOptions(const Options* given, const Options& otherwise) {
  if (given == nullptr) return otherwise;
  const size_t size = given->struct_size;
  if (size < sizeof size || size > size_t{1} << 16) {
    return Fail(
        StatusCode::kInvalidArgument,
        "a struct_size of %zu; initialize options with "
        "MXC_MODEL_OPTIONS, MXC_BIND_OPTIONS or MXC_TRAINER_OPTIONS, and "
        "operators with sizeof(mxc_operator)",
        size);
  }
  Options options = otherwise;
  std::memcpy(&options, given, std::min(size, sizeof options));
  const auto* bytes = reinterpret_cast<const char*>(given);
  if (size > sizeof options &&
      std::any_of(bytes + sizeof options, bytes + size,
                  [](char byte) { return byte != 0; })) {
    return Fail(StatusCode::kUnsupported,
                "an option that this library, version %s, does not know",
                mxc_version());
  }
  return options;
}

StatusOr<size_t> FindEntry(const Tables& tables, const char* name,
                           int64_t batch);
StatusOr<size_t> FindLengths(const Tables& tables, const char* name,
                             int64_t batch, std::span<const int64_t> lengths);

}  // namespace mxc::runtime
