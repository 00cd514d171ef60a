// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

#include "runtime/base/nameless_file.h"
#include "tools/driver/compile.h"

namespace mxc::test {

// What the request asks for, of this network as JSON, as a file.
inline runtime::NamelessFile SavedArtifact(CompileRequest request,
                                           const std::string& network) {
  request.network.text =
      std::make_shared<const SourceFile>(SourceFile{"net.json", network});
  Progress silent;
  const auto artifact = Compile(request, silent);
  REQUIRE(artifact.ok());
  auto file = runtime::NamelessFile::Create();
  REQUIRE(file.ok());
  REQUIRE(Save(request, *artifact, file->path()).ok());
  return std::move(*file);
}

}  // namespace mxc::test
