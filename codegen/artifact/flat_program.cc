// SPDX-License-Identifier: Apache-2.0
#include "codegen/artifact/flat_program.h"

#include <map>
#include <utility>

#include "ir/program/memory.h"
#include "ir/program/steps/branch.h"
#include "ir/program/steps/repeat.h"
#include "ir/program/steps/start.h"
#include "ir/program/steps/wait.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

class Flattening {
 public:
  explicit Flattening(const Program& entry) {
    flat_.program = entry;
    flat_.program.steps.clear();
    flat_.windows.resize(entry.buffers.size());
    const int64_t inside = InsideOf(entry, 0);
    for (const Step& step : entry.steps) {
      flat_.rows.push_back(row());
      Add(step, inside);
    }
  }

  FlatProgram Take() && { return std::move(flat_); }

 private:
  int row() const { return static_cast<int>(flat_.program.steps.size()); }

  // Where the host's arenas of programs inside of `program` begin, whose own one
  // begins at `host`.
  static int64_t InsideOf(const Program& program, int64_t host) {
    return host + program.ArenaBytesOf(PlaceKind::kHost) -
           HostBytesInside(program);
  }

  // A step whose operands are named as the list names them. The host's arenas
  // of programs inside of it begin at `host`.
  void Add(const Step& step, int64_t host) {
    const int at = row();
    flat_.program.steps.push_back(step);
    flat_.bodies.push_back(0);
    flat_.others.push_back(0);
    flat_.afters.push_back(0);
    if (const Repeat* repeat = step.body.As<Repeat>()) {
      std::vector<int> parts;
      for (size_t b = 0; b < repeat->sliced.size(); ++b) {
        parts.push_back(NumberOfPart(step, *repeat, static_cast<int>(b), at));
      }
      flat_.bodies[at] = AddInner(step, *repeat->body, std::move(parts), host);
    } else if (const Branch* branch = step.body.As<Branch>()) {
      std::vector<int> operands = step.operands();
      operands.pop_back();
      flat_.bodies[at] = AddInner(step, *branch->then, operands, host);
      flat_.others[at] = AddInner(step, *branch->otherwise, operands, host);
    } else if (const Start* start = step.body.As<Start>()) {
      starts_[step.operands()] = at;
      Step begun = step;
      begun.body = start->body;
      Add(begun, host);
      flat_.bodies[at] = row() - at - 1;
    } else if (step.body.As<Wait>() != nullptr) {
      flat_.afters[at] = starts_.at(step.inputs);
    }
  }

  // Of a program inside, whose first buffers are `numbers` in the list. Returns
  // how many rows it has.
  int AddInner(const Step& step, const Program& inside,
               std::vector<int> numbers, int64_t host) {
    const std::vector<Buffer>& buffers = inside.buffers;
    const size_t windows = numbers.size();
    for (size_t b = windows; b < buffers.size(); ++b) {
      numbers.push_back(AddBuffer(step, buffers[b]));
      Buffer& added = flat_.program.buffers.back();
      added.place = PlaceOutside(inside, added.place);
      if (added.offset >= 0) added.offset += ArenaOf(step, added.place, host);
    }
    for (size_t b = windows; b < buffers.size(); ++b) {
      const int of = buffers[b].alias_of;
      if (of >= 0) flat_.program.buffers[numbers[b]].alias_of = numbers[of];
    }
    const int first = row();
    for (Step inner : inside.steps) {
      for (int& b : inner.inputs) b = numbers[b];
      for (int& b : inner.outputs) b = numbers[b];
      if (!inner.name.starts_with(step.name + "/")) {
        inner.name = step.name + "/" + inner.name;
      }
      Add(inner, InsideOf(inside, host));
    }
    return row() - first;
  }

  // The place of the same kind. What is planned inside has room outside.
  Place PlaceOutside(const Program& inside, Place place) {
    return flat_.program.PlaceFor(
        inside.places[static_cast<size_t>(place)].kind);
  }

  // Of what the body sees of an operand.
  int NumberOfPart(const Step& step, const Repeat& repeat, int part, int at) {
    const int operand = step.operands()[repeat.OperandOf(part)];
    const Repeat::Slices slices = repeat.SlicesOf(part);
    if (slices.advance == 0) return step.operands()[part];
    Buffer buffer = repeat.body->buffers[part];
    buffer.alias_of = -1;
    const int number = AddBuffer(step, std::move(buffer));
    flat_.windows[number] = TurnWindow{
        at, flat_.program.Root(operand),
        flat_.program.BytesIntoRoot(operand) + slices.begin, slices.advance};
    return number;
  }

  // Of a program inside.
  int AddBuffer(const Step& step, Buffer buffer) {
    MXC_CHECK(buffer.kind != BufferKind::kConstant,
              "a constant inside of step '{}'", step.name);
    buffer.name = step.name + "/" + buffer.name;
    buffer.kind = BufferKind::kInternal;
    buffer.state = -1;
    flat_.program.buffers.push_back(std::move(buffer));
    flat_.windows.emplace_back();
    return static_cast<int>(flat_.program.buffers.size()) - 1;
  }

  // Where the arena of a program inside of a step begins: on the device in the
  // step's workspace.
  int64_t ArenaOf(const Step& step, Place place, int64_t host) const {
    const Program& program = flat_.program;
    if (program.places[static_cast<size_t>(place)].kind == PlaceKind::kHost) {
      return host;
    }
    const int workspace = step.outputs.back();
    return program.buffers[program.Root(workspace)].offset +
           program.BytesIntoRoot(workspace);
  }

  FlatProgram flat_;
  std::map<std::vector<int>, int> starts_;  // rows, by their operands
};

}  // namespace

FlatProgram Flatten(const Program& entry) { return Flattening(entry).Take(); }

}  // namespace mxc
