// SPDX-License-Identifier: Apache-2.0
// Sources of runtime/data, batch by batch.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/data/iterator.h"
#include "runtime/python/source/named_arrays.h"

namespace mxc::python {

struct SampleOptions {
  int64_t batch = 32;
  uint64_t seed = 0;
  bool shuffle = false, held_out = false;
  std::vector<int64_t> shape;  // that the network takes; empty: not known
  int64_t label_classes = -1;  // as data::IteratorOptions; -1: not known
  // data::IteratorOptions has them.
  std::vector<std::pair<std::string, std::string>> settings, offered;
};

class Samples {
 public:
  Samples(const std::string& spec, const SampleOptions& options);

  // (data, labels, the sample in each row, how many rows at the end repeat
  // others) or None: an epoch is over. Another Python thread may run meanwhile.
  nb::object Next();
  void Seek(int64_t epoch) { Check(samples_->SeekEpoch(epoch)); }

  size_t Count() const { return static_cast<size_t>(samples_->samples()); }
  // "photos/cat/3.jpg", for messages.
  std::string NameOf(int64_t sample) const {
    return samples_->SampleName(sample);
  }
  std::string Summary() const { return samples_->summary(); }
  std::vector<std::string> Classes() const { return samples_->label_names(); }
  std::string Preprocessing() const { return samples_->preprocessing(); }
  std::vector<std::string> BadRecords() const {
    return samples_->bad_records().sentences;
  }

 private:
  std::unique_ptr<data::Iterator> samples_;
};

}  // namespace mxc::python
