// SPDX-License-Identifier: Apache-2.0
// A C++20 program against the installed runtime. Usage: run IN.mxa; runs it
// on zeros and prints how much its first output sums to.
#include <iostream>
#include <mxc/mxc.hpp>
#include <numeric>

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const mxc::api::Model model(argv[1]);
  mxc::api::Executor executor(model, {.threads = 2});
  for (const mxc_tensor& input : model.inputs(executor.entry())) {
    executor.MapInput(input.name);  // zeros, until somebody writes to it
  }
  executor.Run();
  const auto output = executor.Output<float>(0);
  std::cout << std::accumulate(output.begin(), output.end(), 0.0f) << "\n";
} catch (const std::exception& error) {
  std::cerr << "error: " << error.what() << "\n";
  return 1;
}
