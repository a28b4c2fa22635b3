"use strict";
// Sends each change when it is made, and shows each change that the server reports.

const connection = document.getElementById("connection");
const forms = [...document.querySelectorAll("form")];
let source;

for (const form of forms) {
  // Whether it has text that is not stored, how many requests are not answered, the last of them, the newest state.
  Object.assign(form, { isEdited: false, pending: 0, last: Promise.resolve(), state: { version: 0 } });
  form.addEventListener("input", () => { form.isEdited = true; });
  // A field would drop the line breaks of a key or a certificate without a word.
  form.addEventListener("paste", event => {
    if (!/[\r\n]/.test(event.clipboardData.getData("text").trim())) return;
    event.preventDefault();
    report(form, "Not pasted: the text has several lines.");
  });
  // A password is stored only when it is asked for.
  form.addEventListener("change", event => { if (event.target.type !== "password") send(form); });
  form.addEventListener("submit", event => {
    event.preventDefault();
    if (event.submitter?.value === "reset") return ask(form, event.submitter);
    // Enter has changed the field before, unless it is tried again.
    if (!event.submitter?.hidden || form.isEdited) send(form, event.submitter);
  });
  form.addEventListener("keydown", event => {
    const step = { ArrowUp: "increase", ArrowDown: "decrease" }[event.key];
    if (event.target.type !== "number" || !step) return;
    event.preventDefault();
    if (form.isEdited) send(form);
    send(form, form.querySelector(`[value=${step}]`));
  });
}

// Lets the next press of the button remove the value, unless something else is pressed before.
function ask(form, button) {
  const title = button.textContent;
  Object.assign(button, { value: "remove", textContent: `Really ${title.toLowerCase()}` });
  const forget = () => Object.assign(button, { value: "reset", textContent: title });
  button.addEventListener("blur", forget, { once: true });
  button.addEventListener("click", () => setTimeout(forget), { once: true });
  report(form, "Press again to remove the stored value.");
}

// Sends the form as it is now, after the requests before it.
function send(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  form.isEdited = false;
  form.pending += 1;
  form.last = form.last.then(() => post(form, body));
}

async function post(form, body) {
  let state, problem;
  try {
    const response = await fetch(form.getAttribute("action"), { method: "POST", body, headers: { Accept: "application/json" } });
    if (response.ok || response.status === 422) state = await response.json();
    else problem = "Not stored: " + await response.text();
  } catch {
    problem = "Not stored: the program that serves this page does not answer.";
  }
  form.pending -= 1;
  if (state?.isRefused) problem = state.problem;
  // What was typed stays for a second attempt; a control without text goes back to what is stored.
  if (problem && form.querySelector("[type=text], [type=number], [type=password]")) form.isEdited = true;
  if (state) show(state.isRefused ? { ...state, problem: "" } : state);
  if (problem) report(form, problem);
}

// Shows a state unless a newer one is shown. The field is left alone while it has text that is not stored.
function show(state) {
  const form = document.getElementById(`s${state.id}`);
  if (state.version > form.state.version) form.state = state;
  const { text, formatted, isAtMin, isAtMax, problem } = form.state;
  const field = document.getElementById(`${form.id}-field`);
  const output = document.getElementById(`${form.id}-value`);
  if (output && output.textContent !== formatted) output.textContent = formatted;
  for (const [name, isOff] of [["decrease", isAtMin], ["increase", isAtMax]]) {
    document.getElementById(`${form.id}-${name}`)?.setAttribute("aria-disabled", isOff);
  }
  if (field.type === "range") field.setAttribute("aria-valuetext", formatted);
  if (field.type === "text" && field.autocomplete === "off") field.readOnly = /[\r\n]/.test(text);
  if (form.isEdited || form.pending > 0) return;
  report(form, problem);
  if (field.getAttribute("role") === "switch") {
    field.value = text !== "true";
    field.setAttribute("aria-checked", text === "true");
  } else if (field.value !== text) {
    field.value = text;  // moves the cursor
  }
}

function report(form, problem) {
  const place = form.querySelector(".problem");
  if (place.textContent !== problem) place.textContent = problem;
  const field = document.getElementById(`${form.id}-field`);
  if (field.hasAttribute("aria-invalid")) field.setAttribute("aria-invalid", problem !== "");
}

function listen() {
  source = new EventSource(document.body.dataset.events);
  source.onmessage = event => show(JSON.parse(event.data));
  source.onopen = () => { connection.textContent = ""; };
  source.onerror = () => { connection.textContent = "Not connected: changes that are made elsewhere do not appear."; };
}

// A browser has few connections to one server: only pages that are seen use one.
document.addEventListener("visibilitychange", () => {
  source?.close();
  if (!document.hidden) listen();
});
if (!document.hidden) listen();
