// A small beam search: restores the order of the words of a line, the likeliest first. beam_search MODEL < TEXT
//
// A hypothesis is a set of words that it has used and the state of the model after them. Those that have used the same
// words and are in the same state have the same future, so that only the best of them is kept.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "morphlm.hpp"

namespace {

constexpr std::size_t BEAM = 64, MOST_WORDS = 60;

struct Hypothesis {
  double logprob = 0.0;
  std::uint64_t used = 0;  // bit k: the word k
  morphlm::State state;
  std::vector<std::size_t> order;
};

// All ways to go on by one word, scored at once.
std::vector<Hypothesis> expand(const morphlm::Model& model, const std::vector<morphlm::WordId>& words,
                               const std::vector<Hypothesis>& beam, morphlm::Cache& cache) {
  std::vector<morphlm::State> states;
  std::vector<morphlm::WordId> asked;
  std::vector<Hypothesis> longer;
  for (const Hypothesis& hypothesis : beam) {
    for (std::size_t k = 0; k < words.size(); ++k) {
      if (hypothesis.used >> k & 1) continue;
      states.push_back(hypothesis.state);
      asked.push_back(words[k]);
      longer.push_back(hypothesis);
      longer.back().used |= std::uint64_t{1} << k;
      longer.back().order.push_back(k);
    }
  }
  std::vector<double> logprobs(asked.size());
  std::vector<morphlm::State> next(asked.size());
  model.logprobs(states.data(), asked.data(), asked.size(), logprobs.data(), next.data(), cache);
  for (std::size_t k = 0; k < longer.size(); ++k) {
    longer[k].logprob += logprobs[k];
    longer[k].state = std::move(next[k]);
  }
  return longer;
}

// The best of those with the same future, and of these the best BEAM.
std::vector<Hypothesis> prune(std::vector<Hypothesis> hypotheses) {
  std::map<std::pair<std::uint64_t, morphlm::State>, Hypothesis> best;
  for (Hypothesis& hypothesis : hypotheses) {
    const auto [at, is_new] = best.try_emplace({hypothesis.used, hypothesis.state}, hypothesis);
    if (!is_new && hypothesis.logprob > at->second.logprob) at->second = std::move(hypothesis);
  }
  std::vector<Hypothesis> kept;
  for (auto& entry : best) kept.push_back(std::move(entry.second));
  std::sort(kept.begin(), kept.end(), [](const Hypothesis& a, const Hypothesis& b) { return a.logprob > b.logprob; });
  if (kept.size() > BEAM) kept.resize(BEAM);
  return kept;
}

void restore(const morphlm::Model& model, const std::string& line, morphlm::Cache& cache) {
  std::vector<std::string> tokens;
  std::istringstream stream(line);
  for (std::string token; stream >> token && tokens.size() < MOST_WORDS;) tokens.push_back(token);
  std::vector<morphlm::WordId> words;
  for (const std::string& token : tokens) words.push_back(model.id(token));
  std::vector<Hypothesis> beam{{0.0, 0, model.begin(), {}}};
  for (std::size_t step = 0; step < words.size(); ++step) beam = prune(expand(model, words, beam, cache));
  for (Hypothesis& hypothesis : beam)
    hypothesis.logprob += model.logprob(hypothesis.state, morphlm::END, cache).logprob;
  const auto best = std::max_element(beam.begin(), beam.end(),
                                     [](const Hypothesis& a, const Hypothesis& b) { return a.logprob < b.logprob; });
  std::printf("%.5f\t", best->logprob);
  for (std::size_t k = 0; k < best->order.size(); ++k)
    std::printf("%s%s", k ? " " : "", tokens[best->order[k]].c_str());
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "usage: beam_search MODEL < TEXT\n";
    return 2;
  }
  const morphlm::Model model(argv[1]);
  morphlm::Cache cache(model);
  for (std::string line; std::getline(std::cin, line);) restore(model, line, cache);
  return 0;
} catch (const morphlm::Error& error) {
  std::cerr << error.what() << '\n';
  return 2;
}
