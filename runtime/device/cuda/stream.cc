// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/cuda/stream.h"

#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/abi/parameters.h"
#include "runtime/device/cuda/library_step.h"
#include "runtime/device/cuda/nccl.h"

namespace mxc::runtime {
namespace {

using HostFunction = std::function<void()>;

// Where the caller moves its tensors each run wants new ones.
constexpr size_t kMostTables = 64;

CudaAddress AddressOf(const void* data) {
  return reinterpret_cast<CudaAddress>(data);
}

void CallKept(void* function) { (*static_cast<HostFunction*>(function))(); }
void CallOnce(void* function) {
  const std::unique_ptr<HostFunction> owner(
      static_cast<HostFunction*>(function));
  (*owner)();
}

// Operands of launches that have more than a launch can carry, in memory of the
// device, with what is copied there.
class OperandTables {
 public:
  explicit OperandTables(const CudaDriver& driver) : driver_(driver) {}
  ~OperandTables() { Clear(); }

  size_t size() const { return tables_.size(); }
  // Nothing that reads a table runs.
  void Clear() {
    for (const auto& [values, table] : tables_) driver_.release(table);
    tables_.clear();
  }
  // The table is there when the stream comes to what is put in next.
  CudaResult Find(std::vector<CudaAddress> addresses, CudaStreamHandle stream,
                  CudaAddress* found) {
    const size_t bytes = addresses.size() * sizeof(CudaAddress);
    auto& [values, table] = *tables_.try_emplace(std::move(addresses), 0).first;
    CudaResult result = 0;
    if (table == 0) result = driver_.allocate(&table, bytes);
    if (result == 0)
      result = driver_.copy_in(table, values.data(), bytes, stream);
    *found = table;
    return result;
  }

 private:
  const CudaDriver& driver_;
  std::map<std::vector<CudaAddress>, CudaAddress> tables_;
};

// A graph, and what its nodes use: functions of the host and tables.
class CudaRecording : public Recording {
 public:
  explicit CudaRecording(const CudaDriver& driver)
      : driver_(driver), tables_(driver) {}
  ~CudaRecording() override {
    driver_.Enter();
    if (exec_ != nullptr) driver_.destroy_exec(exec_);
  }

  void* Keep(HostFunction function) {
    functions_.push_back(std::make_unique<HostFunction>(std::move(function)));
    return functions_.back().get();
  }
  CudaResult Make(CudaGraph graph) {
    return driver_.instantiate(&exec_, graph, 0);
  }
  CudaGraphExec exec() const { return exec_; }
  OperandTables& tables() { return tables_; }

 private:
  const CudaDriver& driver_;
  OperandTables tables_;
  CudaGraphExec exec_ = nullptr;
  std::vector<std::unique_ptr<HostFunction>> functions_;
};

class CudaStream final : public Stream {
 public:
  explicit CudaStream(const CudaDriver& driver)
      : driver_(driver), tables_(driver) {}
  ~CudaStream() override {
    (void)Finish();
    for (CudaStreamHandle stream : {main_, side_}) {
      if (stream != nullptr && stream != given_) driver_.destroy_stream(stream);
    }
    for (CudaEvent event : events_) driver_.destroy_event(event);
    for (CudaEvent event : marks_) driver_.destroy_event(event);
    for (const Scratch& scratch : {main_scratch_, side_scratch_}) {
      for (const CudaAddress given : scratch.given) driver_.release(given);
    }
  }

  Status Open(uint32_t beside, CudaStreamHandle given) {
    driver_.Enter();
    main_ = given_ = given;
    for (CudaStreamHandle* stream : {&main_, &side_}) {
      if (*stream != nullptr) continue;
      Note(driver_.create_stream(stream, kCudaNonBlockingStream),
           "open a stream");
    }
    // Where something beside begins; where each of them ends.
    events_.resize(1 + beside);
    for (CudaEvent& event : events_) {
      Note(driver_.create_event(&event, kCudaEventWithoutTime),
           "create an event");
    }
    current_ = main_;
    return std::exchange(failure_, {});
  }

