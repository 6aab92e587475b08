// Builds each line of tokens from phrases in random ways, as a chart decoder does, and compares with its score from
// left to right: chart_probe MODEL SEED < TEXT. Prints ln p of each line and its number of unknown words.

#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "chart_state.hpp"

namespace {

constexpr int DERIVATIONS = 8;  // of each line

void expect(bool is_so, const char* what) {
  if (!is_so) throw morphlm::Error(std::string("wrong: ") + what);
}

bool are_close(double a, double b) { return std::fabs(a - b) <= 1e-7 * (1.0 + std::fabs(a)); }

struct Phrase {
  std::string state;      // one byte in front, so that the numbers behind it are not aligned
  double logprob = 0.0;   // of all rules inside
  double estimate = 0.0;  // of the last rule
  int unknown = 0;
};

class Builder {
 public:
  Builder(const morphlm::Model& model, unsigned seed) : model_(model), chart_(model, 1.0), random_(seed) {}

  Phrase phrase(const std::vector<morphlm::WordId>& words, std::size_t begin, std::size_t end) {
    struct Symbol {
      morphlm::WordId word;
      int gap;
    };
    std::vector<Symbol> symbols;
    std::vector<Phrase> gaps;
    const auto add_gap = [&](std::size_t first, std::size_t last) {
      symbols.push_back({0, static_cast<int>(gaps.size())});
      gaps.push_back(phrase(words, first, last));
    };
    for (std::size_t at = begin; at < end;) {
      if (below(8) == 0) add_gap(at, at);  // a source word that was dropped
      const std::size_t length = 1 + below(end - at);
      const bool is_everything = length == end - begin;
      if (below(2) || (is_everything && below(3))) {
        symbols.push_back({words[at++], -1});
      } else {
        add_gap(at, at + length);  // with all of it: as when S becomes X
        at += length;
      }
    }
    return finish(symbols, gaps);
  }

  double sentence(const Phrase& phrase) { return phrase.logprob + chart_.sentence(phrase.state.data() + 1); }

  // From left to right, where nothing or the beginning of the sentence is known.
  double in_order(morphlm::State state, const std::vector<morphlm::WordId>& words, bool with_end) {
    morphlm::Cache cache(model_, 1.0);
    double sum = 0.0;
    for (const morphlm::WordId word : words) {
      auto [logprob, next] = model_.logprob(state, word, cache);
      sum += std::max(logprob, morphlm::LOWEST_LOGPROB);
      state = next;
    }
    return with_end ? sum + std::max(model_.logprob(state, morphlm::END, cache).logprob, morphlm::LOWEST_LOGPROB) : sum;
  }

  std::vector<morphlm::WordId> ids_of(const std::string& line) const {
    std::vector<morphlm::WordId> ids;
    std::istringstream stream(line);
    for (std::string token; stream >> token;) ids.push_back(chart_.id(token));
    return ids;
  }

 private:
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

  template <class Symbols>
  Phrase finish(const Symbols& symbols, const std::vector<Phrase>& gaps) {
    Phrase made;
    morphlm::RuleScore rule(chart_);
    for (const auto& symbol : symbols) {
      if (symbol.gap < 0) {
        rule.word(symbol.word);
        made.unknown += chart_.is_unknown(symbol.word);
      } else {
        const Phrase& part = gaps[static_cast<std::size_t>(symbol.gap)];
        rule.phrase(part.state.data() + 1);
        made.logprob += part.logprob;
        made.unknown += part.unknown;
      }
    }
    made.logprob += rule.logprob();
    made.estimate = rule.estimate();
    made.state.assign(1 + chart_.state_bytes(), '\x55');  // what was there before must not matter
    rule.finish(made.state.data() + 1);
    return made;
  }

  const morphlm::Model& model_;
  morphlm::ChartModel chart_;
  std::mt19937 random_;
};

void score_line(const morphlm::Model& model, Builder& builder, const std::string& line) {
  const std::vector<morphlm::WordId> words = builder.ids_of(line);
  const double whole = builder.in_order(model.begin(), words, true),
               alone = builder.in_order(model.null_context(), words, false);
  std::string state;
  int unknown = 0;
  for (int k = 0; k < DERIVATIONS; ++k) {
    const Phrase phrase = builder.phrase(words, 0, words.size());
    expect(are_close(builder.sentence(phrase), whole), "the sum over a derivation");
    expect(are_close(phrase.logprob + phrase.estimate, alone), "exact scores and the estimate, without what is before");
    expect(state.empty() || state == phrase.state, "states of one phrase differ");
    expect(k == 0 || unknown == phrase.unknown, "unknown words");
    state = phrase.state;
    unknown = phrase.unknown;
  }
  std::printf("%.9g %d\n", whole, unknown);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) return 2;
  const morphlm::Model model(argv[1]);
  Builder builder(model, static_cast<unsigned>(std::stoul(argv[2])));
  for (std::string line; std::getline(std::cin, line);) score_line(model, builder, line);
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
