// SPDX-License-Identifier: Apache-2.0
// Program: steps over buffers, in the order in which they run. It is what the
// graph is lowered to, what memory is planned for, and all that codegen sees.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/graph/tensor.h"
#include "ir/program/expr.h"
#include "ir/program/layout.h"
#include "ir/support/diagnostic.h"
#include "ir/support/result.h"

namespace mxc {

enum class BufferKind {
  kInput,     // the caller's, row-major, read only; some are not read at all
  kOutput,    // the caller reads it after the run, row-major
  kConstant,  // weights: bytes known when the artifact is written
  kInternal,  // in the arena
  // A parameter, a moving statistic, a moment, a random counter: lives from run
  // to run, row-major, shared by all entries of an artifact under its name.
  kState,
  // What a state will be in the next run. The pass update-in-place makes it an
  // alias of its state; it is written after all reads of the old value.
  kNextState,
};

struct Buffer {
  std::string name;  // the value's name in the user's network
  TensorType type;
  Layout layout;
  BufferKind kind = BufferKind::kInternal;
  // kConstant: the bytes, row-major, whatever `layout` says; codegen lays them
  // out when it writes the artifact. kState: before the first run, zeros if
  // empty.
  Tensor constant;
  int state = -1;  // kNextState: the kState buffer
  // Shares the bytes of this buffer (a view, an in-place step, a part of a
  // concatenation), from `alias_begin` bytes on, or -1. The root of a chain of
  // aliases is the one that has an offset.
  int alias_of = -1;
  int64_t alias_begin = 0;
  // Storage plan: bytes from the start of the arena, kInternal roots only.
  int64_t offset = -1;

  int64_t bytes() const { return layout.elements() * SizeOf(type.dtype); }
  // From its first byte to its last: more than bytes() where it is a window.
  int64_t reach_bytes() const { return layout.reach() * SizeOf(type.dtype); }
};

// One tensor expression written to a box of an output: for every index i with
// begin ≤ i < begin + extent, output[i] = value, where variable k of `value` is
// i[k]. The stores of a step are disjoint and cover its outputs.
struct Store {
  int output = 0;  // which of the step's outputs
  Extents begin, extent;
  Expr value;
};

// Elementwise, broadcast, reduction, view, gather: everything that has no fast
// algorithm of its own. Loads name the step's inputs.
struct Map {
  std::vector<Store> stores;
};

// The role that an axis of an operand plays in a contraction.
enum class Role : uint8_t {
  kBatch,       // n
  kGroup,       // g
  kIn,          // k, within a group
  kOut,         // m, within a group
  kGroupIn,     // g · K + k
  kGroupOut,    // g · M + m
  kGroupBatch,  // g · N + n
  kSpatial0,
  kSpatial1,
  kSpatial2,  // data: input position; weight: kernel
              // position; output: output position
};

// A convolution or a matrix product:
//   out[n, g, m, o…] = Σ_{k, w…} data[n, g, k, i…] · weight[g, m, k, w…]
//   i = (o·stride + w·dilate − pad) / data_dilate
// where data is zero outside its extent and between its elements, that is where
// the division leaves a rest. With `flip`, i counts kernel positions from the
// end: kernel − 1 − w in place of w. Output extents are given, not derived. A
// matrix product has no spatial axes: its rows are the batch. Operand 0 of the
// step is data, 1 weight; the others are read by the epilogue.
//
// The gradients of a convolution are contractions, too:
//   data's    of its output by the weight with exchanged channels (axes
//             kGroupIn, kOut, …): flipped, data_dilate = the forward stride,
//             pad = dilate·(kernel − 1) − the forward pad, which may be
//             negative;
//   weight's  of data (axes kIn, kGroupBatch, …: the batch is summed, and input
//             channels take its place) by the output's gradient (axes kIn,
//             kGroupOut, …): stride and dilate exchanged, the kernel is the
//             output's extent and the output the kernel's.
struct Contraction {
  int64_t batch = 1, groups = 1, in = 1, out = 1;  // N, G, K, M
  Extents input, output, kernel;                   // spatial, 0 to 3 axes
  Extents stride, dilate, pad;  // pad: before; after is implied
  Extents data_dilate;
  bool flip = false;
  std::vector<Role> data_axes, weight_axes, output_axes;

