/* The tab of sentences: how surprising each token is under each model, what was expected, and what comes next. */

import { ask, cancel, later, updating } from "./asking.js";
import { button, byId, direction, endName, make, number, odds, probabilities, probability, setStatus } from "./elements.js";
import { currentModel, keepAddress, openTab } from "./explorer.js";
import { offerExamples, sentenceLinks } from "./start.js";
import { goToWord } from "./words.js";

let chosenToken = null; // the place of the token that is told about; null: the most surprising one

const typedSentence = later(() => {
  chosenToken = null;
  exploreSentence();
});
byId("sentence").addEventListener("input", () => {
  keepAddress(false);
  typedSentence();
});
byId("sentence-is").addEventListener("change", () => {
  keepAddress(false);
  exploreSentence();
});

export function exploreSentence() {
  const text = byId("sentence").value;
  cancel("sentence");
  suggest(text);
  offerExamples("sentence", () => !byId("sentence").value.trim(), (view) =>
    view.sentences.length ? [make("p", { class: "muted" }, `Or one that ${view.model} made up:`), sentenceLinks(view.sentences)] : [],
  );
  if (!text.trim()) {
    byId("sentence-result").replaceChildren();
    setStatus("sentence", "Each word is coloured by how surprising it is after the words before it.");
    return;
  }
  updating("sentence", async (result) => {
    const view = await ask("sentence", "/api/sentence", { text, text_is: byId("sentence-is").value, k: 8 });
    if (view === null) return;
    setStatus("sentence", readAs(text, view.models));
    result.replaceChildren(...sentenceCards(view.models, view.scale));
  });
}

function readAs(text, views) {
  const typed = text.trim().replace(/\s+/g, " ");
  const forms = [...new Set(views.map((view) => view.prepared))];
  if (forms.length === 1 && forms[0] === typed) return "";
  if (forms.length === 1) return `Read as: ${forms[0]}`;
  return "The models read it in different ways, as their texts were prepared.";
}

async function suggest(text) {
  const place = byId("next-words");
  try {
    const asking = { model: currentModel().name, text, text_is: byId("sentence-is").value, k: 8 };
    const view = await ask("next", "/api/complete", asking);
    if (view === null) return;
    const words = view.words.filter((entry) => entry.word !== "</s>");
    const title = `${view.prefix ? "Completed" : "Next"} by ${view.model}:`;
    place.replaceChildren(
      ...(words.length ? [make("span", { class: "muted" }, title)] : []),
      ...words.map((entry) =>
        button("chip", entry.word, () => take(entry.word, view.prefix), {
          title: `probability ${probability(entry.probability)}`,
        }),
      ),
    );
  } catch {
    place.replaceChildren(); // the sentence itself says what is wrong
  }
}

function take(word, prefix) {
  const box = byId("sentence");
  const before = prefix ? box.value.replace(/[^ \t\n]*$/, "") : box.value;
  box.value = `${before}${before && !/\s$/.test(before) ? " " : ""}${word} `;
  box.focus();
  keepAddress(false);
  exploreSentence();
}

function sentenceCards(views, scale) {
  const details = make("div", { "aria-live": "polite" });
  const alike = views.every((view) => view.prepared === views[0].prepared);
  const lines = views.map((view, at) => underModel(view, (token) => chooseToken(token, at)));

  function chooseToken(token, at) {
    chosenToken = token;
    const shown = alike ? views : [views[at]];
    lines.forEach((line, place) => press(line, alike || place === at ? token : -1));
    details.replaceChildren(tokenDetails(shown, token));
  }

  const last = views[0].tokens.length - 1;
  const first = chosenToken === null || chosenToken > last ? mostSurprising(views) : chosenToken;
  chooseToken(first, 0);
  return [make("section", { class: "card" }, lines, surprisalLegend(scale)), details];
}

function press(line, token) {
  line.querySelectorAll("button.token").forEach((each, place) => {
    each.setAttribute("aria-pressed", String(place === token));
  });
}

function mostSurprising(views) {
  const tokens = views[views.length - 1].tokens;
  const bits = (token) => (token.bits === null ? Infinity : token.bits);
  return tokens.reduce((best, token, at) => (bits(token) > bits(tokens[best]) ? at : best), 0);
}

function underModel(view, choose) {
  const unknown = view.unknown ? `, ${number(view.unknown)} unknown` : "";
  const total = view.perplexity === null ? "a word that cannot be" : `perplexity ${number(view.perplexity, 1)}`;
  const head = make(
    "div",
    { class: "under-head" },
    make("h3", { dir: "ltr" }, view.model),
    make("span", { class: "muted", dir: "ltr" }, `${total}${view.bits === null ? "" : `, ${number(view.bits, 1)} bits`}${unknown}`),
  );
  const tokens = view.tokens.map((token, at) => tokenButton(token, () => choose(at)));
  const side = direction(view.tokens.map((token) => token.token));
  return make("div", { class: "under", dir: side }, head, make("div", { class: "tokens" }, tokens));
}

function tokenButton(token, click) {
  const bits = token.bits === null ? "no probability" : `${token.bits.toFixed(1)} bits`;
  const isEnd = token.token === "</s>";
  const className = `token surprise-${token.level}${token.unknown ? " is-unknown" : ""}${isEnd ? " end-mark" : ""}`;
  const title = `${bits}${token.unknown ? ", an unknown word" : ""}${isEnd ? ", the end of the sentence" : ""}`;
  const more = { title, "aria-label": `${endName(token.token)}: ${title}` };
  return button(className, isEnd ? "⏎" : token.token, click, more);
}

function surprisalLegend(scale) {
  const entries = scale.map((text, at) => make("li", { class: `surprise-${at}` }, text));
  return make("ul", { class: "legend scale", "aria-label": "Colours of surprisal in bits" }, entries);
}

function tokenDetails(views, at) {
  const token = views[0].tokens[at];
  const isWord = token.token !== "</s>" && token.token !== "<unk>";
  const title = make("h2", { dir: "auto" }, endName(token.token));
  const link = isWord ? button("link", "Explore this word", () => goToWord(token.token)) : null;
  return make(
    "section",
    { class: "card" },
    make("div", { class: "word-head" }, title, link),
    make("div", { class: "columns" }, views.map((view) => expectedUnder(view, at))),
  );
}

function expectedUnder(view, at) {
  const token = view.tokens[at];
  const bits = token.bits === null ? "it cannot be" : `${token.bits.toFixed(1)} bits`;
  const unknown = token.unknown ? "an unknown word, scored as such; " : "";
  const told = `${unknown}probability ${odds(token.probability)}, ${bits}, rank ${number(token.rank)}`;
  return make(
    "div",
    {},
    make("h3", {}, view.model),
    make("p", { class: "muted" }, told),
    make("p", { class: "muted" }, "Expected here"),
    probabilities(token.expected, token.token, goToWord),
  );
}

// A sentence of a comparison: its tokens are as the models saw them.
export function goToSentence(text) {
  byId("sentence").value = text;
  byId("sentence-is").value = "prepared";
  chosenToken = null;
  openTab("sentence");
  window.scrollTo({ top: 0 });
}
