// SPDX-License-Identifier: Apache-2.0
// A network in a file, as the front end of its format has read it.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "frontend/frontend.h"
#include "frontend/network_source.h"

namespace mxc {

// Read once; graphs for any shapes follow from it. Each front end derives from
// it. For one thread.
class NetworkFile {
 public:
  virtual ~NetworkFile() = default;

  const NetworkSource& content() const { return *content_; }
  // Where places in the file point: its name, and its text where it is text.
  const std::shared_ptr<const SourceFile>& source() const { return source_; }

  // The graph, with roles for its variables and every type that the file gives;
  // `options` bind extents that the file leaves open, where it names them. What
  // was passed over is added to `notes`.
  virtual Result<Graph> Build(const BuildOptions& options,
                              Diagnostics& notes) const = 0;

  // Returns whether Build has given every input the type that `options` ask
  // for, because the graph depends on it. Else these are set afterwards.
  virtual bool binds_inputs() const { return false; }

  // Values that the file has itself, by the names of the graph's variables; a
  // parameter file's win over them. Null: they lie in a file of their own.
  virtual std::shared_ptr<const ParameterArrays> parameters() const {
    return nullptr;
  }

  // What the network's parameters are called in files of other programs; null:
  // as they are here.
  virtual Result<std::shared_ptr<const WeightNames>> weight_names() const {
    return std::shared_ptr<const WeightNames>();
  }

  // JSON that reads as the same network, its inputs' shapes and types included:
  // what an artifact keeps of it, which is made for these shapes.
  virtual Result<std::string> Stored(const BuildOptions& options) const;

 protected:
  NetworkFile(std::shared_ptr<const NetworkSource> content,
              std::shared_ptr<const SourceFile> source)
      : content_(std::move(content)), source_(std::move(source)) {}

 private:
  std::shared_ptr<const NetworkSource> content_;
  std::shared_ptr<const SourceFile> source_;
};

// For formats that are JSON: an artifact keeps the text as it came.
class JsonNetworkFile : public NetworkFile {
 public:
  // `content` is JSON.
  explicit JsonNetworkFile(std::shared_ptr<const NetworkSource> content);

  Result<std::string> Stored(const BuildOptions&) const override {
    return source()->text;
  }

 protected:
  const JsonDocument& document() const { return **content().json(); }
};

// A format, a row of frontends.def.
struct Frontend {
  const char* reads;  // what errors call it: "our own JSON"
  // Whether the content is of this format, however damaged.
  bool (*claims)(const NetworkSource& source);
  Result<std::unique_ptr<NetworkFile>> (*open)(
      std::shared_ptr<const NetworkSource> source);
};

// frontends.def, in its order.
std::span<const Frontend* const> Frontends();

// Opens a file by the first of `frontends` that claims it; else says what it is,
// and what was expected.
Result<std::shared_ptr<const NetworkFile>> OpenNetwork(
    std::shared_ptr<const NetworkSource> source,
    std::span<const Frontend* const> frontends = Frontends());
Result<std::shared_ptr<const NetworkFile>> OpenNetwork(const std::string& path);

}  // namespace mxc