  // 2 · multiply-adds; none with the zeros between data's elements.
  int64_t flops() const;
};

// With `in` (an axis of both operands, of one group) in equal parts, which
// become a leading axis of the output: the sums of the parts, to be added.
Contraction InParts(const Contraction& c, int64_t parts);

// How a contraction is computed, chosen by select-kernels from what the
// KernelCatalog offers. Empty `algorithm`: the generic loop nest.
struct KernelChoice {
  std::string algorithm;  // "direct", "depthwise", "gemm" …
  int64_t block = 1;      // lanes: the channel block of data and output
  int64_t tile_rows = 0, tile_vectors = 0;  // register tile
  friend bool operator==(const KernelChoice&, const KernelChoice&) = default;
};

// The extents of what a contraction yields, by its output axes.
Extents OutputDims(const Contraction& c);

// out[i] = epilogue, where Acc is the contraction's sum for i and Loads read
// the step's inputs at or around i.
struct ContractionStep {
  Contraction contraction;
  Expr epilogue;
  KernelChoice choice;
  // If not empty, out is the maxima of the epilogue's values over windows of so
  // many positions along each spatial axis. The windows lie side by side from
  // the first position on; positions that fill none are left out.
  Extents maxima = {};
};

// How an operand is cut into tiles: tile t sees it from index
// begin + t · advance of `axis` on, or whole where there is no such axis.
struct Window {
  int axis = -1;
  int64_t begin = 0, advance = 0;
  friend bool operator==(const Window&, const Window&) = default;
};

// Steps that run one after the other on one tile of their tensors, then on the
// next: what they hand to each other is never there as a whole, and a tile of
// it stays in a core's caches. Tiles are independent; each is a task.
//
// Buffer i of the tile's program is the window of the step's operand i (inputs,
// then outputs), of kind kInput or kOutput and with the layout of its part of
// the operand; an alias of an earlier window where both operands share bytes.
// The other buffers are internal and lie in the thread's scratch, as planned.
struct TileLoop {
  int64_t tiles = 1;
  std::vector<Window> windows;  // for each operand
  std::shared_ptr<const class Program> tile;
};

struct Step {
  std::string name;                  // "conv0+bn0+relu0", from the origins
  std::vector<int> inputs, outputs;  // buffers
  std::variant<Map, ContractionStep, TileLoop> body;
  std::vector<std::string> origins;  // nodes of the user's network, in order
  SourceLoc loc;
  // Output 0 is input 0 under another row-major shape, without gaps (Map only).
  bool view = false;
  // Bytes of scratch that each thread needs, as codegen asks.
  int64_t scratch_bytes = 0;

  const Map* map() const { return std::get_if<Map>(&body); }
  Map* map() { return std::get_if<Map>(&body); }
  const ContractionStep* contraction() const {
    return std::get_if<ContractionStep>(&body);
  }
  ContractionStep* contraction() { return std::get_if<ContractionStep>(&body); }
  const TileLoop* loop() const { return std::get_if<TileLoop>(&body); }
  // Inputs, then outputs.
  std::vector<int> operands() const;
  int64_t flops(const Program& program) const;
};

class Program {
 public:
  std::string name;   // "lenet"
  std::string entry;  // "infer"
  std::vector<Buffer> buffers;
  std::vector<Step> steps;

  // Storage plan; -1 until planned.
  int64_t arena_bytes = -1;        // peak of the internal buffers
  int64_t lower_bound_bytes = -1;  // the largest sum of live bytes
  int64_t naive_bytes = -1;        // without any sharing

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

// The outputs of a Map step in groups that are computed in one sweep, all of an
// index before any of it is written: outputs of equal shapes and layouts, in
// order. A group may be written over inputs that are read at the own index.
std::vector<std::vector<int>> SweepsOf(const Program& program,
                                       const Step& step);

uint64_t Hash(const Program& program);

std::string Print(const Program& program);
Result<Program> ParseProgram(std::shared_ptr<const SourceFile> text);

}  // namespace mxc
