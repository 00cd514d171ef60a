// SPDX-License-Identifier: Apache-2.0
// A server for HTTP. Usage: http_server IN.mxa PORT [THREADS]
//
//   curl --data-binary @digit.npy http://127.0.0.1:PORT/classify
//   {"classes": [{"class": 7, "probability": 0.998}, …]}
//
// Takes a float32 array as .npy, or its bytes alone, and answers the five best
// classes of the first output. Listens on 127.0.0.1 (port 0: any that is free,
// which is printed). Each thread has an executor of its own; all of them share
// the model's weights. HTTP is cpp-httplib's (Debian: libcpp-httplib-dev).
#include <httplib.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <mxc/mxc.hpp>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr size_t kBest = 5;

// The elements of an array as numpy.save writes it: behind 10 bytes, the last
// two of which say how long the text is that follows, and that text.
std::string_view Elements(std::string_view body) {
  constexpr size_t kFixed = 10;
  if (!body.starts_with("\x93NUMPY\x01") || body.size() < kFixed) return body;
  const size_t text = static_cast<unsigned char>(body[8]) |
                      size_t{static_cast<unsigned char>(body[9])} << 8;
  const std::string_view header = body.substr(kFixed, text);
  const bool plain = header.find("'<f4'") != header.npos &&
                     header.find("'fortran_order': False") != header.npos;
  return plain && header.size() == text ? body.substr(kFixed + text) : "";
}

std::string ClassesAsJson(std::span<const float> scores) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(
      order, [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  order.resize(std::min(kBest, order.size()));
  std::ostringstream json;
  json.precision(std::numeric_limits<float>::max_digits10);
  for (const size_t best : order) {
    json << (json.view().empty() ? "{\"classes\": [" : ", ")
         << "{\"class\": " << best << ", \"probability\": " << scores[best]
         << "}";
  }
  json << "]}\n";
  return json.str();
}

void Classify(const mxc::api::Model& model, const httplib::Request& request,
              httplib::Response& response) {
  thread_local mxc::api::Executor executor(model, {.threads = 1});
  const mxc_tensor input = model.inputs(executor.entry()).at(0);
  const std::string_view elements = Elements(request.body);
  if (elements.size() != input.bytes) {
    response.status = 400;
    response.set_content("{\"error\": \"expected " +
                             std::to_string(input.bytes) +
                             " bytes of float32, or a .npy of them\"}\n",
                         "application/json");
    return;
  }
  executor.SetInput(input.name, std::span(elements));
  executor.Run();
  response.set_content(ClassesAsJson(executor.Output<float>(0).span()),
                       "application/json");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3 && argc != 4) {
    std::cerr << "usage: http_server IN.mxa PORT [THREADS]\n";
    return 2;
  }
  const mxc::api::Model model(argv[1]);
  const size_t threads = argc == 4 ? std::strtoul(argv[3], nullptr, 10) : 2;
  httplib::Server server;
  server.new_task_queue = [threads] {
    return new httplib::ThreadPool(threads);
  };
  server.Post("/classify", [&](const auto& request, auto& response) {
    Classify(model, request, response);
  });
  int port = std::atoi(argv[2]);
  const bool bound = port != 0
                         ? server.bind_to_port("127.0.0.1", port)
                         : (port = server.bind_to_any_port("127.0.0.1")) > 0;
  if (!bound) throw std::runtime_error("cannot listen");
  std::cout << "listening on 127.0.0.1:" << port << std::endl;
  return server.listen_after_bind() ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "error: " << error.what() << "\n";
  return 1;
}
