// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/frame.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/base/checksum.h"

namespace mxc::kvstore {
namespace {

static_assert(std::endian::native == std::endian::little,
              "headers are sent as they lie in memory");

struct WireHeader {
  uint32_t magic;
  uint8_t version, type, codec, flags;
  uint32_t key, length;
  uint64_t seq, offset, total;
  double rate;
  uint64_t holds;
  uint64_t payload_sum, header_sum;
};
static_assert(sizeof(WireHeader) == kHeaderBytes);

uint64_t SumOf(const WireHeader& wire) {
  return runtime::Checksum(std::as_bytes(std::span(&wire, 1))
                               .first(offsetof(WireHeader, header_sum)));
}

Status Damaged(const char* what) {
  return Fail(StatusCode::kCorrupt, "a frame is damaged: %s", what);
}

}  // namespace

std::array<std::byte, kHeaderBytes> EncodeHeader(const Header& header,
                                                 Bytes payload,
                                                 std::optional<uint64_t> sum) {
  WireHeader wire = {};
  wire.magic = kMagic;
  wire.version = kProtocol;
  wire.type = static_cast<uint8_t>(header.type);
  wire.codec = header.codec;
  wire.flags = header.flags;
  wire.key = header.key;
  wire.length = static_cast<uint32_t>(payload.size());
  wire.seq = header.seq;
  wire.offset = header.offset;
  wire.total = header.total;
  wire.rate = header.rate;
  wire.holds = header.holds;
  if (HasSum(header.type)) {
    wire.payload_sum = sum ? *sum : runtime::Checksum(payload);
  }
  wire.header_sum = SumOf(wire);
  return std::bit_cast<std::array<std::byte, kHeaderBytes>>(wire);
}

std::span<std::byte> FrameDecoder::Room() {
  if (header_bytes_ < kHeaderBytes) {
    return std::span(header_).subspan(header_bytes_);
  }
  return payload_.subspan(payload_bytes_);
}

StatusOr<bool> FrameDecoder::Advance(size_t bytes, const Place& place) {
  if (header_bytes_ < kHeaderBytes) {
    header_bytes_ += bytes;
    if (header_bytes_ < kHeaderBytes) return false;
    MXC_RT_RETURN_IF_ERROR(ParseHeader());
    payload_ = place ? place(frame_) : std::span<std::byte>();
    if (payload_.size() != frame_.length) {
      memory_.resize(std::max<size_t>(memory_.size(), frame_.length));
      payload_ = std::span(memory_).first(frame_.length);
    }
  } else {
    payload_bytes_ += bytes;
  }
  if (payload_bytes_ < payload_.size()) return false;
  if (HasSum(frame_.type) && runtime::Checksum(payload_) != payload_sum_) {
    return Damaged("its payload has another checksum");
  }
  frame_.payload = payload_;
  header_bytes_ = payload_bytes_ = 0;
  return true;
}

Status FrameDecoder::ParseHeader() {
  const auto wire = std::bit_cast<WireHeader>(header_);
  if (wire.magic != kMagic) {
    return Fail(StatusCode::kCorrupt, "this is no frame of a kvstore");
  }
  if (wire.header_sum != SumOf(wire)) return Damaged("its header's checksum");
  if (wire.version != kProtocol) {
    return Fail(StatusCode::kUnsupported,
                "the other end speaks version %d of the protocol, this one %d",
                wire.version, kProtocol);
  }
  if (wire.type == 0 || wire.type > kLastFrameType) return Damaged("its type");
  if (wire.length > kMaxPayload) return Damaged("its length");
  if (!runtime::Within(wire.offset, wire.length, wire.total) ||
      wire.offset % kMaxPayload != 0) {
    return Damaged("its place in the body");
  }
  frame_.type = static_cast<FrameType>(wire.type);
  frame_.codec = wire.codec;
  frame_.flags = wire.flags;
  frame_.key = wire.key;
  frame_.length = wire.length;
  frame_.seq = wire.seq;
  frame_.offset = wire.offset;
  frame_.total = wire.total;
  frame_.rate = wire.rate;
  frame_.holds = wire.holds;
  payload_sum_ = wire.payload_sum;
  return {};
}

}  // namespace mxc::kvstore
