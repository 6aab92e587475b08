/* How words and morphemes are shown wherever they can be clicked. */

import { LABELS, button, make, plural, ranking } from "./elements.js";
import { goToMorpheme } from "./maps.js";
import { goToWord } from "./words.js";

const KINDS = { PRE: 1, STM: 2, SUF: 3 };

export function morphemeChip(part) {
  const kind = KINDS[part.label] || 6;
  const label = part.label ? [" ", make("small", {}, LABELS[part.label] || part.label)] : null;
  const className = `chip morpheme kind-${kind}`;
  if (!part.known) {
    return make("span", { class: `${className} no-vector`, title: "the model has no vector of it" }, part.form, label);
  }
  return button(className, [part.form, label], () => goToMorpheme(part.name), { title: "on the map" });
}

export function wordChips(words) {
  const items = words.map((word) => make("li", {}, button("chip", word, () => goToWord(word), { dir: "auto" })));
  return make("ul", { class: "chips" }, items);
}

export function partCard(part) {
  const more = part.words > part.examples.length ? ", such as" : "";
  return make(
    "section",
    { class: "card" },
    make("h3", {}, morphemeChip(part)),
    make("p", { class: "muted" }, `In ${plural(part.words, "word")}${more}`),
    wordChips(part.examples),
    make("p", { class: "muted" }, "Nearest morphemes"),
    ranking(part.neighbours.slice(0, 6).map((near) => [near.name, near.similarity]), goToMorpheme),
  );
}
