// SPDX-License-Identifier: Apache-2.0
#include "passes/state_order.h"

#include <algorithm>
#include <set>

namespace mxc {
namespace {

std::vector<int> Writers(const Program& program) {
  std::vector<int> writer(program.buffers.size(), -1);
  for (size_t s = 0; s < program.steps.size(); ++s) {
    for (const int b : program.steps[s].outputs) {
      writer[b] = static_cast<int>(s);
    }
  }
  return writer;
}

// For each state the steps that read it, or a view of it; for other buffers
// nothing.
std::vector<std::vector<int>> StateReaders(const Program& program) {
  std::vector<int> viewed(program.buffers.size());  // the buffer, or what it
                                                    // is a view of
  for (size_t b = 0; b < viewed.size(); ++b) viewed[b] = static_cast<int>(b);
  std::vector<std::vector<int>> readers(program.buffers.size());
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    if (step.view) viewed[step.outputs[0]] = viewed[step.inputs[0]];
    for (const int b : step.inputs) {
      const int root = viewed[b];
      if (program.buffers[root].kind != BufferKind::kState) continue;
      if (readers[root].empty() || readers[root].back() != static_cast<int>(s))
        readers[root].push_back(static_cast<int>(s));
    }
  }
  return readers;
}

// Calls f(before, after) for steps that keep their order because one of them is
// not pure: each with the last such step, and that with all since the one
// before it. Those that may run beside others keep it among themselves alone.
template <class F>
void ForFixedOrder(const Program& program, F f) {
  int last = -1;    // that is not pure, and must not run beside others
  int beside = -1;  // after it: that is not pure, but may
  for (int s = 0; s < static_cast<int>(program.steps.size()); ++s) {
    const StepBody& body = program.steps[s].body;
    if (body.pure() || body.beside()) {
      if (last >= 0) f(last, s);
      if (body.pure()) continue;
      if (beside > last) f(beside, s);
      beside = s;
      continue;
    }
    for (int before = std::max(0, last); before < s; ++before) f(before, s);
    last = s;
  }
}

}  // namespace

std::vector<std::vector<int>> StepsBefore(const Program& program) {
  const std::vector<int> writer = Writers(program);
  const auto readers = StateReaders(program);
  std::vector<std::vector<int>> before(program.steps.size());
  for (size_t s = 0; s < program.steps.size(); ++s) {
    for (const int b : program.steps[s].inputs) {
      if (writer[b] >= 0) before[s].push_back(writer[b]);
    }
    for (const int b : program.steps[s].outputs) {
      const int state = program.buffers[b].state;
      if (state < 0) continue;
      for (const int reader : readers[state]) {
        if (reader != static_cast<int>(s)) before[s].push_back(reader);
      }
    }
  }
  ForFixedOrder(program, [&](int earlier, int later) {
    before[later].push_back(earlier);
  });
  for (std::vector<int>& steps : before) {
    std::ranges::sort(steps);
    const auto repeated = std::ranges::unique(steps);
    steps.erase(repeated.begin(), repeated.end());
  }
  return before;
}

void SortByDependencies(Program& program) {
  const auto before = StepsBefore(program);
  std::vector<size_t> awaited(before.size());
  std::vector<std::vector<int>> waiting(before.size());
  std::set<int> ready;
  for (size_t s = 0; s < before.size(); ++s) {
    awaited[s] = before[s].size();
    for (const int b : before[s]) waiting[b].push_back(static_cast<int>(s));
    if (awaited[s] == 0) ready.insert(static_cast<int>(s));
  }
  std::vector<Step> sorted;
  while (!ready.empty()) {
    const int s = *ready.begin();
    ready.erase(ready.begin());
    sorted.push_back(std::move(program.steps[s]));
    for (const int w : waiting[s]) {
      if (--awaited[w] == 0) ready.insert(w);
    }
  }
  MXC_CHECK(sorted.size() == before.size(), "the steps wait for each other");
  program.steps = std::move(sorted);
}

StateOrder::StateOrder(const Program& program)
    : program_(program),
      after_(program.steps.size()),
      readers_(StateReaders(program)) {
  const std::vector<int> writer = Writers(program);
  for (size_t s = 0; s < program.steps.size(); ++s) {
    for (const int b : program.steps[s].inputs) {
      if (writer[b] >= 0) after_[writer[b]].push_back(static_cast<int>(s));
    }
  }
  ForFixedOrder(program, [&](int earlier, int later) {
    after_[earlier].push_back(later);
  });
}

bool StateOrder::WriteAfterReads(int next, int writer) {
  const int state = program_.buffers[next].state;
  const std::vector<int>& readers = readers_[state];
  std::set<int> later;
  std::vector<int> pending = {writer};
  while (!pending.empty()) {
    const int step = pending.back();
    pending.pop_back();
    for (const int s : after_[step]) {
      if (later.insert(s).second) pending.push_back(s);
    }
  }
  for (const int reader : readers) {
    if (later.contains(reader)) return false;
    const auto& inputs = program_.steps[reader].inputs;
    if (reader == writer && std::ranges::count(inputs, state) == 0) {
      return false;
    }
  }
  for (const int reader : readers) {
    if (reader != writer) after_[reader].push_back(writer);
  }
  return true;
}

}  // namespace mxc
