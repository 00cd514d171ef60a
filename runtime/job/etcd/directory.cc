// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/etcd/directory.h"

#include <chrono>
#include <cstdlib>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/start_thread.h"

namespace mxc::job {
namespace {

using kvstore::Fail;
using kvstore::Status;
using kvstore::StatusCode;
using kvstore::StatusOr;

constexpr int64_t kLease = 10;                      // s
constexpr auto kRenewal = std::chrono::seconds(2);  // of the lease
constexpr auto kPause = std::chrono::milliseconds(200);

bool IsName(const std::string& text) {
  return !text.empty() && text.size() <= 128 &&
         text.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
             "abcdefghijklmnopqrstuvwxyz"
             "0123456789-_.") == std::string::npos;
}

}  // namespace

StatusOr<std::shared_ptr<Directory>> Directory::Make(const EtcdOptions& options,
                                                     const std::string& job) {
  if (!IsName(job)) {
    return Fail(StatusCode::kInvalidArgument,
                "'%s' is no name of a job: letters, digits, '-', '_', '.'",
                job.c_str());
  }
  auto etcd = Etcd::Make(options);
  if (!etcd.ok()) return etcd.status();
  return std::shared_ptr<Directory>(new Directory(std::move(*etcd), job));
}

Directory::Directory(std::unique_ptr<Etcd> etcd, std::string job)
    : etcd_(std::move(etcd)), job_(std::move(job)) {}

Directory::~Directory() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  changed_.notify_one();
  thread_.join();
  if (lease_ != 0) (void)etcd_->Revoke(lease_);  // or it runs out
}

std::string Directory::KeyOf(const std::string& member,
                             const char* what) const {
  return "mxc/" + job_ + "/" + member + "/" + what;
}

StatusOr<uint64_t> Directory::Enter(const std::string& member,
                                    kvstore::Time patience) {
  member_ = member;
  const kvstore::Time begun = runtime::Nanoseconds();
  for (;;) {
    const auto number = TryToEnter();
    if (number.ok()) {
      incarnation_ = std::to_string(*number);
      thread_ = runtime::StartThread("asks etcd", [this] { Run(); });
      return number;
    }
    if (number.status().code() != StatusCode::kBusy) {
      if (runtime::Nanoseconds() - begun > patience) return number.status();
      std::this_thread::sleep_for(kPause);
    }
  }
}

// kBusy: another process was faster.
StatusOr<uint64_t> Directory::TryToEnter() {
  const std::string key = KeyOf(member_, "incarnation");
  const auto before = etcd_->Get(key);
  if (!before.ok()) return before.status();
  const uint64_t number =
      *before ? std::strtoull((*before)->c_str(), nullptr, 10) + 1 : 1;
  const auto put = etcd_->PutIf({key, *before}, key, std::to_string(number));
  if (!put.ok()) return put.status();
  if (!*put) return Fail(StatusCode::kBusy, "another process was faster");
  return number;
}

void Directory::Announce(const std::string& address) {
  const std::lock_guard lock(mutex_);
  announced_ = address;
  changed_.notify_one();
}

StatusOr<std::string> Directory::AddressOf(const std::string& member) {
  const std::lock_guard lock(mutex_);
  wanted_.insert(member);
  changed_.notify_one();
  const auto known = addresses_.find(member);
  if (known != addresses_.end()) return known->second;
  return Fail(StatusCode::kIo, "%s",
              cause_.empty() ? "etcd knows no address of it" : cause_.c_str());
}

void Directory::Run() {
  bool announces = true;
  auto renewal = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!leaving_) {
    const auto now = std::chrono::steady_clock::now();
    if (announces && !announced_.empty() && now >= renewal) {
      lock.unlock();
      announces = Renew();
      lock.lock();
      renewal = now + kRenewal;
    }
    const std::set<std::string> wanted = std::exchange(wanted_, {});
    lock.unlock();
    for (const std::string& member : wanted) Ask(member);
    lock.lock();
    const auto awake = [this] { return leaving_ || !wanted_.empty(); };
    // Who looks for a server asks again and again.
    if (!wanted.empty())
      changed_.wait_for(lock, kPause, [this] { return leaving_; });
    if (announced_.empty()) {
      changed_.wait(lock, [&] { return awake() || !announced_.empty(); });
    } else {
      changed_.wait_until(lock, renewal, awake);
    }
  }
}

// False: another process is the member. An announcement is made again where
// etcd has lost the lease, or never had one.
bool Directory::Renew() {
  const auto last = etcd_->Get(KeyOf(member_, "incarnation"));
  if (!last.ok() || !*last) return true;
  replaced_ = **last != incarnation_;
  if (replaced_) return false;
  if (lease_ != 0) {
    const auto alive = etcd_->KeepAlive(lease_);
    if (!alive.ok() || *alive) return true;
    lease_ = 0;
  }
  const auto lease = etcd_->Grant(kLease);
  if (!lease.ok()) return true;
  std::string address;
  {
    const std::lock_guard lock(mutex_);
    address = announced_;
  }
  const auto put = etcd_->PutIf({KeyOf(member_, "incarnation"), incarnation_},
                                KeyOf(member_, "address"), address, *lease);
  if (put.ok() && *put) lease_ = *lease;
  return true;
}

void Directory::Ask(const std::string& member) {
  auto address = etcd_->Get(KeyOf(member, "address"));
  const std::lock_guard lock(mutex_);
  cause_ = address.ok() ? "" : address.status().message();
  if (address.ok() && *address) addresses_[member] = std::move(**address);
}

}  // namespace mxc::job
