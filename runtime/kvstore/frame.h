// SPDX-License-Identifier: Apache-2.0
// The wire protocol, version 1: frames of 72 bytes and a payload, all numbers
// little-endian.
//
//   offset size
//        0    4  magic "MXKV"
//        4    1  version of the protocol
//        5    1  type
//        6    1  codec of the payload (compression.h)
//        7    1  flags
//        8    4  key: its row in the table of keys
//       12    4  bytes of the payload, at most kMaxPayload
//       16    8  seq: of a push, counted from 1 for each worker and key; of a
//                value, how often the key was updated; of a message, its slot;
//                of a hello and a welcome, a pair's term (pair.h)
//       24    8  offset of the payload in the body, a multiple of kMaxPayload
//       32    8  bytes of the whole body
//       40    8  learning rate of a push, f64
//       48    8  of a value: the last push of this worker that it holds, so
//                that an answer that comes twice is not taken for the next one;
//                of a pull of changes: the seq of the value that the worker
//                has; of a partner, its birth (arbiter.h)
//       56    8  checksum of the payload (XXH3); 0 of a message
//       64    8  checksum of the 64 bytes before it
//
// A body that is longer than a payload comes as several frames, in order. The
// checksums find our own mistakes and broken memory; TLS keeps adversaries out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/kvstore/status.h"

namespace mxc::kvstore {

inline constexpr uint32_t kMagic = 0x564b584d;  // "MXKV"
inline constexpr uint8_t kProtocol = 1;
inline constexpr size_t kHeaderBytes = 72;
inline constexpr size_t kMaxPayload = size_t{256} << 10;

enum class FrameType : uint8_t {
  kHello = 1,      // worker: who it is, and how it wants to work
  kWelcome = 2,    // server: go on
  kReject = 3,     // server: why not; the connection ends
  kInit = 4,       // worker: a key's first value
  kPush = 5,       // worker: a gradient
  kCommit = 6,     // server: an init or a push is done, once
  kPull = 7,       // worker: asks for a value, or some rows of it
  kValue = 8,      // server: a value
  kHeartbeat = 9,  // both: I am here
  kBye = 10,       // worker: I have finished
  kAbort = 11,     // both: the job ends, and why
  kJoin = 12,      // worker: asks after which rounds it can take part, or
                   // takes part after round seq; server: from seq to holds
  kMessage = 13,   // worker to worker: a part of a collective (collective/)
  kPartner = 14,   // server to its partner (pair.h): it would be its backup;
                   // answered by kWelcome
  kRecord = 15,    // primary to backup: a record, as a journal has it
  kStored = 16,    // backup to primary: it has so many, seq
};
inline constexpr uint8_t kLastFrameType = 16;

// Returns whether its payload has a checksum. Of messages it would be a quarter
// of what a sum over all workers costs, and TLS notices what is changed on the
// way.
inline bool HasSum(FrameType type) { return type != FrameType::kMessage; }

// Of a push: answer with the value, too.
inline constexpr uint8_t kWantValue = 1;
// Of a worker's join: it takes part.
inline constexpr uint8_t kTakesPart = 1;
// Of a pull: as of round seq, if the value before is kept.
inline constexpr uint8_t kAsOfRound = 1;
// Of a pull: no more than the rows that have changed since the value `holds`, if
// they are known; of a value: it is such rows, as rows.h has them.
inline constexpr uint8_t kChanges = 2;
// Of a welcome: another process was this worker before.
inline constexpr uint8_t kReplaces = 1;
// Of a reject: another address of the same server may be the right one.
inline constexpr uint8_t kElsewhere = 1;

struct Header {
  FrameType type = FrameType::kHeartbeat;
  uint8_t codec = 0, flags = 0;
  uint32_t key = 0, length = 0;
  uint64_t seq = 0, offset = 0, total = 0;
  double rate = 0;
  uint64_t holds = 0;
};

inline Header HeaderOf(FrameType type, uint32_t key = 0) {
  Header header;
  header.type = type;
  header.key = key;
  return header;
}

struct Frame : Header {
  Bytes payload;  // until the next frame

  // Of what carries a sentence.
  std::string_view text() const {
    return {reinterpret_cast<const char*>(payload.data()), payload.size()};
  }
};

// The header's length is the payload's; `sum`: its checksum, if it is known.
std::array<std::byte, kHeaderBytes> EncodeHeader(
    const Header& header, Bytes payload, std::optional<uint64_t> sum = {});

// Where the payload of a frame is to be read: header.length bytes that are
// there until the frame has come, or none: in memory of the decoder. What is
// written there may turn out to be damaged.
using Place = std::function<std::span<std::byte>(const Header& header)>;

// Bytes become frames. Allocates at most kMaxPayload, whatever comes in. After
// an error it is of no more use, nor is the connection.
class FrameDecoder {
 public:
  // Where the next bytes belong; never empty.
  std::span<std::byte> Room();
  // So many of them have come. True: `frame` is whole.
  StatusOr<bool> Advance(size_t bytes, const Place& place = {});
  const Frame& frame() const { return frame_; }
  // Returns whether a part of the next one has come.
  bool begun() const { return header_bytes_ > 0; }

 private:
  Status ParseHeader();

  std::array<std::byte, kHeaderBytes> header_;
  size_t header_bytes_ = 0, payload_bytes_ = 0;  // that have come
  uint64_t payload_sum_ = 0;
  std::span<std::byte> payload_;  // in memory_, or where it was to be placed
  std::vector<std::byte> memory_;
  Frame frame_;
};

}  // namespace mxc::kvstore
