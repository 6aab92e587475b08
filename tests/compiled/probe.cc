// Scores lines of tokens in every way that morphlm.hpp has, which must agree, and prints ln p of every token.

#include <cmath>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "morphlm.hpp"

namespace {

bool are_equal(double a, double b) { return a == b || std::fabs(a - b) <= 1e-9 + 1e-6 * std::fabs(a); }

void expect(bool is_so, const char* what) {
  if (!is_so) throw morphlm::Error(std::string("they differ: ") + what);
}

std::vector<morphlm::WordId> ids_of(const morphlm::Model& model, const std::string& line) {
  std::vector<morphlm::WordId> ids;
  std::istringstream stream(line);
  for (std::string token; stream >> token;) {
    const morphlm::WordId id = model.id(token);
    expect(id == morphlm::UNKNOWN || model.word(id) == token, "a word and that of its id");
    ids.push_back(id);
  }
  ids.push_back(morphlm::END);
  return ids;
}

// The words before position k, the nearest first, padded with <s>.
std::vector<morphlm::WordId> context_of(const std::vector<morphlm::WordId>& ids, std::size_t k, std::size_t length) {
  std::vector<morphlm::WordId> context(length, morphlm::BEGIN);
  for (std::size_t j = 0; j < length && j < k; ++j) context[j] = ids[k - 1 - j];
  return context;
}

void score_line(const morphlm::Model& model, const std::string& line, morphlm::Cache& cache, morphlm::Cache& none) {
  const std::vector<morphlm::WordId> ids = ids_of(model, line);
  std::vector<morphlm::State> states{model.begin()};
  std::vector<double> logprobs;
  for (std::size_t k = 0; k < ids.size(); ++k) {
    auto [logprob, next] = model.logprob(states[k], ids[k], cache);
    expect(logprob == model.logprob(states[k], ids[k], none).logprob, "with and without a cache");
    const auto context = context_of(ids, k, model.order() - 1);
    expect(are_equal(logprob, model.logprob_after(context.data(), context.size(), ids[k], cache)), "explicit contexts");
    expect(model.state_after(context.data(), context.size()) == states[k], "states after explicit contexts");
    const std::vector<double> p = model.distribution(states[k], cache);
    const bool is_known = static_cast<std::size_t>(ids[k]) < model.vocabulary_size();
    expect(std::fabs(p[is_known ? static_cast<std::size_t>(ids[k]) : 0] - std::exp(logprob)) < 1e-6, "distributions");
    double sum = 0.0;
    for (const double share : p) sum += share;
    expect(std::fabs(sum - 1.0) < 1e-5, "the sum of a distribution and 1");
    logprobs.push_back(logprob);
    states.push_back(next);
  }
  morphlm::State copied = states[0];
  const morphlm::State moved = std::move(copied);
  expect(moved == states[0] && std::hash<morphlm::State>()(moved) == states[0].hash(), "a state that was moved");
  copied = moved;
  expect(copied == moved && copied.size() == model.state_size(), "a state that was assigned");
  for (morphlm::Cache* used : {&cache, &none}) {
    std::vector<double> many(ids.size());
    std::vector<morphlm::State> after(ids.size());
    model.logprobs(states.data(), ids.data(), ids.size(), many.data(), after.data(), *used);
    for (std::size_t k = 0; k < ids.size(); ++k) {
      expect(are_equal(many[k], logprobs[k]), "many at once");
      expect(after[k] == states[k + 1], "states of many at once");
    }
  }
  for (std::size_t k = 0; k < ids.size(); ++k) std::printf("%s%.9g", k ? " " : "", logprobs[k]);
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const morphlm::Model model(argv[1]);
  expect(model.verify(), "the content and its digest");
  double difference = 0.0;
  expect(model.self_test(&difference) && difference < 1e-5, "the self-test");
  morphlm::Cache cache(model, 1.0), none(model, 0.0);
  for (std::string line; std::getline(std::cin, line);) score_line(model, line, cache, none);
  return 0;
} catch (const morphlm::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
