// SPDX-License-Identifier: Apache-2.0
// A small server. Usage: server IN.mxa PORT [THREADS]
//
// Listens on 127.0.0.1 (port 0: any that is free, which is printed). A client
// sends the bytes of the model's input and receives those of its first output,
// as often as it likes. Each thread serves one client at a time with an executor
// of its own; all executors share the model's weights.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <mxc/mxc.hpp>
#include <system_error>
#include <thread>
#include <vector>

namespace {

[[noreturn]] void Refuse(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

// A socket that listens; `port` becomes the one that it has.
int Listen(uint16_t& port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (listener < 0 || bind(listener, generic, size) != 0 ||
      listen(listener, SOMAXCONN) != 0 ||
      getsockname(listener, generic, &size) != 0) {
    Refuse("cannot listen");
  }
  port = ntohs(address.sin_port);
  return listener;
}

bool Receive(int client, std::vector<std::byte>& bytes) {
  return recv(client, bytes.data(), bytes.size(), MSG_WAITALL) ==
         static_cast<ssize_t>(bytes.size());
}

bool Send(int client, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(sent));
  }
  return true;
}

// Serves clients until the process ends.
void Serve(const mxc::api::Model& model, int listener) {
  mxc::api::Executor executor(model, {.threads = 1});
  const mxc_tensor input = model.inputs(executor.entry()).at(0);
  std::vector<std::byte> bytes(input.bytes);
  // Read from here on every run, without another copy.
  executor.BindInput(input.name, bytes);
  for (;;) {
    const int client = accept(listener, nullptr, nullptr);
    if (client < 0) Refuse("cannot accept a client");
    while (Receive(client, bytes)) {
      executor.Run();
      if (!Send(client, executor.Output(0).span())) break;
    }
    close(client);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3 && argc != 4) {
    std::cerr << "usage: server IN.mxa PORT [THREADS]\n";
    return 2;
  }
  const mxc::api::Model model(argv[1]);
  uint16_t port = static_cast<uint16_t>(std::atoi(argv[2]));
  const int listener = Listen(port);
  std::cout << "listening on 127.0.0.1:" << port << std::endl;
  std::vector<std::jthread> threads;
  for (int i = argc == 4 ? std::atoi(argv[3]) : 2; i > 0; --i) {
    threads.emplace_back([&] {
      try {
        Serve(model, listener);
      } catch (const std::exception& error) {
        std::cerr << "error: " << error.what() << "\n";
        std::_Exit(1);
      }
    });
  }
} catch (const std::exception& error) {
  std::cerr << "error: " << error.what() << "\n";
  return 1;
}
