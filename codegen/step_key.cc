// SPDX-License-Identifier: Apache-2.0
#include "codegen/step_key.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unordered_map>
#include <vector>

#include "codegen/schedule/address_form.h"

namespace mxc {
namespace {

class Key {
 public:
  Key(const Program& program, const Step& step) : program_(program) {
    const std::vector<int> operands = step.operands();
    text_ = fmt::format("{}>{}", step.inputs.size(), step.outputs.size());
    std::unordered_map<int, size_t> first;  // operand, by root
    for (size_t i = 0; i < operands.size(); ++i) {
      // The first operand with the same bytes.
      const size_t same =
          first.try_emplace(program.Root(operands[i]), i).first->second;
      AddOperand(operands[i], same);
    }
  }

  void Add(const Map& map) {
    for (const Store& store : map.stores) {
      text_ += fmt::format(
          "|store {} [{}][{}] {}", store.output, fmt::join(store.begin, ","),
          fmt::join(store.extent, ","), StructureOf(store.value));
    }
  }

  void Add(const ContractionStep& step) {
    const Contraction& c = step.contraction;
    const auto roles = [&](const std::vector<Role>& axes) {
      for (const Role role : axes) {
        text_ += fmt::format(",{}", static_cast<int>(role));
      }
      text_ += ';';
    };
    text_ +=
        fmt::format("|contraction {},{},{},{}", c.batch, c.groups, c.in, c.out);
    for (const Extents* extents : {&c.input, &c.output, &c.kernel, &c.stride,
                                   &c.dilate, &c.pad, &c.data_dilate}) {
      text_ += fmt::format("[{}]", fmt::join(*extents, ","));
    }
    text_ += c.flip ? "flip" : "";
    roles(c.data_axes);
    roles(c.weight_axes);
    roles(c.output_axes);
    text_ +=
        fmt::format("{} {},{},{} ", step.choice.algorithm, step.choice.block,
                    step.choice.tile_rows, step.choice.tile_vectors);
    text_ += StructureOf(step.epilogue);
    if (!step.maxima.empty()) {
      text_ += fmt::format("|maxima {}", fmt::join(step.maxima, ","));
    }
  }

  // All that the calls depend on: windows, addresses, and the kernels by their
  // own keys.
  void Add(const TileLoop& loop) {
    text_ += fmt::format("|tiles {}", loop.tiles);
    for (const Window& window : loop.windows) {
      text_ +=
          fmt::format("({},{},{})", window.axis, window.begin, window.advance);
    }
    const Program& tile = *loop.tile;
    text_ += fmt::format("|arena {}", tile.arena_bytes);
    for (size_t i = 0; i < tile.buffers.size(); ++i) {
      const auto root = tile.Root(static_cast<int>(i));
      text_ += fmt::format("|{}{}+{}@{}", ToString(tile.buffers[i].type),
                           ToString(tile.buffers[i].layout),
                           tile.BytesIntoRoot(static_cast<int>(i)),
                           static_cast<size_t>(root) < loop.windows.size()
                               ? root
                               : tile.buffers[root].offset);
    }
    for (const Step& step : tile.steps) {
      text_ += fmt::format("|step [{}] {{{}}}", fmt::join(step.operands(), ","),
                           KeyOf(tile, step));
    }
  }

  std::string text() && { return std::move(text_); }

 private:
  void AddOperand(int operand, size_t same) {
    const Buffer& buffer = program_.buffers[static_cast<size_t>(operand)];
    text_ += fmt::format("|{}:{}{}", same, ToString(buffer.type),
                         ToString(buffer.layout));
  }

  const Program& program_;
  std::string text_;
};

}  // namespace

std::string KeyOf(const Program& program, const Step& step) {
  Key key(program, step);
  if (step.map() != nullptr) {
    key.Add(*step.map());
  } else if (step.loop() != nullptr) {
    key.Add(*step.loop());
  } else {
    key.Add(*step.contraction());
  }
  return std::move(key).text();
}

}  // namespace mxc
