// SPDX-License-Identifier: Apache-2.0
#include "tools/run/job.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "runtime/base/visible.h"
#include "runtime/kvstore/transport/sockets.h"
#include "tools/run/failure.h"
#include "tools/run/launch/term_lines.h"
#include "tools/run/output.h"
#include "tools/run/server_report.h"
#include "tools/usage/values.h"

namespace mxc::run {

Leaving JobOptions::leaving() const {
  if (exchange == "in-order") return Leaving::kInOrder;
  return exchange == "after-step" ? Leaving::kAfterStep : Leaving::kUrgent;
}

std::string LossOf(uint32_t rank) {
  return "warning: worker " + std::to_string(rank) + " is lost: ";
}

std::string AddressOf(const std::string& server, bool first) {
  const size_t bar = server.find('|');
  if (bar == std::string::npos) return first ? server : "";
  return first ? server.substr(0, bar) : server.substr(bar + 1);
}

std::string CheckKvstore(const std::string& name) {
  JobOptions options;
  options.kvstore = name;
  if (options.averages() || options.reduces() ||
      kvstore::ParseMode(name).ok()) {
    return "";
  }
  if (name == "local" || name == "device" || name == "nccl") {
    return "'" + name +
           "' is of one process, which needs no --kvstore; several GPUs: "
           "--device cuda:0,cuda:1";
  }
  std::string text = name;
  return OneOf({"dist_sync", "dist_async", "dist_ssp", "allreduce",
                "allreduce_ea", "block_momentum"})(text);
}

void DeclareJob(CLI::App& app, JobOptions& options) {
  app.option_defaults()->group("Jobs");
  app.add_option("--kvstore", options.kvstore,
                 "in a job (mxc launch): dist_sync, a step waits for the "
                 "gradients of all workers; dist_async; dist_ssp, which waits "
                 "for those that are --staleness steps behind; allreduce, "
                 "where workers sum gradients among themselves and servers "
                 "only introduce them; allreduce_ea (elastic averaging) or "
                 "block_momentum, where workers train by themselves and "
                 "average parameters every --period steps")
      ->check(CheckKvstore)
      ->type_name("HOW")
      ->capture_default_str();
  app.add_option("--staleness", options.staleness,
                 "of dist_ssp: how many steps of others a worker may lack")
      ->capture_default_str();
  app.add_option("--exchange", options.exchange,
                 "gradients leave when they are final, urgent (those that are "
                 "needed first) or in-order, or after-step; for measuring")
      ->check(CLI::IsMember({"urgent", "in-order", "after-step"}))
      ->capture_default_str();
  kvstore::Averaging& averaging = options.averaging;
  app.add_option("--period", averaging.period,
                 "of allreduce_ea and block_momentum")
      ->capture_default_str();
  app.add_option(
      "--alpha", averaging.alpha,
      "of allreduce_ea: how far a worker and the center move towards "
      "each other (default: 0.9 / workers)");
  app.add_option("--block-momentum", averaging.momentum,
                 "of block_momentum, from 0 to 1 (default: 1 - 1 / workers)");
  app.add_option("--block-rate", averaging.rate, "of block_momentum")
      ->capture_default_str();
  app.add_option("--compression", options.compression,
                 "of gradients on their way to servers: none, f16, "
                 "2bit:threshold=0.5, 1bit:threshold=0, 1bit_cntk")
      ->capture_default_str();
  app.add_option("--cut-from", options.cut_from,
                 "of a job with several servers: parameters of at least so "
                 "many elements are cut into a part for each")
      ->capture_default_str();
  app.add_option("--slice", options.slice,
                 "parameters travel in slices of about so many elements, and "
                 "one is answered while the next one comes; 0: as a whole")
      ->capture_default_str();
}

namespace {

// A worker that was given the job's secret makes its own key from it.
kvstore::Credentials CredentialsOf(const Job& job) {
  kvstore::Credentials given = Take(kvstore::ReadCredentials(job.key_file));
  if (job.serves || given.identity != kvstore::kServerIdentity) return given;
  const std::string identity = kvstore::WorkerIdentity(job.rank);
  return {identity, kvstore::DeriveKey(given.key, identity)};
}

}  // namespace

JobNode::JobNode(const Job& job, const JobOptions& options,
                 const ArtifactKeys& keys, const std::string& plan)
    : job_(job), keys_(keys) {
  settings_.workers = job.workers;
  settings_.servers = static_cast<uint32_t>(job.servers.size());
  settings_.cut_from = options.cut_from;
  if (const auto rule = kvstore::ParseRule(options.kvstore)) {
    averaging_ = options.averaging;
    averaging_.rule = *rule;
    averaging_ = Take(averaging_.For(job.workers));
    settings_.rule = averaging_.text();
  } else if (options.reduces()) {
    settings_.rule = plan;
    if (options.compression != "none") {
      throw Failure(
          "--compression is of gradients on their way to servers; "
          "with --kvstore allreduce they go to workers");
    }
  } else {
    settings_.mode = Take(kvstore::ParseMode(options.kvstore));
    settings_.staleness = options.staleness;
    settings_.mean = true;
    // What parameters share changes with each update.
    const bool apart = keys.placement == kvstore::Placement::kBySize;
    settings_.slice = apart ? options.slice : 0;
  }
  settings_.compression = Take(kvstore::ParseCompression(options.compression));
  settings_.keys = kvstore::Digest(keys.table);
  settings_.placement = keys.placement;
  transport_ = Take(kvstore::MakeSockets());
  if (job.directory != nullptr) {
    transport_ =
        std::make_unique<NamedTransport>(std::move(transport_), *job.directory);
  }
  if (job.key_file.empty()) return;
  tls_ = Take(kvstore::Tls::Make(
      job.serves ? kvstore::Side::kServer : kvstore::Side::kClient,
      CredentialsOf(job)));
  if (!job.serves || AddressOf(job.servers[job.rank], false).empty()) return;
  const std::string partner(kvstore::kPartnerIdentity);
  const kvstore::Key secret = CredentialsOf(job).key;
  partner_tls_ = Take(kvstore::Tls::Make(
      kvstore::Side::kClient, {partner, kvstore::DeriveKey(secret, partner)}));
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
    PrintErr("warning: %s\n", runtime::Visible(sentence).c_str());
  };
  return std::make_unique<kvstore::Worker>(*transport_, keys_.table, options);
}

