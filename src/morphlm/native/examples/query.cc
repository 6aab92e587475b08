// Scores lines of tokens, as KenLM's `query` does: query MODEL < TEXT
//
// For every token: the token, its id and its log10 probability; then the sum of the line and how many of its words the
// model does not know. With --summary only the perplexity of all lines is printed, with --ln natural logarithms alone.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>

#include "morphlm.hpp"

namespace {

enum class Output { TOKENS, SUMMARY, LN };

struct Totals {
  double logprob = 0.0;
  long tokens = 0, unknown = 0;
};

// Takes the next token of a line; false at its end.
bool next_token(std::string_view& line, std::string_view& token) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
  token = line.substr(0, line.find_first_of(" \t\r"));
  line.remove_prefix(token.size());
  return !token.empty();
}

class Scorer {
 public:
  Scorer(const morphlm::Model& model, Output output)
      : model_(model), cache_(model), output_(output), state_(model.begin()) {}

  Totals score_line(std::string_view line) {
    Totals totals;
    state_ = model_.begin();
    for (std::string_view token; next_token(line, token);) score(token, model_.id(token), totals);
    score("</s>", morphlm::END, totals);
    return totals;
  }

 private:
  void score(std::string_view token, morphlm::WordId word, Totals& totals) {
    const double logprob = model_.advance(state_.data(), word, state_.data(), cache_);
    totals.logprob += logprob;
    totals.tokens += 1;
    totals.unknown += word == morphlm::UNKNOWN || static_cast<std::size_t>(word) >= model_.vocabulary_size();
    if (output_ == Output::LN) std::printf("%.9f%c", logprob, word == morphlm::END ? '\n' : ' ');
    if (output_ == Output::TOKENS) {
      std::printf("%.*s=%d %.7f\t", static_cast<int>(token.size()), token.data(), word, logprob / std::log(10.0));
    }
  }

  const morphlm::Model& model_;
  morphlm::Cache cache_;
  Output output_;
  morphlm::State state_;
};

int run(const char* path, Output output) {
  const morphlm::Model model(path);
  Scorer scorer(model, output);
  Totals all;
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    const Totals totals = scorer.score_line(line);
    all.logprob += totals.logprob;
    all.tokens += totals.tokens;
    all.unknown += totals.unknown;
    if (output == Output::TOKENS)
      std::printf("Total: %.7f OOV: %ld\n", totals.logprob / std::log(10.0), totals.unknown);
  }
  if (output == Output::SUMMARY && all.tokens) {
    const double perplexity = std::exp(-all.logprob / static_cast<double>(all.tokens));
    std::printf("Perplexity including OOVs: %.6f\nOOVs: %ld\nTokens: %ld\n", perplexity, all.unknown, all.tokens);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  const bool is_summary = argc == 3 && std::strcmp(argv[2], "--summary") == 0;
  const bool is_natural = argc == 3 && std::strcmp(argv[2], "--ln") == 0;
  if (argc == 2 || is_summary || is_natural) {
    return run(argv[1], is_summary ? Output::SUMMARY : is_natural ? Output::LN : Output::TOKENS);
  }
  std::cerr << "usage: query MODEL [--summary | --ln] < TEXT\n";
  return 2;
} catch (const morphlm::Error& error) {
  std::cerr << error.what() << '\n';
  return 2;
}
