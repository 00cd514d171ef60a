// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/api/handles.h"
#include "runtime/api/open_axes.h"

using mxc::runtime::AvailableThreads;
using mxc::runtime::CheckReady;
using mxc::runtime::CountedBytes;
using mxc::runtime::CountedBytesOf;
using mxc::runtime::Describe;
using mxc::runtime::Device;
using mxc::runtime::ElementSize;
using mxc::runtime::Executor;
using mxc::runtime::GivenInputs;
using mxc::runtime::Guarded;
using mxc::runtime::kMaxThreads;
using mxc::runtime::Needed;
using mxc::runtime::NeededArray;
using mxc::runtime::ReadOptions;
using mxc::runtime::SetLengths;
using mxc::runtime::Status;
using mxc::runtime::StatusCode;
using mxc::runtime::StatusOr;
using mxc::runtime::Tables;
using mxc::runtime::Team;

namespace {

const Tables& TablesOf(const mxc_executor* executor) {
  return executor->executor->model().tables();
}

// "'data' (4 bytes a …)": names of the inputs or outputs, for a message.
std::string Names(const mxc_executor* executor,
                  std::span<const uint32_t> tensors) {
  std::string names;
  for (const uint32_t index : tensors) {
    const mxc_buffer& buffer = executor->executor->buffers()[index];
    names += names.empty() ? "'" : ", '";
    names += TablesOf(executor).Text(buffer.name);
    names += "'";
    if (names.size() > 500) return names + ", …";
  }
  return names.empty() ? "none" : names;
}

StatusOr<size_t> FindTensor(const mxc_executor* executor, const char* kind,
                            std::span<const uint32_t> tensors,
                            const char* name) {
  if (name == nullptr && tensors.size() == 1) return size_t{0};
  for (size_t k = 0; name != nullptr && k < tensors.size(); ++k) {
    const mxc_buffer& buffer = executor->executor->buffers()[tensors[k]];
    if (std::strcmp(TablesOf(executor).Text(buffer.name), name) == 0) return k;
  }
  return Fail(StatusCode::kNotFound, "no %s '%s'; the %ss are %s", kind,
              name != nullptr ? name : "", kind,
              Names(executor, tensors).c_str());
}

// The only input, or the only one that is read; else all that there are.
StatusOr<size_t> FindInput(const mxc_executor* executor, const char* name) {
  const Executor& e = *executor->executor;
  const auto inputs = e.model().tables().Inputs(e.entry());
  size_t only = inputs.size(), read = 0;
  for (size_t k = 0; name == nullptr && k < inputs.size(); ++k) {
    if (!e.model().tables().IsRead(e.entry(), inputs[k])) continue;
    if (e.buffers()[inputs[k]].role == MXC_TENSOR_LENGTH) continue;
    only = k;
    ++read;
  }
  if (read == 1) return only;
  return FindTensor(executor, "input", inputs, name);
}

Status CheckSize(const mxc_executor* executor, uint32_t index, uint64_t bytes,
                 size_t size) {
  if (bytes == size) return {};
  const mxc_buffer& buffer = executor->executor->buffers()[index];
  return Fail(StatusCode::kInvalidArgument,
              "'%s' has %llu bytes, but %zu are given",
              TablesOf(executor).Text(buffer.name),
              static_cast<unsigned long long>(bytes), size);
}

Status CheckSize(const mxc_executor* executor, uint32_t index, size_t size) {
  return CheckSize(executor, index, executor->executor->buffers()[index].bytes,
                   size);
}

// Vectors of kernels are aligned to this.
constexpr uintptr_t kDeviceAlignment = 16;

Status CheckAlignment(const char* name, const void* memory,
                      uintptr_t alignment) {
  if (reinterpret_cast<uintptr_t>(memory) % alignment == 0) return {};
  return Fail(StatusCode::kInvalidArgument,
              "the memory for '%s' is not aligned to %d bytes", name,
              static_cast<int>(alignment));
}

// That kernels may read and write the caller's memory, which lies at `place`;
// null is the executor's own.
Status CheckMemory(const mxc_executor* executor, uint32_t index,
                   const void* memory, mxc_place place) {
  const Device& device = executor->executor->device();
  const mxc_buffer& buffer = executor->executor->buffers()[index];
  const char* name = TablesOf(executor).Text(buffer.name);
  if (place == MXC_PLACE_HOST || device.IsHost()) {
    return CheckAlignment(name, memory, ElementSize(buffer.dtype));
  }
  if (memory == nullptr || device.Has(memory)) {
    return CheckAlignment(name, memory, kDeviceAlignment);
  }
  return Fail(StatusCode::kInvalidArgument,
              "the memory for '%s' is not of the executor's device", name);
}

// Memory that no run has written holds no answer.
Status RequireRun(const mxc_executor& executor) {
  if (executor.has_run) return {};
  return Fail(StatusCode::kInvalidArgument,
              "there are no outputs before the first run");
}

// Of an input or an output, with the extents of the length that was set.
template <class Rows>
mxc_status* DescribeTensor(const mxc_executor* executor, const char* what,
                           Rows rows, size_t index, mxc_tensor* tensor) {
  return Guarded({{executor, "executor"}, {tensor, "tensor"}}, [&]() -> Status {
    const Executor& e = *executor->executor;
    const auto found = (e.model().tables().*rows)(e.entry());
    if (index >= found.size()) {
      return Fail(StatusCode::kNotFound, "no %s %zu; there are %zu", what,
                  index, found.size());
    }
    const uint32_t buffer = found[index];
    *tensor = Describe(e.model().tables(), e.buffers()[buffer]);
    const auto open = executor->extents.find(buffer);
    if (open != executor->extents.end()) tensor->dims = open->second.data();
    tensor->bytes = CountedBytesOf(*executor, buffer).total();
    return {};
  });
}

// `use` gets the input's number, after a check of its name.
template <class Use>
mxc_status* WithInput(mxc_executor* executor, const char* name,
                      std::initializer_list<Needed> needed, Use use) {
  return Guarded(needed, [&]() -> Status {
    Executor& e = *executor->executor;
    const StatusOr<size_t> k = FindInput(executor, name);
    if (!k.ok()) return k.status();
    MXC_RT_RETURN_IF_ERROR(CheckIdle(e));
    return use(e, *k, e.model().tables().Inputs(e.entry())[*k]);
  });
}

template <class Use>
mxc_status* WithOutput(const mxc_executor* executor, size_t index,
                       std::initializer_list<Needed> needed, Use use) {
  return Guarded(needed, [&]() -> Status {
    Executor& e = *executor->executor;
    const auto outputs = e.model().tables().Outputs(e.entry());
    if (index >= outputs.size()) {
      return Fail(StatusCode::kNotFound, "no output %zu; there are %zu", index,
                  outputs.size());
    }
    MXC_RT_RETURN_IF_ERROR(CheckIdle(e));
    return use(e, outputs[index]);
  });
}

}  // namespace

