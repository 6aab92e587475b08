/* The entry page: a box for anything, and examples to click, drawn from the models themselves. */

import { ask, query, updating } from "./asking.js";
import { byId, button, make, setStatus } from "./elements.js";
import { currentModel, keepAddress, models, openTab } from "./explorer.js";
import { exampleComparison } from "./comparisons.js";
import { goToMorpheme } from "./maps.js";
import { morphemeChip, wordChips } from "./parts.js";
import { goToSentence } from "./sentences.js";
import { goToWord } from "./words.js";

const found = new Map(); // model -> promise of its examples

export function examplesOf(model) {
  if (!found.has(model)) {
    const asked = ask(`examples of ${model}`, query("/api/examples", { model }));
    asked.catch(() => found.delete(model)); // it may be asked for again
    found.set(model, asked);
  }
  return found.get(model);
}

byId("start-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = byId("start").value.trim();
  if (!text) return;
  if (!/\s/.test(text)) return void goToWord(text);
  byId("sentence").value = text;
  byId("sentence-is").value = "raw";
  openTab("sentence");
});

export function exploreStart() {
  setStatus("start", "");
  updating("start", async (result) => {
    const view = await examplesOf(currentModel().name);
    if (view === null) return;
    setStatus("start", "");
    result.replaceChildren(make("div", { class: "start-cards" }, cards(view)));
  });
}

function cards(view) {
  return [
    card("Words", "Their parts, their class, and the words that are used alike.", wordChips(view.words)),
    view.new_words.length
      ? card("Words never seen", "The model does not know them, but it knows their parts.", wordChips(view.new_words))
      : null,
    view.sentences.length
      ? card("Sentences", "How surprising each word is, and what was expected instead. The model made these up.", sentenceLinks(view.sentences))
      : null,
    models.length > 1
      ? card("Compare two models", "Who does better on the same text, and where?", exampleComparison())
      : null,
    view.morphemes.length
      ? card("Map of morphemes", "Those that are used alike lie together.", [morphemeChips(view.morphemes), wholeMap()])
      : null,
    card(models.length > 1 ? "The models" : "The model", models.length > 1 ? "What each of them is." : "What it is.", modelList()),
  ].filter(Boolean);
}

const card = (title, text, content) =>
  make("section", { class: "card" }, make("h2", {}, title), make("p", { class: "muted" }, text), content);

export function sentenceLinks(sentences) {
  const items = sentences.map((text) => make("li", {}, button("link", text, () => goToSentence(text), { dir: "auto" })));
  return make("ul", { class: "sentence-links" }, items);
}

function morphemeChips(names) {
  const items = names.map((name) => {
    const cut = name.lastIndexOf("/");
    const labelled = cut > 0 && ["PRE", "STM", "SUF"].includes(name.slice(cut + 1));
    const part = { name, form: labelled ? name.slice(0, cut) : name, label: labelled ? name.slice(cut + 1) : null, known: true };
    return make("li", {}, morphemeChip(part));
  });
  return make("ul", { class: "chips" }, items);
}

const wholeMap = () => make("p", {}, button("link", "The whole map", () => goToMorpheme("")));

function modelList() {
  const entries = models.map((model) => [make("dt", {}, model.name), make("dd", {}, model.description)]);
  return make("dl", { class: "model-list" }, entries);
}

// Examples where nothing has been typed yet; they vanish as soon as something is.
export async function offerExamples(tab, isEmpty, content) {
  const place = byId(`${tab}-examples`);
  if (!isEmpty()) return void place.replaceChildren();
  try {
    const view = await examplesOf(currentModel().name);
    if (view !== null && isEmpty()) place.replaceChildren(...content(view));
  } catch {
    place.replaceChildren(); // what is wrong is told where it was asked for
  }
}
