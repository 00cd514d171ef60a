// SPDX-License-Identifier: Apache-2.0
#include "runtime/formats/ndarray_list.h"

#include "tests/fuzz/arrays.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void RunNdarrayList(Bytes input) {
  const auto arrays = runtime::ParseNdarrayList(input);
  if (!arrays.ok()) return;
  for (const runtime::NamedArray& named : *arrays) Touch(named.array.bytes());
}

// A record of MXNet 0.8: u32 rank, extents, device, type, elements; and one of
// 0.11, whose extents have 64 bits.
std::string OldRecords() {
  const auto u32 = [](uint32_t v) {
    return std::string(reinterpret_cast<const char*>(&v), sizeof v);
  };
  const auto u64 = [](uint64_t v) {
    return std::string(reinterpret_cast<const char*>(&v), sizeof v);
  };
  const std::string elements(8, '\1');
  return u64(0x112) + u64(0) + u64(2) +                           //
         u32(1) + u32(2) + u32(1) + u32(0) + u32(0) + elements +  //
         u32(0xF993FAC8) + u32(1) + u64(2) + u32(1) + u32(0) + u32(0) +
         elements + u64(0);
}

std::vector<std::string> NdarrayListSeeds() {
  auto seeds = SmallFiles(&runtime::WriteNdarrayList);
  seeds.push_back(OldRecords());
  return seeds;
}

}  // namespace

extern const Target ndarray_list;
const Target ndarray_list = {
    .run = RunNdarrayList,
    .seeds = NdarrayListSeeds,
    .most_bytes = 512,
    .words = {std::string("\x12\1\0\0\0\0\0\0", 8), "\xc9\xfa\x93\xf9",
              "\xc8\xfa\x93\xf9", "\xca\xfa\x93\xf9", "arg:", "aux:"}};

}  // namespace mxc::fuzz
