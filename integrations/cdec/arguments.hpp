// arguments.hpp: what stands behind the library in `feature_function=External LIBRARY MODEL [options]` of cdec.

#ifndef MORPHLM_CDEC_ARGUMENTS_HPP
#define MORPHLM_CDEC_ARGUMENTS_HPP

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include "morphlm.hpp"

namespace morphlm_cdec {

constexpr const char* USAGE =
    "feature_function=External LIBRARY MODEL [-n NAME] [-c MEGABYTES] [-p DIGITS] [-d] [-v], with LIBRARY and MODEL as "
    "full paths";

struct Arguments {
  std::string model;             // a compiled file
  std::string name = "MorphLM";  // of the feature; NAME_OOV counts unknown words
  double cache_megabytes = 32.0;
  int precision = 0;    // digits of features in what cdec prints; 0 leaves its 6
  bool digits = false;  // ask the model for 0 where a word has a digit
  bool verify = false;  // compare the content of the file with its hash
};

inline std::string value_of(const std::string& option, std::istringstream& stream) {
  std::string value;
  if (!(stream >> value)) throw morphlm::Error(option + " needs a value; " + USAGE);
  return value;
}

inline double megabytes_of(const std::string& text) {
  char* end = nullptr;
  const double megabytes = std::strtod(text.c_str(), &end);
  if (*end || !(megabytes >= 0.0 && megabytes <= 1e6)) {
    throw morphlm::Error("-c " + text + ": the size of the cache is a number of megabytes from 0 to 1000000");
  }
  return megabytes;
}

inline int precision_of(const std::string& text) {
  char* end = nullptr;
  const long digits = std::strtol(text.c_str(), &end, 10);
  if (*end || digits < 1 || digits > 17)
    throw morphlm::Error("-p " + text + ": features are printed with 1 to 17 digits");
  return static_cast<int>(digits);
}

// cdec separates the names of features from their values by spaces, '=' and ';'. NAME_OOV is the other feature of NAME.
inline std::string name_of(const std::string& text) {
  const bool is_oov = text.size() >= 4 && text.compare(text.size() - 4, 4, "_OOV") == 0;
  if (text.find_first_of("=;|") != std::string::npos || text[0] == '-' || is_oov) {
    throw morphlm::Error(
        "-n " + text +
        ": the name of a feature has no '=', ';' or '|', does not begin with '-' and does not end in _OOV");
  }
  return text;
}

inline Arguments parse_arguments(const std::string& text) {
  Arguments arguments;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) {
    if (word == "-n") {
      arguments.name = name_of(value_of(word, stream));
    } else if (word == "-c") {
      arguments.cache_megabytes = megabytes_of(value_of(word, stream));
    } else if (word == "-p") {
      arguments.precision = precision_of(value_of(word, stream));
    } else if (word == "-d") {
      arguments.digits = true;
    } else if (word == "-v") {
      arguments.verify = true;
    } else if (word[0] == '-') {
      throw morphlm::Error(word + " is no option; " + USAGE);
    } else if (!arguments.model.empty()) {
      throw morphlm::Error("two models, " + arguments.model + " and " + word +
                           "; give each a feature_function of its own");
    } else {
      arguments.model = word;
    }
  }
  if (arguments.model.empty()) throw morphlm::Error(std::string("the compiled model is missing; ") + USAGE);
  return arguments;
}

// The self-test takes milliseconds, so it always runs; the hash reads the whole file.
inline void check_model(const morphlm::Model& model, const Arguments& arguments) {
  if (arguments.verify && !model.verify()) {
    throw morphlm::Error(arguments.model + ": the content differs from its hash; export the model again");
  }
  if (!model.self_test()) {
    throw morphlm::Error(arguments.model +
                         ": the sentences in the file do not get the scores that morphlm gave them; export the "
                         "model again and build this library without -ffast-math");
  }
}

inline morphlm::Model load_model(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw morphlm::Error(path + ": this is a directory, cdec needs a compiled model; run: morphlm export " + path +
                         " FILE --format compiled");
  }
  try {
    return morphlm::Model(path);
  } catch (const morphlm::Error& error) {
    throw morphlm::Error(std::string(error.what()) +
                         "; give the full path of a file that `morphlm export MODEL FILE --format "
                         "compiled` wrote");
  }
}

// The word that the model is asked for. Only 0 to 9 are digits here, without tables of other scripts.
inline std::string model_form(std::string word, bool digits) {
  for (char& letter : word) {
    if (digits && letter >= '0' && letter <= '9') letter = '0';
  }
  return word;
}

}  // namespace morphlm_cdec

#endif  // MORPHLM_CDEC_ARGUMENTS_HPP