  void Launch(const KernelLaunch& launch) override {
    driver_.Enter();
    if (launch.library != nullptr) return RunLibrary(launch);
    std::vector<CudaAddress> values;
    for (const void* operand : launch.operands) {
      values.push_back(AddressOf(operand));
    }
    values.push_back(ScratchOf(launch.scratch_bytes));
    if (launch.operands.size() > MXC_MOST_PARAMETERS) {
      values = {TableOf(std::move(values))};
    }
    std::vector<void*> parameters;
    for (CudaAddress& value : values) parameters.push_back(&value);
    const mxc_launch& g = launch.geometry;
    auto* function =
        static_cast<CudaFunction>(const_cast<void*>(launch.kernel));
    if (g.shared_bytes > kCudaSharedBytes) {
      Note(driver_.set_attribute(function, kCudaMostSharedBytes,
                                 static_cast<int>(g.shared_bytes)),
           "give a kernel's blocks as much memory as they share");
    }
    Note(driver_.launch(function, g.grid[0], g.grid[1], g.grid[2], g.block[0],
                        g.block[1], g.block[2], g.shared_bytes, current_,
                        parameters.data(), nullptr),
         "launch a kernel");
  }

  void Copy(mxc_place to_place, void* to, mxc_place from_place,
            const void* from, uint64_t bytes) override {
    if (bytes == 0) return;
    driver_.Enter();
    const bool in = to_place == MXC_PLACE_DEVICE;
    const bool out = from_place == MXC_PLACE_DEVICE;
    if (!in && !out) return Call([=] { std::memcpy(to, from, bytes); });
    CudaResult result = 0;
    if (in && out) {
      result =
          driver_.copy_within(AddressOf(to), AddressOf(from), bytes, current_);
    } else if (in) {
      result = driver_.copy_in(AddressOf(to), from, bytes, current_);
    } else {
      result = driver_.copy_out(to, AddressOf(from), bytes, current_);
    }
    Note(result, "copy");
  }

  Status Join(std::shared_ptr<DeviceGroup> group, size_t number) override {
    const bool leaves = group == nullptr;
    group_ = std::dynamic_pointer_cast<CudaGroup>(std::move(group));
    number_in_group_ = number;
    if (leaves || group_ != nullptr) return {};
    return Fail(StatusCode::kInvalidArgument, "a group of other devices");
  }
  size_t members() const override {
    return group_ == nullptr ? 1 : group_->size();
  }
  void Collective(CollectiveFunction function,
                  std::span<const CollectiveTensor> tensors) override {
    if (group_ == nullptr) return Stream::Collective(function, tensors);
    driver_.Enter();
    Status done = group_->Do(number_in_group_, function, tensors, current_);
    if (failure_.ok()) failure_ = std::move(done);
  }

  void Call(HostFunction function) override {
    driver_.Enter();
    if (recording_ != nullptr) {
      void* kept = recording_->Keep(std::move(function));
      Note(driver_.call_host(current_, CallKept, kept), "call a function");
      return;
    }
    auto once = std::make_unique<HostFunction>(std::move(function));
    const CudaResult result = driver_.call_host(current_, CallOnce, once.get());
    if (result == 0) once.release();  // CallOnce has it
    Note(result, "call a function");
  }

  void BeginBeside(uint32_t number) override {
    driver_.Enter();
    Note(driver_.record_event(events_[0], main_), "record an event");
    Note(driver_.wait_event(side_, events_[0], 0), "wait for an event");
    current_ = side_;
    number_ = number;
  }
  void EndBeside() override {
    driver_.Enter();
    Note(driver_.record_event(events_[1 + number_], side_), "record an event");
    current_ = main_;
  }
  void WaitFor(uint32_t number) override {
    driver_.Enter();
    Note(driver_.wait_event(main_, events_[1 + number], 0),
         "wait for an event");
  }

  void Mark(uint32_t number) override {
    driver_.Enter();
    while (marks_.size() <= number) {
      CudaEvent mark = nullptr;
      const CudaResult result = driver_.create_event(&mark, kCudaEventWithTime);
      if (result != 0) return Note(result, "create an event");
      marks_.push_back(mark);
    }
    Note(driver_.record_event(marks_[number], main_), "record an event");
  }
  int64_t Between(uint32_t first, uint32_t second) override {
    driver_.Enter();
    float milliseconds = 0;
    Note(driver_.time_between(&milliseconds, marks_[first], marks_[second]),
         "measure a time");
    return static_cast<int64_t>(1e6 * static_cast<double>(milliseconds));
  }

