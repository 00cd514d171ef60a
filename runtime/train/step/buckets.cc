// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/step/buckets.h"

#include "runtime/base/checksum.h"

namespace mxc::train {
namespace {

// Large enough that a sum takes longer than its first and last messages do.
constexpr uint64_t kLeastBytes = uint64_t{4} << 20;

// A gradient of some rows travels as the whole, with a mark for each row.
uint64_t ElementsOf(const runtime::Tables& tables,
                    const runtime::Exchange& one) {
  if (one.rows < 0) return one.bytes / sizeof(float);
  const mxc_state& table = tables.states()[one.state];
  return table.bytes / sizeof(float) + static_cast<uint64_t>(table.dims[0]);
}

}  // namespace

std::vector<Bucket> BucketsOf(const runtime::Model& model) {
  const runtime::Tables& tables = model.tables();
  std::vector<Bucket> buckets;
  bool full = true;
  for (const mxc_entry& entry : tables.entries()) {
    if (entry.kind != MXC_ENTRY_GRAD) continue;
    for (const auto& exchange : runtime::ExchangesOf(tables, entry)) {
      if (full) buckets.emplace_back();
      Bucket& bucket = buckets.back();
      bucket.states.push_back(exchange.state);
      bucket.elements += ElementsOf(tables, exchange);
      full = bucket.elements * sizeof(float) >= kLeastBytes;
    }
    break;
  }
  return buckets;
}

std::string TextOf(const std::vector<Bucket>& buckets) {
  runtime::RunningChecksum sum;
  for (const Bucket& bucket : buckets) {
    sum.Add(std::as_bytes(std::span(bucket.states)));
    sum.Add(std::as_bytes(std::span(&bucket.elements, 1)));
  }
  return runtime::Format("allreduce in %zu buckets %016llx", buckets.size(),
                         static_cast<unsigned long long>(sum.value()));
}

}  // namespace mxc::train
