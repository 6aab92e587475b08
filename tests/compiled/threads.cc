// Scores the same lines in several threads that share a model: all must get the same. Usage: threads MODEL N < TEXT

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "morphlm.hpp"

namespace {

std::vector<double> score(const morphlm::Model& model, const std::vector<std::string>& lines) {
  morphlm::Cache cache(model, 0.1);
  std::vector<double> logprobs;
  for (int round = 0; round < 3; ++round) {
    for (const std::string& line : lines) {
      morphlm::State state = model.begin();
      std::istringstream stream(line);
      for (std::string token; stream >> token;) {
        auto [logprob, next] = model.logprob(state, token, cache);
        logprobs.push_back(logprob);
        state = next;
      }
      logprobs.push_back(model.distribution(state, cache)[morphlm::END]);
    }
  }
  if (!model.self_test() || !model.verify()) logprobs.clear();
  return logprobs;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) lines.push_back(line);
  const morphlm::Model model(argv[1]);
  std::vector<std::vector<double>> results(static_cast<std::size_t>(std::atoi(argv[2])));
  std::vector<std::thread> threads;
  for (auto& result : results) threads.emplace_back([&] { result = score(model, lines); });
  for (std::thread& thread : threads) thread.join();
  bool are_equal = !results[0].empty();
  for (const auto& result : results) are_equal = are_equal && result == results[0];
  std::printf(are_equal ? "equal\n" : "they differ\n");
  return 0;
}
