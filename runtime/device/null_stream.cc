// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/null_stream.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <future>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/base/float_mode.h"
#include "runtime/base/memory.h"

namespace mxc::runtime {
namespace {

// A thread and what it has to do. Kernels are handed its scratch.
class Lane {
 public:
  using Task = std::function<void(Lane&)>;

  Lane() : thread_([this] { Serve(); }) {}
  ~Lane() {
    Put({});
    thread_.join();
  }

  void Put(Task task) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    changed_.notify_one();
  }

  // Null if there is no memory for it.
  void* Scratch(uint64_t bytes) {
    bytes = std::max<uint64_t>(bytes, MXC_SCRATCH_NOTE);
    if (scratch_.size() < bytes) {
      StatusOr<Region> larger = Region::Allocate(bytes, "scratch");
      if (!larger.ok()) return nullptr;
      scratch_ = std::move(*larger);
    }
    std::memset(scratch_.data(), 0, MXC_SCRATCH_NOTE);
    return scratch_.data();
  }

 private:
  void Serve() {
    const FloatMode mode;
    while (const Task task = Take()) task(*this);
  }

  Task Take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !tasks_.empty(); });
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    return task;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  Region scratch_;
  std::thread thread_;  // last: it uses the rest
};

// Something that a lane will have done.
class Event {
 public:
  void PutInto(Lane& lane) {
    auto done = std::make_shared<std::promise<void>>();
    done_ = done->get_future().share();
    lane.Put([done](Lane&) { done->set_value(); });
  }
  void HoldUp(Lane& lane) const {
    if (!done_.valid()) return;
    lane.Put([done = done_](Lane&) { done.wait(); });
  }
  void Wait() const { done_.wait(); }

 private:
  std::shared_future<void> done_;
};

// One thing that a stream was told.
struct Command {
  enum class Kind : uint8_t { kTask, kBegin, kEnd, kWait };
  Kind kind = Kind::kTask;
  uint32_t number = 0;
  Lane::Task task;
};

struct NullRecording : Recording {
  std::vector<Command> commands;
};

class NullStream final : public Stream {
 public:
  explicit NullStream(uint32_t beside) : ended_(beside) {}
  ~NullStream() override { (void)Finish(); }

  void Launch(const KernelLaunch& launch) override {
    std::vector<void*> operands;
    for (void* operand : launch.operands) operands.push_back(FromNull(operand));
    const auto kernel = *static_cast<const mxc_kernel*>(launch.kernel);
    const int64_t tasks = launch.geometry.grid[0];
    const uint64_t bytes = launch.scratch_bytes;
    TellTask([this, kernel, tasks, bytes, operands](Lane& lane) {
      void* scratch = lane.Scratch(bytes);
      if (scratch == nullptr) {
        out_of_memory_ = 1;
      } else {
        kernel(operands.data(), 0, tasks, scratch);
      }
    });
  }

  void Copy(mxc_place to_place, void* to, mxc_place from_place,
            const void* from, uint64_t bytes) override {
    if (bytes == 0) return;
    if (to_place == MXC_PLACE_DEVICE) to = FromNull(to);
    if (from_place == MXC_PLACE_DEVICE) from = FromNull(from);
    TellTask([=](Lane&) { std::memcpy(to, from, bytes); });
  }

  void Call(std::function<void()> function) override {
    TellTask([call = std::move(function)](Lane&) { call(); });
  }

  void BeginBeside(uint32_t number) override {
    Tell({Command::Kind::kBegin, number, {}});
  }
  void EndBeside() override { Tell({Command::Kind::kEnd, 0, {}}); }
  void WaitFor(uint32_t number) override {
    Tell({Command::Kind::kWait, number, {}});
  }

  Status Finish() override {
    for (Lane* lane : {&main_, &side_}) {
      Event end;
      end.PutInto(*lane);
      end.Wait();
    }
    if (out_of_memory_.exchange(0) == 0) return {};
    return Fail(StatusCode::kOutOfMemory, "no memory for a kernel's scratch");
  }

  void BeginRecord() override {
    recording_ = std::make_unique<NullRecording>();
  }
  StatusOr<std::unique_ptr<Recording>> EndRecord() override {
    return std::unique_ptr<Recording>(std::move(recording_));
  }
  void Replay(const Recording& recording) override {
    for (const Command& command :
         static_cast<const NullRecording&>(recording).commands) {
      Do(command);
    }
  }

 private:
  void TellTask(Lane::Task task) {
    Tell({Command::Kind::kTask, 0, std::move(task)});
  }

  void Tell(Command command) {
    if (recording_ != nullptr) {
      recording_->commands.push_back(std::move(command));
    } else {
      Do(command);
    }
  }

  void Do(const Command& command) {
    switch (command.kind) {
      case Command::Kind::kTask:
        return current_->Put(command.task);
      case Command::Kind::kBegin: {
        Event begun;
        begun.PutInto(main_);
        begun.HoldUp(side_);
        current_ = &side_;
        number_ = command.number;
        return;
      }
      case Command::Kind::kEnd:
        ended_[number_].PutInto(side_);
        current_ = &main_;
        return;
      case Command::Kind::kWait:
        return ended_[command.number].HoldUp(main_);
    }
  }

  Lane main_, side_;
  Lane* current_ = &main_;
  uint32_t number_ = 0;                     // of what goes beside now
  std::vector<Event> ended_;                // by number
  std::atomic<uint32_t> out_of_memory_{0};  // as Storage::running_
  std::unique_ptr<NullRecording> recording_;
};

}  // namespace

StatusOr<std::unique_ptr<Stream>> OpenNullStream(uint32_t beside) {
  try {
    return std::unique_ptr<Stream>(std::make_unique<NullStream>(beside));
  } catch (const std::system_error& error) {
    return Fail(StatusCode::kOutOfMemory, "cannot start a thread: %s",
                error.what());
  }
}

}  // namespace mxc::runtime