mxc_status* mxc_team_create(int threads, mxc_team** team) {
  return Guarded({{team, "team"}}, [&]() -> Status {
    if (threads < 0 || threads > kMaxThreads) {
      return Fail(StatusCode::kInvalidArgument,
                  "%d threads; 1 to %d are possible, 0 is one for each "
                  "processor",
                  threads, kMaxThreads);
    }
    auto started = Team::Start(threads == 0 ? AvailableThreads() : threads);
    if (!started.ok()) return started.status();
    *team = new mxc_team{std::move(*started)};
    return {};
  });
}

void mxc_team_close(mxc_team* team) { delete team; }

mxc_status* mxc_bind(mxc_model* model, const mxc_bind_options* options,
                     mxc_executor** executor) {
  return Guarded({{model, "model"}, {executor, "executor"}}, [&]() -> Status {
    const auto chosen =
        ReadOptions<mxc_bind_options>(options, MXC_BIND_OPTIONS);
    if (!chosen.ok()) return chosen.status();
    const StatusOr<size_t> entry =
        FindEntry(model->model->tables(), chosen->entry, chosen->batch);
    if (!entry.ok()) return entry.status();
    const auto team = chosen->team != nullptr ? chosen->team->team : nullptr;
    const int most = team != nullptr ? team->threads() : AvailableThreads();
    const int threads = chosen->threads == 0 ? most : chosen->threads;
    auto bound = Executor::Bind(
        model->model, *entry,
        {.threads = threads,
         .profile = chosen->profile != 0,
         .share =
             chosen->share != nullptr ? chosen->share->executor.get() : nullptr,
         .device = chosen->device,
         .team = team,
         .stream = chosen->stream});
    if (!bound.ok()) return bound.status();
    GivenInputs given(**bound);
    *executor = new mxc_executor{.executor = std::move(*bound),
                                 .entry = *entry,
                                 .given = std::move(given),
                                 .mapped = {}};
    std::vector<int64_t> lengths;
    const auto& e = *(*executor)->executor;
    for (const auto& length : e.model().tables().Lengths(e.entry())) {
      lengths.push_back(length.most);
    }
    return lengths.empty() ? Status() : SetLengths(**executor, lengths);
  });
}

