// SPDX-License-Identifier: Apache-2.0
//
// mxc for C++20, header only, over runtime/mxc.h, whose conventions hold; a
// status that is not success is thrown as an Error.
//
//   mxc::api::Model model("lenet.mxa");
//   mxc::api::Executor executor(model, {.threads = 2});
//   executor.SetInput("data", std::span(image));
//   executor.Run();
//   const auto probabilities = executor.Output<float>(0);
#pragma once

#if __cplusplus < 202002L
#error "mxc.hpp needs C++20 (-std=c++20); for C and older C++ there is mxc.h"
#else

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/mxc.h"

namespace mxc::api {

class Error : public std::runtime_error {
 public:
  Error(mxc_code code, const char* message)
      : std::runtime_error(message), code_(code) {}
  mxc_code code() const { return code_; }

 private:
  mxc_code code_;
};

// Throws what is not success, and releases it.
inline void Check(mxc_status* status) {
  if (status == nullptr) return;
  const Error error(mxc_status_code(status), mxc_status_message(status));
  mxc_status_release(status);
  throw error;
}

inline std::span<const int64_t> Shape(const mxc_tensor& tensor) {
  return {tensor.dims, static_cast<size_t>(tensor.rank)};
}

class Model {
 public:
  explicit Model(const std::string& path, mxc_model_options options = {}) {
    options.struct_size = sizeof options;
    mxc_model* model = nullptr;
    Check(mxc_model_open(path.c_str(), &options, &model));
    handle_.reset(model);
  }

  // Of a file's bytes in memory, which are copied.
  explicit Model(std::span<const std::byte> file,
                 mxc_model_options options = {}) {
    options.struct_size = sizeof options;
    mxc_model* model = nullptr;
    Check(mxc_model_open_memory(file.data(), file.size(), nullptr, &options,
                                &model));
    handle_.reset(model);
  }

  mxc_model* handle() const { return handle_.get(); }

  void VerifyWeights() const { Check(mxc_model_verify(handle())); }
  std::string manifest() const { return mxc_model_manifest(handle()); }
  std::string symbol() const {
    char* text = nullptr;
    size_t size = 0;
    Check(mxc_model_symbol(handle(), &text, &size));
    const std::unique_ptr<char, void (*)(void*)> owner(text, &mxc_free);
    return std::string(text, size);
  }
  mxc_model_sizes sizes() const {
    mxc_model_sizes sizes;
    mxc_model_measure(handle(), &sizes);
    return sizes;
  }

  size_t entry_count() const { return mxc_model_entry_count(handle()); }
  mxc_entry_summary entry(size_t entry) const {
    mxc_entry_summary summary;
    Check(mxc_model_entry(handle(), entry, &summary));
    return summary;
  }
  // A null name and batch 0 mean any, as in mxc.h.
  size_t FindEntry(const char* name, int64_t batch) const {
    size_t entry = 0;
    Check(mxc_model_find_entry(handle(), name, batch, &entry));
    return entry;
  }

  // For sequences of a length, as in mxc.h.
  size_t FindLength(const char* name, int64_t batch, int64_t length) const {
    size_t entry = 0;
    Check(mxc_model_find_length(handle(), name, batch, length, &entry));
    return entry;
  }
  size_t FindLengths(const char* name, int64_t batch,
                     std::span<const int64_t> lengths) const {
    size_t entry = 0;
    Check(mxc_model_find_lengths(handle(), name, batch, lengths.data(),
                                 lengths.size(), &entry));
    return entry;
  }
  // That the entry leaves open.
  std::vector<mxc_length> Lengths(size_t entry) const {
    std::vector<mxc_length> lengths(mxc_model_length_count(handle(), entry));
    for (size_t i = 0; i < lengths.size(); ++i) {
      Check(mxc_model_length(handle(), entry, i, &lengths[i]));
    }
    return lengths;
  }
  // Of each axis which of them it has, or -1.
  std::array<int, MXC_AXES> LengthsOfInput(size_t entry, size_t index) const {
    std::array<int, MXC_AXES> lengths;
    Check(mxc_model_input_lengths(handle(), entry, index, lengths.data()));
    return lengths;
  }
  std::array<int, MXC_AXES> LengthsOfOutput(size_t entry, size_t index) const {
    std::array<int, MXC_AXES> lengths;
    Check(mxc_model_output_lengths(handle(), entry, index, lengths.data()));
    return lengths;
  }

