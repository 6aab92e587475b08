/* The tab of comparisons: two models on a text, and where they differ. */

import { ask, updating } from "./asking.js";
import { button, byId, direction, endName, make, number, plural, setStatus } from "./elements.js";
import { keepAddress, models, openTab } from "./explorer.js";
import { goToSentence } from "./sentences.js";
import { examplesOf } from "./start.js";
import { goToWord } from "./words.js";

const EMPTY_TEXT = "Where does one model do better than the other, and is the difference more than chance?";
const MAX_FILE = 1900000; // bytes; requests of 2 MB are refused

byId("compare-form").addEventListener("submit", (event) => {
  event.preventDefault();
  runComparison();
});
for (const id of ["baseline", "other"]) byId(id).addEventListener("change", () => keepAddress(false));
byId("compare-file").addEventListener("change", readFile);

async function readFile() {
  const file = byId("compare-file").files[0];
  if (!file) return;
  if (file.size > MAX_FILE) {
    const size = `${file.name} has ${number(file.size)} bytes`;
    setStatus("compare", `${size}; give at most ${number(MAX_FILE)}, or use morphlm analyse.`, true);
    return;
  }
  byId("compare-text").value = await file.text();
  setStatus("compare", `${file.name} is read.`);
}

export function setUpComparison() {
  const alone = models.length < 2;
  byId("compare-form").hidden = alone;
  if (alone) setStatus("compare", "Two models are needed: morphlm explore MODEL MODEL");
  else if (!byId("compare-result").childElementCount) setStatus("compare", EMPTY_TEXT);
  const isEmpty = !alone && !byId("compare-text").value.trim();
  byId("compare-examples").replaceChildren(...(isEmpty ? [make("p", { class: "muted" }, "For example:"), exampleComparison()] : []));
}

// Each of the two makes up half of the text, so that neither has an advantage.
export function exampleComparison() {
  const other = byId("other").value;
  const pairs = models.filter((model) => model.name !== other).map((model) => [model.name, other]);
  const items = pairs.map(([baseline, against]) =>
    make("li", {}, button("link", `${baseline} against ${against}, on sentences that both made up`, () => compareExample(baseline, against))),
  );
  return make("ul", { class: "sentence-links" }, items);
}

async function compareExample(baseline, other) {
  openTab("compare");
  byId("baseline").value = baseline;
  byId("other").value = other;
  byId("compare-is").value = "prepared";
  byId("compare-examples").replaceChildren();
  try {
    const views = await Promise.all([baseline, other].map((name) => examplesOf(name)));
    const sentences = views.flatMap((view) => (view === null ? [] : view.sentences));
    byId("compare-text").value = [...new Set(sentences)].join("\n");
  } catch (error) {
    setStatus("compare", error.message, true);
    return;
  }
  runComparison();
}

async function runComparison() {
  const text = byId("compare-text").value;
  const [baseline, other] = [byId("baseline").value, byId("other").value];
  if (!text.trim() || baseline === other) {
    setStatus("compare", text.trim() ? "Choose two different models." : "Paste a text or choose a file first.", true);
    return;
  }
  keepAddress(false);
  setStatus("compare", "Both models read the text …");
  await updating("compare", async (result) => {
    const asking = { baseline, other, text, text_is: byId("compare-is").value, k: 8 };
    const view = await ask("compare", "/api/compare", asking);
    if (view === null) return;
    setStatus("compare", `${plural(view.sentences, "sentence")}, ${plural(view.tokens, "token")}`);
    result.replaceChildren(...comparisonCards(view));
  });
}

function comparisonCards(view) {
  return [
    totals(view),
    gainLegend(view),
    make(
      "div",
      { class: "columns" },
      extremes(view, view.other, view.other_better),
      extremes(view, view.baseline, view.baseline_better),
    ),
  ];
}

function gainLegend(view) {
  const entry = (className, text) => make("li", {}, make("span", { class: `gain ${className}` }, "words"), text);
  const fewer = (name) => `fewer bits for ${name}`;
  const entries = [entry("plus-2", fewer(view.other)), entry("minus-2", fewer(view.baseline))];
  return make("ul", { class: "legend" }, entries);
}

