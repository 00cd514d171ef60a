// SPDX-License-Identifier: Apache-2.0
#include "runtime/ndarray/loops.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mxc::runtime {
namespace {

// Wirings of a part that are compiled; another one runs call by call.
constexpr int kMostPrograms = 6;
// After so many runs the calls are not expected to run by themselves.
constexpr uint64_t kRunsToStay = 2;
// What it costs to hand a call to a program, about: its operands are copied and
// wired. One by one shorter ones end sooner.
constexpr uint64_t kNanosecondsToTake = 1000;
// So often a turn may end early before it is no longer waited for.
constexpr int kMostBroken = 3;

void CountWaiting(const WaitingCall& call, int more) {
  for (const NDArray& array : call.inputs) array.chunk()->CountWaiting(more);
  for (const NDArray& array : call.outputs) array.chunk()->CountWaiting(more);
}

bool IsWaitedWith(ArrayRefs arrays) {
  return std::ranges::any_of(arrays, [](const NDArray* array) {
    return array->chunk()->is_waited_with();
  });
}

}  // namespace

// Holds the lock.
class Loops::Locked {
 public:
  explicit Locked(Loops& loops) : loops_(loops), lock_(loops.mutex_) {}
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() {
    loops_.is_active_ = !loops_.parts_.empty() || !loops_.waiting_.empty();
  }

 private:
  Loops& loops_;
  const std::lock_guard<std::mutex> lock_;
};

struct Loops::Part {
  LoopPart turn;
  RecentlyUsed<std::vector<uint64_t>, std::shared_ptr<LoopProgram>, WordsHash>
      programs{kMostPrograms};
  int compiled = 0, broken = 0;
  uint64_t runs_before = 0;  // it was noticed the last time
  LoopReport report;
};

void Loops::SetCompiler(std::unique_ptr<const SequenceCompiler> compiler) {
  const std::lock_guard lock(mutex_);
  compiler_ = std::move(compiler);
  is_on_ = compiler_ != nullptr;
}

// ---- Calls ---------------------------------------------------------------

bool Loops::Take(const GivenCall& call) {
  if (!is_on_.load(std::memory_order_relaxed)) return false;
  if (is_active_.load(std::memory_order_relaxed) && TakeLocked(call)) {
    // What an operation calls may be what the turns wait for.
    if (!Engine::IsInOperation()) ahead_->Wait();
    return true;
  }
  if (call.compiled->is_random()) {
    // Its numbers follow from its place among all that draw.
    LoopFinder::Here().NoteWait(nullptr);
  } else {
    Note(call);
  }
  return false;
}

bool Loops::TakeLocked(const GivenCall& call) {
  LetGo gone;
  const Locked locked(*this);
  return TakeInto(call, gone);
}

void Loops::Note(const GivenCall& call) {
  LoopFinder& finder = LoopFinder::Here();
  for (LoopPart& part :
       finder.Note(*call.compiled, call.inputs, call.outputs)) {
    Register(std::move(part));
  }
}

void Loops::Register(LoopPart turn) {
  const bool is_short =
      turn.nanoseconds < kNanosecondsToTake * turn.calls.size();
  if (is_short && !takes_short_ones_) return;
  const Locked locked(*this);
  const uint64_t first = turn.calls[0];
  const int* const tries = given_up_.Find(turn.calls);
  if (tries != nullptr && *tries >= kMostTries) return;
  if (const PartPtr* const other = parts_.Find(first)) {
    if ((*other)->turn.calls == turn.calls) return;
    PutToSleep(*other);
  }
  PartPtr part = Woken(turn);
  if (part == nullptr) part = std::make_shared<Part>();
  part->turn = std::move(turn);
  if (part->report.calls.size() < part->turn.calls.size()) {
    asks_for_lines_ = true;
  }
  parts_.Add(first, std::move(part));
}

void Loops::PutToSleep(const PartPtr& awake) {
  const PartPtr part = awake;  // which may lie in what is removed
  parts_.Remove(part->turn.calls[0]);
  part->broken = 0;
  part->runs_before = part->report.runs;
  if (part->compiled > 0) asleep_.Add(part->turn.calls, part);
}

Loops::PartPtr Loops::Woken(const LoopPart& turn) {
  const PartPtr* const asleep = asleep_.Find(turn.calls);
  if (asleep == nullptr) return nullptr;
  PartPtr part = *asleep;
  asleep_.Remove(turn.calls);
  return part;
}

bool Loops::TakeInto(const GivenCall& call, LetGo& gone) {
  const bool is_random = call.compiled->is_random();
  const uint64_t number = call.compiled->number();
  if (!waiting_.empty()) {
    const std::vector<uint64_t>& turn = part_->turn.calls;
    const bool is_owner = owner_ == std::this_thread::get_id();
    if (is_owner && !is_random &&
        number == turn[waiting_.size() % turn.size()]) {
      Add(call);
      if (waiting_.size() >= turn.size() + part_->turn.ahead) RunTurn(gone);
      return true;
    }
    const bool is_beside =
        !IsWaitedWith(call.inputs) && !IsWaitedWith(call.outputs);
    if (!is_owner && is_beside) return false;
    Settle(nullptr, gone);
  }
  if (is_random) return false;
  const PartPtr* const found = parts_.Find(number);
  if (found == nullptr) return false;
  part_ = *found;
  owner_ = std::this_thread::get_id();
  Add(call);
  return true;
}