  std::vector<mxc_tensor> states() const {
    std::vector<mxc_tensor> states(mxc_model_state_count(handle()));
    for (size_t i = 0; i < states.size(); ++i)
      Check(mxc_model_state(handle(), i, &states[i]));
    return states;
  }

  std::vector<mxc_tensor> inputs(size_t entry) const {
    return Rows<mxc_tensor>(entry, this->entry(entry).input_count,
                            &mxc_model_input);
  }
  // -1: none.
  int OpenAxisOfInput(size_t entry, size_t index) const {
    int axis = -1;
    Check(mxc_model_input_axis(handle(), entry, index, &axis));
    return axis;
  }
  int OpenAxisOfOutput(size_t entry, size_t index) const {
    int axis = -1;
    Check(mxc_model_output_axis(handle(), entry, index, &axis));
    return axis;
  }
  // False for an input that may be left out: see mxc_model_input_read.
  bool reads_input(size_t entry, size_t index) const {
    int read = 0;
    Check(mxc_model_input_read(handle(), entry, index, &read));
    return read != 0;
  }
  std::vector<mxc_tensor> outputs(size_t entry) const {
    return Rows<mxc_tensor>(entry, this->entry(entry).output_count,
                            &mxc_model_output);
  }
  // (output, input): see mxc_model_carry.
  std::vector<std::pair<size_t, size_t> > carries(size_t entry) const {
    std::vector<std::pair<size_t, size_t> > carries(
        mxc_model_carry_count(handle(), entry));
    for (size_t i = 0; i < carries.size(); ++i) {
      Check(mxc_model_carry(handle(), entry, i, &carries[i].first,
                            &carries[i].second));
    }
    return carries;
  }
  std::vector<mxc_buffer_summary> buffers(size_t entry) const {
    return Rows<mxc_buffer_summary>(entry, this->entry(entry).buffer_count,
                                    &mxc_model_buffer);
  }
  std::vector<mxc_step_summary> steps(size_t entry) const {
    return Rows<mxc_step_summary>(entry, this->entry(entry).step_count,
                                  &mxc_model_step);
  }

 private:
  struct Close {
    void operator()(mxc_model* model) const { mxc_model_close(model); }
  };

  template <class Row, class Read>
  std::vector<Row> Rows(size_t entry, size_t count, Read read) const {
    std::vector<Row> rows(count);
    for (size_t i = 0; i < count; ++i)
      Check(read(handle(), entry, i, &rows[i]));
    return rows;
  }

  std::unique_ptr<mxc_model, Close> handle_;
};

// An input or output that is mapped: memory of T, until this goes. The executor
// must outlive it and does not run as long as it is there.
template <class T>
class Mapped {
 public:
  Mapped(mxc_executor* executor, T* memory, size_t size)
      : memory_(memory, {executor}), size_(size) {}

  T* data() const { return memory_.get(); }
  size_t size() const { return size_; }
  T* begin() const { return data(); }
  T* end() const { return data() + size_; }
  T& operator[](size_t index) const { return data()[index]; }
  std::span<T> span() const { return {data(), size_}; }

 private:
  struct Unmap {
    mxc_executor* executor;
    void operator()(T* memory) const {
      mxc_status_release(mxc_unmap(executor, memory));
    }
  };
  std::unique_ptr<T[], Unmap> memory_;
  size_t size_;
};

class Memory;

// Threads for several executors: options.team = team.handle().
class Team {
 public:
  // 0: one for each processor that the process may use.
  explicit Team(int threads = 0) {
    mxc_team* team = nullptr;
    Check(mxc_team_create(threads, &team));
    handle_.reset(team);
  }

  mxc_team* handle() const { return handle_.get(); }

 private:
  struct Close {
    void operator()(mxc_team* team) const { mxc_team_close(team); }
  };
  std::unique_ptr<mxc_team, Close> handle_;
};

class Executor {
 public:
  explicit Executor(const Model& model, mxc_bind_options options = {}) {
    options.struct_size = sizeof options;
    mxc_executor* executor = nullptr;
    Check(mxc_bind(model.handle(), &options, &executor));
    handle_.reset(executor);
  }

  mxc_executor* handle() const { return handle_.get(); }
  size_t entry() const { return mxc_executor_entry(handle()); }
  int threads() const { return mxc_executor_threads(handle()); }

