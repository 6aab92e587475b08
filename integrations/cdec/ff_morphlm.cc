// ff_morphlm.cc: language models of morphlm inside cdec's search.
//
//   feature_function=External /path/libff_morphlm.so /path/model.mlm -n CLBL
//
// gives the features CLBL, the natural log-probability of the translation with its end, and CLBL_OOV, the number of
// words that the model does not know. What is computed when is in chart_state.hpp; here is only what cdec calls.

#include <cstdlib>
#include <exception>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "chart_state.hpp"
#include "fdict.h"
#include "ff.h"
#include "hg.h"
#include "tdict.h"
#include "verbose.h"

namespace {

using morphlm::WordId;

// Two models with one name would overwrite each other's values, so each name is used once.
class FeatureName {
 public:
  explicit FeatureName(const std::string& name) : name_(name) {
    if (!used().insert(name).second)
      throw morphlm::Error("two models have the feature " + name + "; name one of them: -n NAME");
  }
  ~FeatureName() { used().erase(name_); }
  FeatureName(const FeatureName&) = delete;
  FeatureName& operator=(const FeatureName&) = delete;

 private:
  static std::set<std::string>& used() {
    static std::set<std::string> names;
    return names;
  }
  const std::string name_;
};

class MorphLM : public FeatureFunction {
 public:
  explicit MorphLM(const morphlm_cdec::Arguments& arguments)
      : name_in_use_(arguments.name),
        model_(morphlm_cdec::load_model(arguments.model)),
        chart_(model_, arguments.cache_megabytes),
        digits_(arguments.digits),
        feature_(FD::Convert(arguments.name)),
        oov_feature_(FD::Convert(arguments.name + "_OOV")) {
    morphlm_cdec::check_model(model_, arguments);
    SetStateSize(chart_.state_bytes());
    if (arguments.precision) std::cout.precision(arguments.precision);  // cdec writes k-best lists there
    if (!SILENT) {
      std::cerr << "Loaded " << model_.order() << "-gram morphlm model from " << arguments.model << " (feature "
                << arguments.name << ", " << model_.vocabulary_size() << " words)\n";
    }
  }

  void FinalTraversalFeatures(const void* state, SparseVector<double>* features) const override {
    set(features, feature_, chart_.sentence(state));
  }

 protected:
  void TraversalFeaturesImpl(const SentenceMetadata&, const HG::Edge& edge, const std::vector<const void*>& states,
                             SparseVector<double>* features, SparseVector<double>* estimates,
                             void* state) const override {
    morphlm::RuleScore rule(chart_);
    int unknown = 0;
    for (const WordID symbol : edge.rule_->e()) {
      if (symbol <= 0) {  // a gap; -symbol is its number
        rule.phrase(states[static_cast<std::size_t>(-symbol)]);
      } else {
        const WordId word = model_id(symbol);
        unknown += chart_.is_unknown(word);
        rule.word(word);
      }
    }
    rule.finish(state);
    set(features, feature_, rule.logprob());
    set(features, oov_feature_, unknown);
    set(estimates, feature_, rule.estimate());
  }

 private:
  // When cdec's set of features is frozen, those without a weight have the id 0.
  static void set(SparseVector<double>* features, int feature, double value) {
    if (feature > 0 && value != 0.0) features->set_value(feature, value);
  }

  // cdec numbers words as it meets them; each is looked up once.
  WordId model_id(WordID word) const {
    const auto number = static_cast<std::size_t>(word);
    if (number >= ids_.size()) ids_.resize(number + number / 2 + 1, morphlm::NOTHING);
    if (ids_[number] == morphlm::NOTHING)
      ids_[number] = chart_.id(morphlm_cdec::model_form(TD::Convert(word), digits_));
    return ids_[number];
  }

  const FeatureName name_in_use_;
  const morphlm::Model model_;
  mutable morphlm::ChartModel chart_;  // cdec has one thread; its methods are const all the same
  mutable std::vector<WordId> ids_;
  const bool digits_;
  const int feature_, oov_feature_;
};

}  // namespace

// What cdec calls. A wrong argument ends it with one line and status 2: it cannot go on without its features.
extern "C" __attribute__((visibility("default"))) FeatureFunction* create_ff(const std::string& text) try {
  return new MorphLM(morphlm_cdec::parse_arguments(text));
} catch (const std::exception& error) {
  std::cerr << "morphlm: " << error.what() << std::endl;
  std::exit(2);
}
