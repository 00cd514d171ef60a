// SPDX-License-Identifier: Apache-2.0
// Program: steps over buffers, in the order in which they run. It is what the
// graph is lowered to, what memory is planned for, and all that codegen sees.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/program/buffer.h"
#include "ir/program/entry.h"
#include "ir/program/step.h"
#include "ir/support/diagnostic.h"
#include "ir/support/result.h"

namespace mxc {

enum class PlaceKind : uint8_t {
  kDevice,  // where the target's kernels run, which may be the host itself
  kHost,    // where functions run, where that is another place
};

struct ProgramPlace {
  PlaceKind kind = PlaceKind::kDevice;
  // Peak of its internal buffers; -1 until planned.
  int64_t arena_bytes = -1;
};

class Program {
 public:
  std::string name;  // "lenet"
  ProgramEntry entry;
  std::vector<Buffer> buffers;
  std::vector<Step> steps;

  // By number: first kKernelPlace, then one of each other kind that is used.
  std::vector<ProgramPlace> places = {{}};
  // Storage plan of kKernelPlace; -1 until planned.
  int64_t lower_bound_bytes = -1;  // the largest sum of live bytes
  int64_t naive_bytes = -1;        // without any sharing

  bool planned() const { return arena_bytes() >= 0; }
  int64_t arena_bytes() const { return places[kKernelPlace].arena_bytes; }
  // Of the places of a kind; 0 where there is none, or it is not planned.
  int64_t ArenaBytesOf(PlaceKind kind) const;
  bool IsOnHost(const Buffer& buffer) const {
    return places[static_cast<size_t>(buffer.place)].kind == PlaceKind::kHost;
  }
  // The place of that kind, which is added if there is none.
  Place PlaceFor(PlaceKind kind);

  int Root(int buffer) const;               // follows alias_of
  int64_t BytesIntoRoot(int buffer) const;  // where it begins there
  std::vector<int> BuffersOf(BufferKind kind) const;
};

// First and last step at which each root buffer holds a value that is still
// needed; {-1, -1} for buffers that are not internal or not used. Views count
// for their root.
struct LiveRange {
  int first = -1, last = -1;
};
std::vector<LiveRange> LiveRanges(const Program& program);

// For each buffer, whether a step reads it or an alias of it.
std::vector<bool> ReadBuffers(const Program& program);

// The invariants: operands exist and match the expressions' arity and types,
// stores cover outputs, every internal buffer is written before it is read,
// planned buffers that live at once do not overlap. Null when they hold.
std::optional<std::string> Verify(const Program& program);

uint64_t Hash(const Program& program);

std::string Print(const Program& program);
Result<Program> ParseProgram(std::shared_ptr<const SourceFile> text);

}  // namespace mxc
