// SPDX-License-Identifier: Apache-2.0
// Objects of a server in a file of the cache, which arrive as they are wanted.
// The file gets its name when all of it is there.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/arriving_file.h"
#include "runtime/base/gathered_file.h"
#include "runtime/remote/fetcher.h"
#include "runtime/remote/location.h"
#include "runtime/remote/object.h"

namespace mxc::remote {

struct PlacedObject {
  std::string key;  // below the location's folder; empty: the location's own
  ObjectFacts facts;
  uint64_t begin = 0;  // in the file
};

class Arrival final : public runtime::ArrivingFile, private Fetchable {
 public:
  // The objects stand one behind the other, each at a multiple of `piece_bytes`.
  static runtime::StatusOr<std::shared_ptr<Arrival>> Begin(
      Location location, std::vector<PlacedObject> objects,
      uint64_t piece_bytes, const std::string& path);
  ~Arrival() override;

  int descriptor() const override { return readable_.get(); }
  runtime::Status Await(uint64_t begin, uint64_t bytes) override;
  uint64_t WillAwait(uint64_t begin, uint64_t bytes) override;
  bool complete() const override { return complete_; }
  runtime::Status status() const override {
    return complete_ ? runtime::Status() : fetcher_->StatusOf(self());
  }
  // Until the file has its name.
  runtime::Status AwaitCopy() { return fetcher_->AwaitAll(*this); }

 private:
  Arrival(Location location, std::vector<PlacedObject> objects, uint64_t bytes,
          uint64_t piece_bytes, runtime::GatheredFile file,
          runtime::Descriptor readable);

  Fetchable& self() const { return *const_cast<Arrival*>(this); }
  const PlacedObject& ObjectAt(uint64_t piece) const;
  Span SpanOf(uint64_t begin, uint64_t bytes) const;
  Span ObjectOf(uint64_t piece) const override;
  runtime::Status Fetch(Session& session, Span span,
                        const std::atomic<bool>& unwanted) override;
  runtime::Status Finish() override;

  const Location location_;
  const std::vector<PlacedObject> objects_;  // with bytes
  const uint64_t bytes_;
  runtime::GatheredFile file_;
  const runtime::Descriptor readable_;
  std::atomic<bool> complete_ = false;
  const std::shared_ptr<Fetcher> fetcher_ = Fetcher::Get();
};

}  // namespace mxc::remote