void Loops::Add(const GivenCall& call) {
  waiting_.push_back(
      {call.op, call.compiled, CopiesOf(call.inputs), CopiesOf(call.outputs)});
  CountWaiting(waiting_.back(), 1);
  if (asks_for_lines_.load(std::memory_order_relaxed)) Tell(waiting_.back());
}

void Loops::Tell(const WaitingCall& call) {
  auto& told = part_->report.calls;
  const size_t all = part_->turn.calls.size();
  if (told.size() == all || told.size() + 1 != waiting_.size()) return;
  told.push_back({call.Text(), Line()});
  if (told.size() < all) return;
  bool more = false;
  parts_.ForEach([&](const PartPtr& part) {
    more |= part->report.calls.size() < part->turn.calls.size();
  });
  asks_for_lines_ = more;
}

// ---- Who asks ------------------------------------------------------------

void Loops::Settle(const NDArray& array) {
  if (!is_on_.load(std::memory_order_relaxed)) return;
  LoopFinder::Here().NoteWait(array.chunk().get());
  if (!array.chunk()->is_waited_with()) return;
  LetGo gone;
  const Locked locked(*this);
  Settle(array.chunk().get(), gone);
}

void Loops::SettleAll() {
  if (!is_on_.load(std::memory_order_relaxed)) return;
  LoopFinder::Here().NoteWait(nullptr);
  LetGo gone;
  const Locked locked(*this);
  Settle(nullptr, gone);
}

void Loops::Settle(const Chunk* chunk, LetGo& gone) {
  if (waiting_.empty()) return;
  const size_t whole = part_->turn.calls.size();
  if (waiting_.size() >= whole) {
    RunTurn(gone);
    if (waiting_.empty()) return;
    if (chunk != nullptr && !chunk->is_waited_with()) return;
    // Values of a turn that has begun are asked for each time.
    if (chunk != nullptr) part_->turn.ahead = 0;
  } else if (++part_->broken >= kMostBroken) {
    Leave();
  }
  RunEach(First(waiting_.size()), gone);
}

// ---- Running -------------------------------------------------------------

Loops::Calls Loops::First(size_t count) {
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
  Calls first(std::make_move_iterator(waiting_.begin()),
              std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  for (const WaitingCall& call : first) CountWaiting(call, -1);
  return first;
}

void Loops::RunTurn(LetGo& gone) {
  Calls calls = First(part_->turn.calls.size());
  part_->broken = 0;
  StatusOr<WiredSequence> wired = Wired(calls, waiting_);
  if (!wired.ok()) {
    GiveUp(wired.status().message());
    return RunEach(std::move(calls), gone);
  }
  const auto program = ProgramOf(wired->sequence);
  if (program == nullptr) return RunEach(std::move(calls), gone);
  const uint64_t runs = ++part_->report.runs - part_->runs_before;
  LoopProgram::Push(engine_, program,
                    {.calls = std::move(calls),
                     .wired = std::move(*wired),
                     .lets_calls_go = runs == kRunsToStay},
                    ahead_);
}

std::shared_ptr<LoopProgram> Loops::ProgramOf(const CallSequence& sequence) {
  std::vector<uint64_t> key = sequence.Key();
  if (const auto* const found = part_->programs.Find(key)) return *found;
  if (part_->compiled == kMostPrograms) {
    GiveUp("what is read, written or kept differs from turn to turn");
    return nullptr;
  }
  ++part_->compiled;
  StatusOr<CompiledOperator> compiled = compiler_->Compile(sequence);
  if (!compiled.ok()) {
    GiveUp(compiled.status().message());
    return nullptr;
  }
  auto program = std::make_shared<LoopProgram>(std::move(*compiled), team_);
  part_->programs.Add(std::move(key), program);
  return program;
}

void Loops::RunEach(Calls calls, LetGo& gone) {
  for (const WaitingCall& call : calls) {
    RunCall(engine_, {call.op, call.compiled, RefsTo(call.inputs),
                      RefsTo(call.outputs)});
  }
  gone.push_back(std::move(calls));
}

void Loops::Leave() {
  if (part_->report.runs == part_->runs_before) {
    return GiveUp(
        "the calls did not come in the same order again, or somebody asked "
        "for a value among them");
  }
  given_up_.Remove(part_->turn.calls);
  PutToSleep(part_);
  LoopFinder::Here().Forget();
}

void Loops::GiveUp(const std::string& why) {
  const std::vector<uint64_t>& calls = part_->turn.calls;
  parts_.Remove(calls[0]);
  const int* const before = given_up_.Find(calls);
  const int tries = before == nullptr ? 1 : *before + 1;
  given_up_.Remove(calls);
  given_up_.Add(calls, tries);
  part_->report.outcome = why;
  failures_.push_back(part_->report);
  if (failures_.size() > kMostParts) failures_.pop_front();
  // What it does otherwise is noticed from the begin.
  LoopFinder::Here().Forget();
}

std::string& Loops::Line() {
  thread_local std::string line;
  return line;
}

void Loops::BeginFork() {
  SettleAll();
  mutex_.lock();
}

std::vector<LoopReport> Loops::Reports() {
  const std::lock_guard lock(mutex_);
  std::vector<LoopReport> reports;
  const auto report = [&](const PartPtr& part) {
    if (part->compiled > 0) reports.push_back(part->report);
  };
  parts_.ForEach(report);
  asleep_.ForEach(report);
  reports.insert(reports.end(), failures_.rbegin(), failures_.rend());
  return reports;
}

}  // namespace mxc::runtime
