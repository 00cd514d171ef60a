// SPDX-License-Identifier: Apache-2.0
// What comes over the wire of a kvstore: frames, and a worker's first one.
#include "runtime/kvstore/frame.h"

#include <algorithm>

#include "runtime/base/checksum.h"
#include "runtime/kvstore/hello.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

using kvstore::Frame;
using kvstore::FrameDecoder;
using kvstore::Header;

void RunFrames(Bytes input) {
  FrameDecoder decoder;
  while (!input.empty()) {
    const auto room = decoder.Room();
    if (room.empty()) Wrong("a decoder has no room");
    const size_t count = std::min(room.size(), input.size());
    std::copy_n(input.begin(), count, room.begin());
    input = input.subspan(count);
    const auto whole = decoder.Advance(count);
    if (!whole.ok()) return;
    if (!*whole) continue;
    const Frame& frame = decoder.frame();
    if (frame.payload.size() > kvstore::kMaxPayload) Wrong("a long payload");
    Touch(frame.payload);
    const auto hello = kvstore::DecodeHello(frame);
    if (hello.ok() && hello->settings.size() > kvstore::kLongestSentence) {
      Wrong("long settings");
    }
  }
}

std::vector<std::string> SmallFrames() {
  std::vector<std::string> seeds;
  const auto add = [&](kvstore::FrameType type, Bytes payload) {
    Header header;
    header.type = type;
    header.total = payload.size();
    const auto head = kvstore::EncodeHeader(header, payload);
    std::string seed(reinterpret_cast<const char*>(head.data()), head.size());
    seed.append(reinterpret_cast<const char*>(payload.data()), payload.size());
    seeds.push_back(seed + seed);
  };
  add(kvstore::FrameType::kHello,
      kvstore::EncodeHello({1, 2, "dist_sync"})->bytes);
  add(kvstore::FrameType::kPush, std::as_bytes(std::span("0123456789abcdef")));
  add(kvstore::FrameType::kHeartbeat, {});
  return seeds;
}

// Both checksums of every frame, where frame.h puts them.
void SealFrames(std::span<std::byte> input) {
  while (input.size() >= kvstore::kHeaderBytes) {
    const auto head = input.first(kvstore::kHeaderBytes);
    input = input.subspan(kvstore::kHeaderBytes);
    const size_t size =
        std::min<size_t>(Load<uint32_t>(head, 12), input.size());
    Store(head, 56, runtime::Checksum(input.first(size)));
    Store(head, 64, runtime::Checksum(head.first(64)));
    input = input.subspan(size);
  }
}

}  // namespace

extern const Target kvstore_frame;
const Target kvstore_frame = {.run = RunFrames,
                              .seeds = SmallFrames,
                              .most_bytes = 512,
                              .words = {"MXKV"},
                              .seal = SealFrames};

}  // namespace mxc::fuzz