void mxc_executor_close(mxc_executor* executor) { delete executor; }

size_t mxc_executor_entry(const mxc_executor* executor) {
  return executor != nullptr ? executor->entry : 0;
}

int mxc_executor_threads(const mxc_executor* executor) {
  return executor != nullptr ? executor->executor->threads() : 0;
}

mxc_status* mxc_set_input(mxc_executor* executor, const char* name,
                          const void* values, size_t size) {
  return WithInput(
      executor, name,
      {{executor, "executor"}, NeededArray(values, size, "values")},
      [&](Executor& e, size_t k, uint32_t buffer) -> Status {
        const CountedBytes bytes = CountedBytesOf(*executor, buffer);
        MXC_RT_RETURN_IF_ERROR(
            CheckSize(executor, buffer, bytes.total(), size));
        e.BindInput(k, nullptr);
        if (size > 0) {
          bytes.Scatter(static_cast<const std::byte*>(values),
                        e.InputStorage(k));
        }
        executor->given.UseOwn(k, /*written=*/true);
        return {};
      });
}

mxc_status* mxc_map_input(mxc_executor* executor, const char* name,
                          void** memory, size_t* size) {
  return WithInput(executor, name,
                   {{executor, "executor"}, {memory, "memory"}, {size, "size"}},
                   [&](Executor& e, size_t k, uint32_t buffer) -> Status {
                     e.BindInput(k, nullptr);
                     *memory = e.InputStorage(k);
                     *size = e.buffers()[buffer].bytes;
                     executor->mapped.push_back(*memory);
                     executor->given.UseOwn(k, /*written=*/true);
                     return {};
                   });
}

namespace {

mxc_status* BindInput(mxc_executor* executor, const char* name,
                      const void* memory, size_t size, mxc_place place) {
  return WithInput(
      executor, name, {{executor, "executor"}},
      [&](Executor& e, size_t k, uint32_t buffer) -> Status {
        MXC_RT_RETURN_IF_ERROR(CheckSize(executor, buffer, size));
        MXC_RT_RETURN_IF_ERROR(CheckMemory(executor, buffer, memory, place));
        e.BindInput(k, memory, place);
        if (memory != nullptr) {
          executor->given.UseCallers(k);
        } else {
          executor->given.UseOwn(k, /*written=*/false);
        }
        return {};
      });
}

}  // namespace

mxc_status* mxc_bind_input(mxc_executor* executor, const char* name,
                           const void* memory, size_t size) {
  return BindInput(executor, name, memory, size, MXC_PLACE_HOST);
}

mxc_status* mxc_bind_device_input(mxc_executor* executor, const char* name,
                                  const void* memory, size_t size) {
  return BindInput(executor, name, memory, size, MXC_PLACE_DEVICE);
}

mxc_status* mxc_unmap(mxc_executor* executor, const void* memory) {
  return Guarded({{executor, "executor"}}, [&]() -> Status {
    auto& mapped = executor->mapped;
    const auto found = std::ranges::find(mapped, memory);
    if (found == mapped.end()) {
      return Fail(StatusCode::kInvalidArgument, "memory that is not mapped");
    }
    mapped.erase(found);
    return {};
  });
}

mxc_status* mxc_set_length(mxc_executor* executor, int64_t length) {
  return mxc_set_lengths(executor, &length, 1);
}

mxc_status* mxc_set_lengths(mxc_executor* executor, const int64_t* lengths,
                            size_t count) {
  return Guarded(
      {{executor, "executor"}, NeededArray(lengths, count, "lengths")},
      [&]() -> Status {
        MXC_RT_RETURN_IF_ERROR(CheckIdle(*executor->executor));
        return SetLengths(*executor, {lengths, count});
      });
}

mxc_status* mxc_executor_input(const mxc_executor* executor, size_t index,
                               mxc_tensor* tensor) {
  return DescribeTensor(executor, "input", &Tables::Inputs, index, tensor);
}