  Status Finish() override {
    driver_.Enter();
    for (CudaStreamHandle stream : {main_, side_}) {
      if (stream != nullptr) Note(driver_.synchronize(stream), "run the model");
    }
    if (tables_.size() > kMostTables) tables_.Clear();
    Status copied = driver_.TakeUntold();
    if (failure_.ok()) failure_ = std::move(copied);
    return std::exchange(failure_, {});
  }

  void BeginRecord() override {
    driver_.Enter();
    recording_ = std::make_unique<CudaRecording>(driver_);
    Note(driver_.begin_capture(main_, kCudaRelaxedCapture), "begin a graph");
  }
  StatusOr<std::unique_ptr<Recording>> EndRecord() override {
    driver_.Enter();
    CudaGraph graph = nullptr;
    Note(driver_.end_capture(main_, &graph), "end a graph");
    auto recording = std::move(recording_);
    if (graph != nullptr) {
      if (failure_.ok()) Note(recording->Make(graph), "make a graph");
      driver_.destroy_graph(graph);
    }
    if (!failure_.ok()) return std::exchange(failure_, {});
    return std::unique_ptr<Recording>(std::move(recording));
  }
  void Replay(const Recording& recording) override {
    driver_.Enter();
    const auto& graph = static_cast<const CudaRecording&>(recording);
    Note(driver_.launch_graph(graph.exec(), main_), "launch a graph");
  }

 private:
  void RunLibrary(const KernelLaunch& launch) {
    auto& product = static_cast<CudaLibraryStep&>(*launch.library);
    Status status =
        product.Run(launch.operands, ScratchOf(launch.scratch_bytes), current_);
    if (failure_.ok()) failure_ = std::move(status);
  }

  void Note(CudaResult result, const char* what) {
    if (result != 0 && failure_.ok()) failure_ = driver_.Failure(result, what);
  }

  // Of the kernels of one stream, which run one after another. Graphs keep the
  // addresses that they were recorded with: what was given once stays.
  struct Scratch {
    std::vector<CudaAddress> given;
    uint64_t bytes = 0;  // of the last one
  };

  CudaAddress ScratchOf(uint64_t bytes) {
    if (bytes == 0) return 0;
    Scratch& scratch = current_ == side_ ? side_scratch_ : main_scratch_;
    if (bytes <= scratch.bytes) return scratch.given.back();
    CudaAddress memory = 0;
    Note(driver_.allocate(&memory, bytes), "allocate a kernel's scratch");
    if (memory == 0) return 0;
    scratch.given.push_back(memory);
    scratch.bytes = bytes;
    return memory;
  }

  CudaAddress TableOf(std::vector<CudaAddress> addresses) {
    OperandTables& tables =
        recording_ != nullptr ? recording_->tables() : tables_;
    CudaAddress table = 0;
    Note(tables.Find(std::move(addresses), current_, &table),
         "make a table of operands");
    return table;
  }

  const CudaDriver& driver_;
  CudaStreamHandle main_ = nullptr, side_ = nullptr, current_ = nullptr;
  CudaStreamHandle given_ = nullptr;  // the caller's, which is main_ then
  std::vector<CudaEvent> events_, marks_;
  uint32_t number_ = 0;  // of what goes beside now
  Scratch main_scratch_, side_scratch_;
  OperandTables tables_;  // of launches that are not recorded
  Status failure_;        // the first one
  std::unique_ptr<CudaRecording> recording_;
  std::shared_ptr<CudaGroup> group_;
  size_t number_in_group_ = 0;
};

}  // namespace

StatusOr<std::unique_ptr<Stream>> OpenCudaStream(const CudaDriver& driver,
                                                 uint32_t beside,
                                                 CudaStreamHandle given) {
  auto stream = std::make_unique<CudaStream>(driver);
  Status opened = stream->Open(beside, given);
  if (!opened.ok()) return opened;
  return std::unique_ptr<Stream>(std::move(stream));
}

}  // namespace mxc::runtime