function headline(view) {
  const { value, low, high } = view.whole.change;
  if (value === null) return "A model says that some of these words cannot be; there is no change to tell.";
  const clear = low > 0 || high < 0;
  const size = `${number(Math.abs(100 * value), 1)} %`;
  const what = value < 0 ? "lower" : "higher";
  return clear
    ? `The perplexity of ${view.other} is ${size} ${what} than that of ${view.baseline}.`
    : `No clear difference: the perplexity of ${view.other} is ${size} ${what}, which may be chance.`;
}

function totals(view) {
  const perplexity = (value) => (value === null ? "∞" : number(value, 2));
  const rows = [...view.groups, view.whole].map((group) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, group.name),
      [number(group.tokens), perplexity(group.baseline), perplexity(group.other), group.change.text].map((cell) =>
        make("td", { class: "number" }, cell),
      ),
    ),
  );
  const header = ["", "tokens", view.baseline, view.other, "change"].map((cell, at) =>
    make("th", { scope: "col", class: at ? "number" : null }, cell),
  );
  const table = make("table", {}, make("thead", {}, make("tr", {}, header)), make("tbody", {}, rows));
  return make(
    "section",
    { class: "card" },
    make("p", { class: "headline" }, headline(view)),
    make("div", { class: "table", tabindex: "0" }, table),
    view.notes.map((note) => make("p", { class: "note" }, note)),
  );
}

function extremes(view, better, found) {
  const parts = [make("h2", {}, `${better} is better`)];
  if (!found.words.length) parts.push(make("p", { class: "missing" }, "Nowhere in this text."));
  else parts.push(gainedWords(found.words), gainedTokens(view, found.tokens), gainedSentences(view, found.sentences));
  return make("section", { class: "card" }, parts);
}

const bitsSaved = (gain) => `${Math.abs(gain).toFixed(1)} bits`;

function gainedWords(words) {
  const chips = words.map((entry) => {
    const text = [make("bdi", {}, endName(entry.word)), entry.count > 1 ? ` ×${number(entry.count)}` : null];
    const more = { title: `${bitsSaved(entry.gain)} in all`, disabled: entry.word === "</s>" };
    return make("li", {}, button("chip", text, () => goToWord(entry.word), more));
  });
  return make("div", {}, make("h3", {}, "Words, all their places together"), make("ul", { class: "chips" }, chips));
}

function gainedTokens(view, tokens) {
  const bits = (value) => (value === null ? "∞" : value.toFixed(1));
  const both = (entry) =>
    `${bits(entry.baseline)} bits for ${view.baseline}, ${bits(entry.other)} for ${view.other}`;
  const items = tokens.map((entry) =>
    make(
      "li",
      {},
      make("div", { dir: direction([entry.before, entry.token]) }, make("span", { class: "context" }, `${entry.before} `), make("strong", {}, endName(entry.token))),
      make("div", { class: "muted" }, `line ${number(entry.line)}: ${both(entry)}`),
    ),
  );
  return make("div", {}, make("h3", {}, "Places"), make("ol", { class: "sentences" }, items));
}

function wordsOf(entry) {
  const tokens = entry.tokens.map((token) => token.token);
  return tokens.filter((token) => token !== "</s>").join(" ");
}

function gainedSentences(view, sentences) {
  const items = sentences.map((entry) =>
    make(
      "li",
      {},
      make("div", { dir: direction(entry.tokens.map((token) => token.token)) }, entry.tokens.flatMap((token) => [gainToken(view, token), " "])),
      entry.more ? make("span", { class: "muted" }, `… and ${plural(entry.more, "more token")}`) : null,
      make(
        "div",
        { class: "muted" },
        `line ${number(entry.line)}: ${bitsSaved(entry.gain)} less `,
        button("link", "Look at it", () => goToSentence(wordsOf(entry))),
      ),
    ),
  );
  return make("div", {}, make("h3", {}, "Sentences"), make("ol", { class: "sentences" }, items));
}

function gainToken(view, token) {
  const size = token.gain === null ? 0 : [0.5, 2, 5].filter((bits) => Math.abs(token.gain) >= bits).length;
  const better = token.gain > 0 ? view.other : view.baseline;
  const title = token.gain === null ? "no probability" : `${bitsSaved(token.gain)} less for ${better}`;
  const className = size ? `gain ${token.gain > 0 ? "plus" : "minus"}-${size}` : "gain";
  return make("span", { class: className, title }, token.token === "</s>" ? "⏎" : token.token);
}