mxc_status* mxc_executor_output(const mxc_executor* executor, size_t index,
                                mxc_tensor* tensor) {
  return DescribeTensor(executor, "output", &Tables::Outputs, index, tensor);
}

mxc_status* mxc_run(mxc_executor* executor) {
  return Guarded({{executor, "executor"}}, [&]() -> Status {
    MXC_RT_RETURN_IF_ERROR(CheckReady(*executor));
    MXC_RT_RETURN_IF_ERROR(executor->executor->Run());
    executor->has_run = true;
    return {};
  });
}

mxc_status* mxc_run_async(mxc_executor* executor) {
  return Guarded({{executor, "executor"}}, [&]() -> Status {
    MXC_RT_RETURN_IF_ERROR(CheckReady(*executor));
    MXC_RT_RETURN_IF_ERROR(executor->executor->Start());
    executor->has_run = true;
    return {};
  });
}

mxc_status* mxc_wait(mxc_executor* executor) {
  return Guarded({{executor, "executor"}},
                 [&] { return executor->executor->Wait(); });
}

mxc_status* mxc_find_output(const mxc_executor* executor, const char* name,
                            size_t* index) {
  return Guarded({{executor, "executor"}, {index, "index"}}, [&]() -> Status {
    const Executor& e = *executor->executor;
    const StatusOr<size_t> k = FindTensor(
        executor, "output", e.model().tables().Outputs(e.entry()), name);
    if (k.ok()) *index = *k;
    return k.status();
  });
}

mxc_status* mxc_read_output(const mxc_executor* executor, size_t index,
                            void* values, size_t size) {
  return WithOutput(
      executor, index,
      {{executor, "executor"}, NeededArray(values, size, "values")},
      [&](Executor& e, uint32_t buffer) -> Status {
        const CountedBytes bytes = CountedBytesOf(*executor, buffer);
        MXC_RT_RETURN_IF_ERROR(
            CheckSize(executor, buffer, bytes.total(), size));
        MXC_RT_RETURN_IF_ERROR(RequireRun(*executor));
        if (size > 0) {
          bytes.Gather(e.OutputStorage(index), static_cast<std::byte*>(values));
        }
        return e.device().TakeFailure();
      });
}

mxc_status* mxc_map_output(mxc_executor* executor, size_t index,
                           const void** memory, size_t* size) {
  return WithOutput(
      executor, index,
      {{executor, "executor"}, {memory, "memory"}, {size, "size"}},
      [&](Executor& e, uint32_t buffer) -> Status {
        MXC_RT_RETURN_IF_ERROR(RequireRun(*executor));
        *memory = e.OutputStorage(index);
        *size = e.buffers()[buffer].bytes;
        MXC_RT_RETURN_IF_ERROR(e.device().TakeFailure());
        executor->mapped.push_back(*memory);
        return {};
      });
}

namespace {

mxc_status* BindOutput(mxc_executor* executor, size_t index, void* memory,
                       size_t size, mxc_place place) {
  return WithOutput(
      executor, index, {{executor, "executor"}},
      [&](Executor& e, uint32_t buffer) -> Status {
        MXC_RT_RETURN_IF_ERROR(CheckSize(executor, buffer, size));
        MXC_RT_RETURN_IF_ERROR(CheckMemory(executor, buffer, memory, place));
        e.BindOutput(index, memory, place);
        return {};
      });
}

}  // namespace

mxc_status* mxc_bind_output(mxc_executor* executor, size_t index, void* memory,
                            size_t size) {
  return BindOutput(executor, index, memory, size, MXC_PLACE_HOST);
}

mxc_status* mxc_bind_device_output(mxc_executor* executor, size_t index,
                                   void* memory, size_t size) {
  return BindOutput(executor, index, memory, size, MXC_PLACE_DEVICE);
}

mxc_status* mxc_step_times(const mxc_executor* executor, const int64_t** times,
                           size_t* count) {
  return Guarded({{executor, "executor"}, {times, "times"}, {count, "count"}},
                 [&]() -> Status {
                   const std::span<const int64_t> found =
                       executor->executor->step_times();
                   const Executor& e = *executor->executor;
                   if (found.size() != e.entry().steps.count) {
                     return Fail(StatusCode::kInvalidArgument,
                                 "the executor was bound without profile");
                   }
                   *times = found.data();
                   *count = found.size();
                   return {};
                 });
}