  // Copies; a null name is the only input.
  template <class T>
  void SetInput(const char* name, std::span<T> values) {
    Check(mxc_set_input(handle(), name, values.data(), values.size_bytes()));
  }
  Mapped<std::byte> MapInput(const char* name) {
    void* memory = nullptr;
    size_t size = 0;
    Check(mxc_map_input(handle(), name, &memory, &size));
    return {handle(), static_cast<std::byte*>(memory), size};
  }
  void BindInput(const char* name, std::span<const std::byte> memory) {
    Check(mxc_bind_input(handle(), name, memory.data(), memory.size()));
  }
  void BindOutput(size_t index, std::span<std::byte> memory) {
    Check(mxc_bind_output(handle(), index, memory.data(), memory.size()));
  }
  // Of the executor's device.
  void BindInput(const char* name, const Memory& memory);
  void BindOutput(size_t index, const Memory& memory);

  // Of open axes, from the next run on. The tensors' shapes are those of the
  // length that was set last.
  void SetLength(int64_t length) { Check(mxc_set_length(handle(), length)); }
  void SetLengths(std::span<const int64_t> lengths) {
    Check(mxc_set_lengths(handle(), lengths.data(), lengths.size()));
  }
  mxc_tensor Input(size_t index) const {
    mxc_tensor tensor;
    Check(mxc_executor_input(handle(), index, &tensor));
    return tensor;
  }
  mxc_tensor OutputTensor(size_t index) const {
    mxc_tensor tensor;
    Check(mxc_executor_output(handle(), index, &tensor));
    return tensor;
  }

  void Run() { Check(mxc_run(handle())); }
  void RunAsync() { Check(mxc_run_async(handle())); }
  void Wait() { Check(mxc_wait(handle())); }

  size_t FindOutput(const char* name) const {
    size_t index = 0;
    Check(mxc_find_output(handle(), name, &index));
    return index;
  }
  // Of the last run, mapped. T must be the output's type.
  template <class T = std::byte>
  Mapped<const T> Output(size_t index) const {
    const void* memory = nullptr;
    size_t size = 0;
    Check(mxc_map_output(handle(), index, &memory, &size));
    return {handle(), static_cast<const T*>(memory), size / sizeof(T)};
  }
  // The same, copied, wherever the output lies.
  template <class T>
  void ReadOutput(size_t index, std::span<T> values) const {
    Check(mxc_read_output(handle(), index, values.data(), values.size_bytes()));
  }
  template <class T>
  void ReadState(const char* name, std::span<T> values) const {
    Check(mxc_read_state(handle(), name, values.data(), values.size_bytes()));
  }
  template <class T>
  void WriteState(const char* name, std::span<T> values) {
    Check(mxc_write_state(handle(), name, values.data(), values.size_bytes()));
  }
  void ResetStates() { Check(mxc_reset_states(handle())); }
  mxc_nonfinite FindNonFinite() {
    mxc_nonfinite found;
    Check(mxc_find_nonfinite(handle(), &found));
    return found;
  }

  std::span<const int64_t> StepTimes() const {
    const int64_t* times = nullptr;
    size_t count = 0;
    Check(mxc_step_times(handle(), &times, &count));
    return {times, count};
  }

 private:
  struct Close {
    void operator()(mxc_executor* executor) const {
      mxc_executor_close(executor);
    }
  };
  std::unique_ptr<mxc_executor, Close> handle_;
};

// Of an executor's device.
class Memory {
 public:
  Memory(const Executor& executor, size_t size) : size_(size) {
    mxc_memory* memory = nullptr;
    Check(mxc_memory_allocate(executor.handle(), size, &memory));
    handle_.reset(memory);
  }

  void* data() const { return mxc_memory_data(handle_.get()); }
  size_t size() const { return size_; }
  template <class T>
  void Write(std::span<T> values) {
    Check(mxc_memory_write(handle_.get(), values.data(), values.size_bytes()));
  }
  template <class T>
  void Read(std::span<T> values) const {
    Check(mxc_memory_read(handle_.get(), values.data(), values.size_bytes()));
  }

 private:
  struct Free {
    void operator()(mxc_memory* memory) const { mxc_memory_free(memory); }
  };
  std::unique_ptr<mxc_memory, Free> handle_;
  size_t size_;
};

inline void Executor::BindInput(const char* name, const Memory& memory) {
  Check(mxc_bind_device_input(handle(), name, memory.data(), memory.size()));
}
inline void Executor::BindOutput(size_t index, const Memory& memory) {
  Check(mxc_bind_device_output(handle(), index, memory.data(), memory.size()));
}

}  // namespace mxc::api

#endif  // C++20
