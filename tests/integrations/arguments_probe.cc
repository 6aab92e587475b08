// Prints what the plug-in for cdec makes of its arguments, and loads the model: arguments_probe ARGUMENTS [WORD]

#include <cstdio>
#include <iostream>
#include <string>

#include "arguments.hpp"

int main(int argc, char** argv) try {
  if (argc < 2) return 1;
  const morphlm_cdec::Arguments arguments = morphlm_cdec::parse_arguments(argv[1]);
  const morphlm::Model model(morphlm_cdec::load_model(arguments.model));
  morphlm_cdec::check_model(model, arguments);
  const std::string form = morphlm_cdec::model_form(argc > 2 ? argv[2] : "", arguments.digits);
  std::printf("%s %g %d %d %s\n", arguments.name.c_str(), arguments.cache_megabytes, arguments.precision,
              arguments.verify, form.c_str());
  return 0;
} catch (const morphlm::Error& error) {
  std::cerr << error.what() << '\n';
  return 2;
}
