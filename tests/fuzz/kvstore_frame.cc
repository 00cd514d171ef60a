// SPDX-License-Identifier: Apache-2.0
// What comes over the wire of a kvstore: frames, a worker's first one, all that
// one who has been let in may send to a server, and what the two processes of a
// server may send to each other.
#include "runtime/kvstore/frame.h"

#include <algorithm>

#include "runtime/base/checksum.h"
#include "runtime/kvstore/server.h"
#include "runtime/kvstore/transport/memory.h"
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

constexpr uint32_t kSparseKey = 2;

// The first push of a key, twice, after its init.
std::string Pushes(Bytes value, uint32_t key = 0) {
  Header header = HeaderOf(kvstore::FrameType::kPush, key);
  header.flags = kvstore::kWantValue;
  header.seq = 1;
  header.total = value.size();
  const auto head = kvstore::EncodeHeader(header, value);
  std::string push(reinterpret_cast<const char*>(head.data()), head.size());
  push.append(reinterpret_cast<const char*>(value.data()), value.size());
  return push + push;
}

kvstore::Settings SettingsOf(size_t number) {
  kvstore::Settings settings;
  settings.workers = 2;
  settings.mode = static_cast<kvstore::Mode>(number % 3);
  settings.compression.codec = static_cast<kvstore::Codec>(number / 3 % 4);
  return settings;
}

void Send(kvstore::Connection& to, Bytes bytes) {
  const auto sent = to.Write(bytes);
  if (!sent.ok() || *sent != bytes.size()) Wrong("the network is full");
}

// The length says how the job is set.
void RunServer(Bytes input) {
  kvstore::KeyTable keys = {{"weight", 64, true, 0, false},
                            {"updates", 8, false, 0, true},
                            {"rows", 64, true, 2, false}};
  keys[kSparseKey].width = 4;
  const kvstore::Settings settings = SettingsOf(input.size());
  kvstore::MemoryNetwork network;
  const auto transport = network.Join();
  const auto listener = transport->Listen("server");
  kvstore::PlainShelf shelf(keys);
  kvstore::Server server(*transport, **listener, keys, shelf,
                         {settings, {}, nullptr, ""});
  const auto worker = transport->Connect("server");
  const kvstore::Body hello =
      kvstore::EncodeHello({1, 7, kvstore::Describe(settings)});
  Header header;
  header.type = kvstore::FrameType::kHello;
  header.total = hello->bytes.size();
  Send(**worker, kvstore::EncodeHeader(header, hello->bytes));
  Send(**worker, hello->bytes);
  Send(**worker, input);
  for (int turn = 0; turn < 6 && server.Pump().ok(); ++turn) {
    network.Advance(network.now() + kvstore::kSecond / 100);
  }
}

// The input of an odd length: to a server that somebody calls; of an even one: to
// a backup, by its primary.
void RunPair(Bytes input) {
  const kvstore::KeyTable keys = {{"weight", 64, true, 0, false}};
  const bool calls = input.size() % 2 == 1;
  kvstore::ServerOptions options;
  kvstore::Arbiter arbiter;
  std::optional<kvstore::Proposal> said;
  options.pair = {"other", "server 0", calls, nullptr,
                  [&](const kvstore::Proposal& proposal) { said = proposal; }};
  kvstore::MemoryNetwork network;
  const auto transport = network.Join();
  const auto listener = transport->Listen("server");
  const auto other = transport->Listen("other");
  kvstore::PlainShelf shelf(keys);
  kvstore::Server server(*transport, **listener, keys, shelf, options);
  const auto pump = [&] {
    network.Advance(network.now() + kvstore::kSecond / 100);
    if (const auto proposal = std::exchange(said, {})) {
      server.OnTerm(arbiter.Hear(calls ? 0 : 1, *proposal));
    }
    return server.Pump().ok();
  };
  std::unique_ptr<kvstore::Connection> to;
  if (calls) {
    to = std::move(*transport->Connect("server"));
  } else {
    while (to == nullptr && pump()) to = std::move(*(*other)->Accept());
    Send(*to,
         kvstore::EncodeHeader(HeaderOf(kvstore::FrameType::kWelcome), {}));
  }
  Send(*to, input);
  for (int turn = 0; turn < 6 && pump(); ++turn) {
  }
}

void RunAll(Bytes input) {
  RunFrames(input);
  RunServer(input);
  RunPair(input);
}

std::string FrameText(const Header& header, Bytes payload) {
  const auto head = kvstore::EncodeHeader(header, payload);
  std::string text(reinterpret_cast<const char*>(head.data()), head.size());
  return text.append(reinterpret_cast<const char*>(payload.data()),
                     payload.size());
}

void AddPairFrames(std::vector<std::string>& seeds) {
  const std::string name = "server 0, " + kvstore::Describe({});
  const Bytes said = std::as_bytes(std::span(name));
  Header partner = HeaderOf(kvstore::FrameType::kPartner);
  partner.total = said.size();
  partner.holds = 5;
  Header stored = HeaderOf(kvstore::FrameType::kStored);
  stored.seq = 1;
  std::string call = FrameText(partner, said) + FrameText(stored, {});
  seeds.push_back(call + std::string(1 - call.size() % 2, ' '));
  using kvstore::JournalRecord;
  const std::vector<std::byte> value(64);
  std::string records;
  for (const auto& record : {
           JournalRecord{
               JournalRecord::Kind::kKey, 0, 3, false, false, {3}, value},
           JournalRecord{},
           JournalRecord{
               JournalRecord::Kind::kKey, 0, 4, false, false, {4}, value},
       }) {
    const auto bytes = kvstore::EncodeRecord(record);
    Header header = HeaderOf(kvstore::FrameType::kRecord);
    header.total = bytes.size();
    records += FrameText(header, bytes);
  }
  seeds.push_back(records + std::string(records.size() % 2, ' '));
}

std::vector<std::string> SmallFrames() {
  std::vector<std::string> seeds;
  const auto add = [&](kvstore::FrameType type, Bytes payload,
                       uint32_t key = 0) {
    Header header = HeaderOf(type, key);
    header.total = payload.size();
    const auto head = kvstore::EncodeHeader(header, payload);
    std::string seed(reinterpret_cast<const char*>(head.data()), head.size());
    seed.append(reinterpret_cast<const char*>(payload.data()), payload.size());
    seeds.push_back(seed + seed);
  };
  add(kvstore::FrameType::kHello,
      kvstore::EncodeHello({1, 2, "dist_sync"})->bytes);
  add(kvstore::FrameType::kPush, std::as_bytes(std::span("0123456789abcdef")));
  const std::vector<std::byte> value(64);
  add(kvstore::FrameType::kInit, value);
  seeds.push_back(seeds.back() + Pushes(value));
  add(kvstore::FrameType::kHeartbeat, {});
  const uint64_t numbers[] = {1, 3};
  const float elements[8] = {};
  add(kvstore::FrameType::kInit, value, kSparseKey);
  seeds.back() += Pushes(kvstore::EncodeRows({numbers, elements}), kSparseKey);
  const std::string first = seeds.back();
  add(kvstore::FrameType::kPull, kvstore::EncodeRows({numbers, {}}),
      kSparseKey);
  seeds.back() = first + seeds.back();
  AddPairFrames(seeds);
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
const Target kvstore_frame = {.run = RunAll,
                              .seeds = SmallFrames,
                              .most_bytes = 1024,
                              .words = {"MXKV"},
                              .seal = SealFrames};

}  // namespace mxc::fuzz