std::unique_ptr<kvstore::Mesh> JobNode::MakeMesh(
    kvstore::Worker& worker) const {
  kvstore::Introduction introduction;
  introduction.rank = job_.rank;
  introduction.workers = job_.workers;
  introduction.first_key = keys_.position + 1;
  introduction.server = AddressOf(job_.servers.front(), true);
  if (job_.directory != nullptr) {
    introduction.server = Take(job_.directory->AddressOf(introduction.server));
  }
  introduction.encrypted = tls_ != nullptr;
  return Take(kvstore::MakeMesh(worker, introduction));
}

kvstore::ServerOptions JobNode::OptionsOfServer() const {
  kvstore::ServerOptions options;
  options.settings = settings_;
  options.tls = tls_.get();
  options.patience.arrival = job_.arrival;
  options.journal = job_.journal;
  options.on_loss = job_.on_loss;
  options.lost = [](uint32_t rank, const std::string& cause) {
    PrintErr("%s%s\n", LossOf(rank).c_str(), cause.c_str());
  };
  options.pair.partner = AddressOf(job_.servers[job_.rank], !job_.first);
  options.pair.name = "server " + std::to_string(job_.rank);
  options.pair.first = job_.first;
  options.pair.tls = partner_tls_.get();
  options.alone = [](const std::string& why) {
    PrintErr("warning: this server goes on without its other process, %s\n",
             why.c_str());
  };
  options.pair.propose = [](const kvstore::Proposal& proposal) {
    PrintErr("%s\n", EncodeProposal(proposal).c_str());
  };
  return options;
}

void JobNode::Serve(const MakeShelf& make_shelf) const {
  const auto listener = Take(transport_->Listen(job_.listen));
  ServerReport report(job_, *transport_);
  const bool paired = !AddressOf(job_.servers[job_.rank], false).empty();
  Lines terms(runtime::Descriptor(paired ? dup(STDIN_FILENO) : -1));
  while (!ServeOnce(*listener, *make_shelf(), report, terms)) {
    PrintErr(
        "warning: this server has lost its place to its other process; it "
        "begins again as a backup\n");
  }
}

// False: as a pair's process that has lost its place.
bool JobNode::ServeOnce(kvstore::Listener& listener, kvstore::Shelf& shelf,
                        ServerReport& report, Lines& terms) const {
  kvstore::Server server(*transport_, listener, keys_.table, shelf,
                         OptionsOfServer());
  Require(server.Open());
  if (job_.directory != nullptr) job_.directory->Announce(listener.address());
  while (!server.finished()) {
    terms.Read([&](const std::string& line) {
      if (const auto term = DecodeTerm(line)) server.OnTerm(*term);
    });
    const kvstore::Status status = server.Pump();
    if (server.superseded()) return false;
    Require(status);
    if (job_.directory != nullptr && job_.directory->replaced()) {
      throw Failure("another process is " + job_.servers[job_.rank] + " now");
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

}  // namespace mxc::run
