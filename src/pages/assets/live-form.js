// Keeps the preview beside a form up to date while one fills it in, and the list of repositories to choose from. Without
// this script, buttons do.
const form = document.querySelector('form[data-live]');
// What does not change the preview, or belongs to an earlier one.
const left = [
  'reason',
  'public_reason',
  'name',
  'template_name',
  'step',
  'key',
  'previewed',
  'version',
  'find',
];
const parts = ['.preview', '.matching'];
// The server limits the length of an address.
const longest = 8000;
// The same for one entry of the history: who goes back and presses the button again makes nothing twice.
const key = history.state?.form ?? String(Math.random());
history.replaceState({ ...history.state, form: key }, '');
let asking = new AbortController();
let timer;
let pause = 1000;
// What nobody knows yet is asked again a few times: answers are kept for ten seconds.
let asksLeft = 3;

const later = (after) => {
  clearTimeout(timer);
  timer = setTimeout(() => void refresh(), after);
};

/** What a press has begun on stays there until it ends: on another button, the press would count for nothing. */
let untilReleased = Promise.resolve();
let release = null;
addEventListener('pointerdown', () => {
  if (release === null) untilReleased = new Promise((resolve) => (release = resolve));
});
function endPress() {
  release?.();
  release = null;
}
// The click comes after them.
for (const end of ['pointerup', 'pointercancel']) addEventListener(end, () => setTimeout(endPress));

async function refresh() {
  asking.abort();
  asking = new AbortController();
  const query = new URLSearchParams(new FormData(form));
  for (const name of left) query.delete(name);
  query.set('live', '');
  query.set('key', key);
  if (String(query).length > longest) return;
  const { signal } = asking;
  try {
    const answer = await fetch(`${form.getAttribute('action')}?${query}`, { signal });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    await untilReleased;
    if (signal.aborted) return;
    for (const part of parts) swap(part, page);
    chooseParts();
  } catch {
    return; // The buttons still work.
  }
  pause = form.querySelector('[data-fills-in]') ? Math.min(2 * pause, 8000) : 1000;
  if (form.querySelector('[data-fills-in]')) later(pause);
  else if (form.querySelector('[data-asks-again]') && asksLeft-- > 0) later(11_000);
}

/** Replaces a part of the form with that of a page. What has the focus keeps it. */
function swap(part, page) {
  const [here, there] = [form.querySelector(part), page.querySelector(part)];
  if (!here || !there) return;
  const { activeElement: active } = document;
  const isInside = here.contains(active);
  for (const each of there.querySelectorAll('[autofocus]')) each.removeAttribute('autofocus');
  for (const each of there.querySelectorAll('details'))
    each.open ||= [...here.querySelectorAll('details[open] > summary')].some(
      (summary) => summary.textContent === each.firstElementChild.textContent,
    );
  here.replaceWith(there);
  if (isInside && active.name)
    there.querySelector(`[name="${CSS.escape(active.name)}"][value="${CSS.escape(active.value)}"]`)?.focus();
}

/** Hides what this script does by itself, and shows what needs it. */
function chooseParts() {
  for (const button of form.querySelectorAll('[data-only-without-scripts]')) button.hidden = true;
  for (const box of form.querySelectorAll('[data-with-scripts]')) box.hidden = false;
}

/** Whoever selects a repository means the selected ones. Whoever chooses all selects none. */
function followChoice(target) {
  const chooser = form.querySelector('.chooser');
  // One field, and hidden, for people who cannot choose all.
  const { which } = form.elements;
  if (!chooser || !which?.length) return;
  if (chooser.contains(target) && target.name !== 'filter') which.value = 'ticked';
  if (target.name !== 'which') return;
  chooser.open = which.value === 'ticked';
  if (which.value === 'all') for (const box of chooser.querySelectorAll(':checked')) box.checked = false;
}

if (form) {
  // The button that sent it says so until the next page is there.
  form.addEventListener('submit', () => {
    clearTimeout(timer);
    asking.abort();
  });
  form.addEventListener('input', ({ target }) => {
    followChoice(target);
    if (left.includes(target.name)) return;
    // A day that is taken back may have been typed.
    const typed = form.elements.except;
    if (target.name === 'off' && typed) typed.value = typed.value.replaceAll(target.value, '').trim();
    pause = 1000;
    asksLeft = 3;
    // An answer that is on its way would take back what was chosen since.
    asking.abort();
    later(target.type === 'checkbox' || target.type === 'radio' ? 50 : 500);
  });
  form.addEventListener('change', ({ target }) => {
    // Ticks all that is listed.
    if (!target.matches('[data-ticks-all]')) return;
    for (const box of form.querySelectorAll('.ticks input:enabled')) box.checked = target.checked;
    later(50);
  });
  chooseParts();
  later(form.querySelector('[data-fills-in]') ? pause : 0);
}
