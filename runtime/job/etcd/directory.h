// SPDX-License-Identifier: Apache-2.0
// What etcd knows of a job: where its servers are, and which processes have been
// its members. Nobody has to tell the processes more than etcd's address and the
// job's name, on whatever machine they start, or start again.
//
// Of a member ("server-0", "worker-3") there are two keys:
//   mxc/JOB/MEMBER/incarnation  how many processes have been it so far; the last
//                               one alone counts
//   mxc/JOB/MEMBER/address      where it listens, under a lease of 10 s
//
// Training goes on while etcd does not answer: only who is new, or looks for a
// server that has moved, waits for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "runtime/job/etcd/etcd.h"
#include "runtime/kvstore/status.h"
#include "runtime/kvstore/transport/transport.h"

namespace mxc::job {

// A thread of its own speaks with etcd; nothing but Enter waits for an answer.
class Directory {
 public:
  // kInvalidArgument: the job's name is none (letters, digits, '-', '_', '.').
  static kvstore::StatusOr<std::shared_ptr<Directory>> Make(
      const EtcdOptions& options, const std::string& job);
  // What it has announced is forgotten at once.
  ~Directory();

  // This process is the member from now on, and none before it: its
  // incarnation. Once, and before the rest. Waits `patience` for etcd.
  kvstore::StatusOr<uint64_t> Enter(const std::string& member,
                                    kvstore::Time patience);
  // This machine's address as etcd sees it.
  const std::string& local_address() const { return etcd_->local_address(); }

  // Where the member listens; kept true while etcd forgets and comes back.
  void Announce(const std::string& address);
  // Another process has entered as the member.
  bool replaced() const { return replaced_; }

  // The member's address as last heard; etcd is asked again meanwhile, as it may
  // have moved. kIo: nothing was heard yet, and why.
  kvstore::StatusOr<std::string> AddressOf(const std::string& member);

 private:
  Directory(std::unique_ptr<Etcd> etcd, std::string job);

  std::string KeyOf(const std::string& member, const char* what) const;
  kvstore::StatusOr<uint64_t> TryToEnter();
  void Run();
  bool Renew();
  void Ask(const std::string& member);

  const std::unique_ptr<Etcd> etcd_;
  const std::string job_;
  std::string member_, incarnation_;
  int64_t lease_ = 0;  // 0: none
  std::atomic<bool> replaced_ = false;

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  bool leaving_ = false;
  std::string announced_;
  std::set<std::string> wanted_;
  std::map<std::string, std::string> addresses_;
  std::string cause_;  // why nothing was heard
  std::thread thread_;
};

// A network whose addresses are members of a directory.
class NamedTransport final : public kvstore::Transport {
 public:
  // The directory must outlive it.
  NamedTransport(std::unique_ptr<kvstore::Transport> transport,
                 Directory& directory)
      : transport_(std::move(transport)), directory_(directory) {}

  kvstore::StatusOr<std::unique_ptr<kvstore::Listener>> Listen(
      const std::string& address) override {
    return transport_->Listen(address);
  }
  kvstore::StatusOr<std::unique_ptr<kvstore::Connection>> Connect(
      const std::string& member) override {
    const auto address = directory_.AddressOf(member);
    if (!address.ok()) return address.status();
    return transport_->Connect(*address);
  }
  kvstore::Time Now() override { return transport_->Now(); }
  void Wait(std::span<const kvstore::Interest> interests,
            kvstore::Time deadline) override {
    transport_->Wait(interests, deadline);
  }
  void Wake() override { transport_->Wake(); }

 private:
  const std::unique_ptr<kvstore::Transport> transport_;
  Directory& directory_;
};

}  // namespace mxc::job
