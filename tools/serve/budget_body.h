// SPDX-License-Identifier: Apache-2.0
// Reads the bodies of requests within a common limit of memory.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <cstdint>

#include "tools/serve/byte_buffer.h"
#include "tools/serve/stream.h"

namespace mxc::serve {

// Beast's body that takes its memory from a budget.
struct BudgetBody {
  using value_type = ByteBuffer;
  class reader {
   public:
    template <bool is_request, class Fields>
    reader(boost::beast::http::header<is_request, Fields>&, value_type& body)
        : body_(body) {}
    void init(const boost::optional<std::uint64_t>&, error_code& error) {
      error = {};
    }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, error_code& error) {
      std::size_t count = 0;
      for (auto at = asio::buffer_sequence_begin(buffers);
           at != asio::buffer_sequence_end(buffers); ++at) {
        const asio::const_buffer piece = *at;
        if (!body_.Append(piece.data(), piece.size())) {
          error = make_error_code(boost::system::errc::not_enough_memory);
          return count;
        }
        count += piece.size();
      }
      error = {};
      return count;
    }
    void finish(error_code& error) { error = {}; }

   private:
    value_type& body_;
  };
};

}  // namespace mxc::serve
