"use strict";

/* What moves in a report: the map of morphemes, the chooser of sentences, and the figures of a token. */
(function () {
  // ---------------------------------------------------------------- the map

  const here = document.getElementById("map-here");
  const data = document.getElementById("map-data");
  if (here && data) {
    const points = JSON.parse(data.textContent).points;
    window.reportMap = morphemeMap(here, points, { label: `Map of morphemes of ${here.dataset.model}` });
  }

  // ---------------------------------------------------------------- sentences

  const chooser = document.getElementById("sentence-chooser");
  const sentences = [...document.querySelectorAll(".sentence")];
  if (chooser) chooser.addEventListener("change", showChosen);

  function showChosen() {
    for (const sentence of sentences) sentence.hidden = sentence.id !== chooser.value;
  }
  if (chooser) showChosen(); // a browser may remember another choice than the page was made with

  for (const sentence of sentences) {
    const tokens = [...sentence.querySelectorAll("[data-token]")];
    const details = sentence.querySelector(".token-details");
    for (const token of tokens) {
      token.addEventListener("pointerenter", () => tell(details, token));
      token.addEventListener("focus", () => tell(details, token));
    }
    sentence.addEventListener("keydown", (event) => walk(event, tokens));
  }

  function tell(details, token) {
    const name = document.createElement("strong");
    name.textContent = token.dataset.token;
    details.classList.remove("muted");
    details.replaceChildren(name, ` ${token.dataset.figures}`);
  }

  // One token of a sentence is reached by Tab, the others from there by arrow keys.
  function walk(event, tokens) {
    const at = tokens.indexOf(document.activeElement);
    const steps = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tokens.length - 1 };
    const to = tokens[steps[event.key]];
    if (at < 0 || !to) return;
    tokens[at].tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
    event.preventDefault();
  }
})();
