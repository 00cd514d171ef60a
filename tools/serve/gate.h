// SPDX-License-Identifier: Apache-2.0
// Who may ask, and how often.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/serve/message.h"

namespace mxc::serve {

class Gate {
 public:
  // `key_file`: a key in each line; "": nobody is asked for one. `rate`:
  // requests that a client may send in a second, and at once; 0: any number.
  // Throws a run::Failure where the file cannot be read, or by others.
  Gate(const std::string& key_file, double rate);

  bool asks() const { return !keys_.empty(); }
  // 401: "Authorization: Bearer KEY" is missing.
  std::optional<Response> RefuseKey(const Request& request) const;
  // 429: the client has asked too often.
  std::optional<Response> RefuseRate(const Request& request);

 private:
  struct Bucket {
    double tokens = 0;
    int64_t time = 0;
  };

  std::vector<std::string> keys_;
  const double rate_;
  std::unordered_map<std::string, Bucket> clients_;
};

}  // namespace mxc::serve
