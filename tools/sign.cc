// SPDX-License-Identifier: Apache-2.0
// mxc sign: says who answers for an artifact.
#include <fmt/format.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>

#include "runtime/artifact/container.h"
#include "runtime/artifact/tables.h"
#include "runtime/base/checksum.h"
#include "runtime/base/file_writer.h"
#include "tools/artifact_check.h"
#include "tools/command.h"
#include "tools/signature/signature.h"
#include "tools/terminal.h"

namespace mxc {
namespace {

namespace rt = runtime;

struct SignOptions {
  ReportStyle style;
  std::string artifact, key, output;
};

struct Signed {
  std::string sha256, signer, output;
};

// The file with another trailer; its other bytes stay.
rt::Status WriteSigned(const rt::Container& container,
                       const mxc_signature& signature,
                       const std::string& output) {
  mxc_trailer trailer = container.trailer();
  trailer.signature = signature;
  const rt::Bytes bytes = std::as_bytes(std::span(&trailer, 1));
  trailer.checksum = rt::Checksum(bytes.first(offsetof(mxc_trailer, checksum)));
  rt::FileWriter file(output);
  file.Append(
      container.bytes().first(container.bytes().size() - sizeof trailer));
  file.Append(bytes);
  return file.Commit();
}

// Nobody signs what is damaged.
Result<Signed> Sign(const SignOptions& options) {
  const auto key =
      signature::Key::Read(options.key, signature::Key::Kind::kPrivate);
  if (!key.ok()) return UnplacedError(key.status().message());
  const std::string& path = options.artifact;
  const auto container = rt::Container::Open(path);
  if (!container.ok()) return ErrorAbout(path, container.status());
  const auto tables =
      rt::Tables::Parse(container->section(MXC_SECTION_TABLES),
                        container->section(MXC_SECTION_WEIGHTS).size());
  if (!tables.ok()) return ErrorAbout(path, tables.status());
  MXC_ASSIGN(const ArtifactFindings findings,
             CheckArtifact(path, *container, *tables));
  const auto content = signature::ContentDigest(container->bytes());
  if (!content.ok()) return ErrorAbout(path, content.status());
  const auto signature = key->Sign(*content);
  if (!signature.ok()) return ErrorAbout(path, signature.status());
  const std::string& output = options.output.empty() ? path : options.output;
  const rt::Status written = WriteSigned(*container, *signature, output);
  if (!written.ok()) return UnplacedError(written.message());
  return Signed{findings.sha256, signature::SignerOf(*signature), output};
}

int RunSign(const SignOptions& options) {
  const Result<Signed> made = Sign(options);
  if (!made.ok()) {
    return Fail(options.style, made.errors(), "nothing was written");
  }
  if (options.style.json) {
    PrintJson({{"output", made->output},
               {"sha256", made->sha256},
               {"signer", made->signer}});
  } else {
    PrintOut("{}: sha256 {}, signed by {}\n", made->output, made->sha256,
             made->signer);
  }
  return kSuccess;
}

}  // namespace

std::function<int()> AddSign(CLI::App& app) {
  auto options = std::make_shared<SignOptions>();
  app.add_option("ARTIFACT", options->artifact, "an .mxa file")->required();
  app.add_option("--key", options->key,
                 "a private Ed25519 key, as 'openssl genpkey -algorithm "
                 "ed25519 -out KEY' makes it")
      ->required()
      ->type_name("KEY");
  app.add_option("-o", options->output,
                 "the file to write (default: ARTIFACT itself)")
      ->type_name("OUT.mxa");
  AddJsonOption(app, options->style);
  app.footer(
      "examples:\n"
      "  openssl genpkey -algorithm ed25519 -out key.pem\n"
      "  openssl pkey -in key.pem -pubout -out public.pem\n"
      "  mxc sign net.mxa --key key.pem\n"
      "  mxc run net.mxa --require-signature public.pem\n"
      "run, score, train, bench, sample and inspect refuse what is\n"
      "not signed with the key that belongs to the public one.");
  return [options] { return RunSign(*options); };
}

}  // namespace mxc
