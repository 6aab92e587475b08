/* The tab of words: what a model knows of one, as it is typed. */

import { ask, cancel, later, query, updating } from "./asking.js";
import { button, byId, direction, make, number, ordinal, plural, rankingCard, sentenceCase, setStatus } from "./elements.js";
import { currentModel, keepAddress, openTab, showTab } from "./explorer.js";
import { placeOnMap } from "./maps.js";
import { morphemeChip, partCard, wordChips } from "./parts.js";
import { offerExamples } from "./start.js";

const typedWord = later(() => exploreWord());
byId("word").addEventListener("input", () => {
  keepAddress(false);
  typedWord();
});

export function goToWord(word) {
  byId("word").value = word;
  showTab("word");
  keepAddress(true);
  window.scrollTo({ top: 0 });
}

export function exploreWord() {
  const word = byId("word").value.trim();
  cancel("word");
  cancel("place");
  const several = /\s/.test(word);
  offerExamples("word", () => !byId("word").value.trim(), exampleWords);
  if (!word || several) {
    byId("word-result").replaceChildren(...(several ? [severalWords(word)] : []));
    byId("word-map-card").hidden = true;
    setStatus("word", several ? "" : "Any word: one that the model has seen, or one that nobody has written before.");
    return;
  }
  updating("word", async (result) => {
    const view = await ask("word", query("/api/word", { model: currentModel().name, word }));
    if (view === null) return;
    setStatus("word", wordSummary(view));
    result.replaceChildren(...wordCards(view));
    placeOnMap(view);
  });
}

function exampleWords(view) {
  const rows = [["For example", view.words], ["Never seen", view.new_words]].filter(([, words]) => words.length);
  return rows.map(([title, words]) => make("div", { class: "example-row" }, make("span", { class: "muted" }, title), wordChips(words)));
}

function severalWords(text) {
  const go = () => {
    byId("sentence").value = text;
    openTab("sentence");
  };
  return make("p", {}, "These are several words. ", button("link", "Look at them as a sentence", go));
}

function wordSummary(view) {
  const parts = view.parts.length ? `, ${plural(view.parts.length, "morpheme")}` : "";
  const near = view.neighbours.length ? `, ${plural(view.neighbours.length, "neighbour")}` : "";
  const read = view.form === view.query.trim() ? "" : `Read as ${view.form}, as in the model’s text: `;
  const how = {
    known: "known",
    composed: "never seen, composed",
    affixes: "never seen, only its affixes are known",
    unknown: "not known",
  }[view.understood];
  return `${read}${how}${parts}${near}`;
}

function wordCards(view) {
  const cards = [wordHead(view)];
  const side = [];
  if (view.neighbours.length) side.push(rankingCard("Nearest words", view.neighbours, goToWord));
  if (view.word_class) side.push(classCard(view.word_class));
  if (side.length) cards.push(make("div", { class: "columns" }, side));
  const known = view.parts.filter((part, at) => part.known && view.parts.findIndex((p) => p.name === part.name) === at);
  if (known.length) {
    cards.push(make("h2", {}, "Its parts"), make("div", { class: "columns" }, known.map(partCard)));
  }
  return cards;
}

function wordHead(view) {
  const isKnown = view.count !== null;
  const seen = isKnown ? `seen ${plural(view.count, "time")}, the ${ordinal(view.rank)} most frequent word` : null;
  const head = make(
    "div",
    { class: "word-head", dir: direction([view.form]) },
    make("h2", { dir: "auto" }, view.form),
    make("span", { class: `badge ${view.understood}` }, view.understood === "affixes" ? "only affixes known" : view.understood),
    seen ? make("span", { class: "muted", dir: "ltr" }, seen) : null,
  );
  const notes = view.notes.map((note) => make("p", { class: "missing" }, sentenceCase(note)));
  return make("section", { class: "card" }, head, view.parts.length ? splitWord(view.parts) : null, notes);
}

function splitWord(parts) {
  const pieces = parts.flatMap((part, at) => [at ? make("span", { class: "plus" }, "+") : null, morphemeChip(part)]);
  return make("div", { class: "split", dir: direction(parts.map((part) => part.form)) }, pieces);
}

function classCard(found) {
  const others = found.size - 1;
  const title = `Class ${number(found.number)}`;
  const text = others ? `With ${plural(others, "other word")}, such as` : "It is alone in its class.";
  const parts = [make("h3", {}, title), make("p", { class: "muted" }, text), wordChips(found.examples)];
  return make("section", { class: "card" }, parts);
}
