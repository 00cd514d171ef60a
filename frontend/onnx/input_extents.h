// SPDX-License-Identifier: Apache-2.0
// The extents of a model's inputs, which a file may leave open, under a name or
// without, or may have fixed for a batch that is not the one that is asked for.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "frontend/frontend.h"
#include "frontend/onnx/schema.h"

namespace mxc::onnx {

// The first axis of the first input is the batch, and so are first axes that the
// file says the same of. One extent has one name.
class InputExtents {
 public:
  // `inputs` are those of the outermost graph that a caller gives. All must
  // outlive this.
  InputExtents(const std::vector<const ValueInfoProto*>& inputs,
               const BuildOptions& options);

  // What the options, else the file, say of an input that is declared so. Else
  // the error's words follow "input 'x' ".
  Result<Extents> Of(const std::string& input, const TensorTypeProto& declared);

  // A shape that the file states, for the batch that is asked for: where its
  // first extent is the file's own, it becomes that of `data`.
  Extents Rebatched(Extents stated, const Shape& data);
  // Returns whether an output that the file declares for its own batch is as
  // large for the one that is asked for: then the file computes its batch alone.
  bool KeepsFileBatch(const ValueInfoProto& output, const Shape& found) const;
  int64_t file_batch() const { return file_batch_; }
  // What Rebatched has changed; empty: nothing.
  std::string Note() const;

  // Of inputs that are given other extents than the file's, beside the batch: a
  // sentence each, for whatever is refused then.
  const std::vector<std::string>& others() const { return others_; }

  // The axes of an input that stay open (BuildOptions::lengths).
  std::vector<LengthAxis> OpenAxesOf(const std::string& input) const;

 private:
  void Compare(const std::string& input,
               const std::vector<TensorShapeDimension>& axes,
               const Extents& given);
  const Extents* Given(const std::string& input) const;
  bool IsBatch(const TensorShapeDimension& first) const;
  Result<int64_t> Open(const std::string& input,
                       const std::vector<TensorShapeDimension>& axes,
                       size_t axis);

  const BuildOptions& options_;
  std::map<std::string, int64_t, std::less<>> by_name_;
  const TensorShapeDimension* batch_axis_ = nullptr;  // of the first input
  int64_t batch_ = 0;       // that is asked for; 0: none
  int64_t file_batch_ = 0;  // the file's, where it is fixed and another one
  bool rebatched_ = false;
  std::map<std::string, std::vector<LengthAxis>> open_axes_;  // by input
  // What the caller calls a length, by what the file calls it.
  std::map<std::string, std::string, std::less<>> letters_;
  std::vector<std::string> others_;
};

}  // namespace mxc::onnx
