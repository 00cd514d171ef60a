// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/job_node.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/base/visible.h"
#include "runtime/job/tell.h"
#include "runtime/job/term_lines.h"
#include "runtime/kvstore/transport/sockets.h"

namespace mxc::job {
namespace {

// A worker that was given the job's secret makes its own key from it.
StatusOr<kvstore::Credentials> CredentialsOf(const Job& job) {
  MXC_RT_ASSIGN(kvstore::Credentials given,
                kvstore::ReadCredentials(job.key_file));
  if (job.serves || given.identity != kvstore::kServerIdentity) return given;
  const std::string identity = kvstore::WorkerIdentity(job.rank);
  return kvstore::Credentials{identity,
                              kvstore::DeriveKey(given.key, identity)};
}

}  // namespace

StatusOr<std::unique_ptr<JobNode>> JobNode::Make(
    const Job& job, const JobOptions& options, const train::ArtifactKeys& keys,
    const std::string& order, const std::string& plan) {
  std::unique_ptr<JobNode> node(new JobNode(job, keys));
  node->settings_.order = order;
  MXC_RT_RETURN_IF_ERROR(node->Settle(options, plan));
  MXC_RT_RETURN_IF_ERROR(node->Connect());
  return node;
}

Status JobNode::Settle(const JobOptions& options, const std::string& plan) {
  settings_.workers = job_.workers;
  settings_.servers = static_cast<uint32_t>(job_.servers.size());
  settings_.cut_from = options.cut_from;
  if (const auto rule = kvstore::ParseRule(options.kvstore)) {
    averaging_ = options.averaging;
    averaging_.rule = *rule;
    MXC_RT_ASSIGN(averaging_, averaging_.For(job_.workers));
    settings_.rule = averaging_.text();
  } else if (options.meshes()) {
    settings_.rule = plan;
    if (options.compression != "none") {
      return Fail(StatusCode::kInvalidArgument,
                  "--compression is of gradients on their way to servers; %s",
                  options.pipeline
                      ? "those of stages stay where they are"
                      : "with --kvstore allreduce they go to workers");
    }
  } else {
    MXC_RT_ASSIGN(settings_.mode, kvstore::ParseMode(options.kvstore));
    settings_.staleness = options.staleness;
    settings_.mean = true;
    // What parameters share changes with each update.
    const bool apart = keys_.placement == kvstore::Placement::kBySize;
    settings_.slice = apart ? options.slice : 0;
  }
  MXC_RT_ASSIGN(settings_.compression,
                kvstore::ParseCompression(options.compression));
  settings_.keys = kvstore::Digest(keys_.table);
  settings_.placement = keys_.placement;
  return {};
}

Status JobNode::Connect() {
  MXC_RT_ASSIGN(transport_, kvstore::MakeSockets());
  if (job_.directory != nullptr) {
    transport_ = std::make_unique<NamedTransport>(std::move(transport_),
                                                  *job_.directory);
  }
  if (job_.key_file.empty()) return {};
  MXC_RT_ASSIGN(const kvstore::Credentials own, CredentialsOf(job_));
  MXC_RT_ASSIGN(tls_, kvstore::Tls::Make(job_.serves ? kvstore::Side::kServer
                                                     : kvstore::Side::kClient,
                                         own));
  if (!job_.serves || AddressOf(job_.servers[job_.rank], false).empty()) {
    return {};
  }
  const std::string partner(kvstore::kPartnerIdentity);
  MXC_RT_ASSIGN(
      partner_tls_,
      kvstore::Tls::Make(kvstore::Side::kClient,
                         {partner, kvstore::DeriveKey(own.key, partner)}));
  return {};
}

std::unique_ptr<kvstore::Worker> JobNode::MakeWorker() const {
  kvstore::ClientOptions options;
  options.rank = job_.rank;
  options.incarnation = job_.incarnation;
  options.servers = job_.servers;
  options.settings = settings_;
  options.tls = tls_.get();
  options.patience.arrival = job_.arrival;
  options.ends = [](const std::string& sentence) {
    Tell("warning: " + runtime::Visible(sentence));
  };
  return std::make_unique<kvstore::Worker>(*transport_, keys_.table, options);
}

StatusOr<std::unique_ptr<kvstore::Mesh>> JobNode::MakeMesh(
    kvstore::Worker& worker, uint64_t most_early) const {
  kvstore::Introduction introduction;
  introduction.most_early = most_early;
  introduction.rank = job_.rank;
  introduction.workers = job_.workers;
  introduction.first_key = keys_.position + 1;
  introduction.server = AddressOf(job_.servers.front(), true);
  if (job_.directory != nullptr) {
    MXC_RT_ASSIGN(introduction.server,
                  job_.directory->AddressOf(introduction.server));
  }
  introduction.encrypted = tls_ != nullptr;
  return kvstore::MakeMesh(worker, introduction);
}

kvstore::ServerOptions JobNode::OptionsOfServer() const {
  kvstore::ServerOptions options;
  options.settings = settings_;
  options.tls = tls_.get();
  options.patience.arrival = job_.arrival;
  options.journal = job_.journal;
  options.on_loss = job_.on_loss;
  options.lost = [](uint32_t rank, const std::string& cause) {
    Tell(LossOf(rank) + cause);
  };
  options.pair.partner = AddressOf(job_.servers[job_.rank], !job_.first);
  options.pair.name = "server " + std::to_string(job_.rank);
  options.pair.first = job_.first;
  options.pair.tls = partner_tls_.get();
  options.alone = [](const std::string& why) {
    Tell("warning: this server goes on without its other process, " + why);
  };
  options.pair.propose = [](const kvstore::Proposal& proposal) {
    Tell(EncodeProposal(proposal));
  };
  return options;
}

Status JobNode::Serve(const MakeShelf& make_shelf) const {
  MXC_RT_ASSIGN(const auto listener, transport_->Listen(job_.listen));
  MXC_RT_ASSIGN(const auto report, ServerReport::Make(job_, *transport_));
  const bool paired = !AddressOf(job_.servers[job_.rank], false).empty();
  Lines terms(runtime::Descriptor(paired ? dup(STDIN_FILENO) : -1));
  while (true) {
    MXC_RT_ASSIGN(const auto shelf, make_shelf());
    MXC_RT_ASSIGN(const bool finished,
                  ServeOnce(*listener, *shelf, *report, terms));
    if (finished) return {};
    Tell(
        "warning: this server has lost its place to its other process; it "
        "begins again as a backup");
  }
}

// False: as a pair's process that has lost its place.
StatusOr<bool> JobNode::ServeOnce(kvstore::Listener& listener,
                                  kvstore::Shelf& shelf, ServerReport& report,
                                  Lines& terms) const {
  kvstore::Server server(*transport_, listener, keys_.table, shelf,
                         OptionsOfServer());
  MXC_RT_RETURN_IF_ERROR(server.Open());
  if (job_.directory != nullptr) job_.directory->Announce(listener.address());
  while (!server.finished()) {
    terms.Read([&](const std::string& line) {
      if (const auto term = DecodeTerm(line)) server.OnTerm(*term);
    });
    const kvstore::Status status = server.Pump();
    if (server.superseded()) return false;
    MXC_RT_RETURN_IF_ERROR(status);
    if (job_.directory != nullptr && job_.directory->replaced()) {
      return Fail(StatusCode::kFailed, "another process is %s now",
                  job_.servers[job_.rank].c_str());
    }
    report.Pump(server);
    if (server.finished()) break;
    std::vector<kvstore::Interest> interests = server.interests();
    std::ranges::copy(report.interests(), std::back_inserter(interests));
    if (terms.descriptor() >= 0) interests.push_back({terms.descriptor()});
    transport_->Wait(interests, server.deadline());
  }
  report.Pump(server);
  return true;
}

}  // namespace mxc::job
