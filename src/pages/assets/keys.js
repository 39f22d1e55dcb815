// Fast hands: Ctrl+K or ⌘K finds, / searches, f freezes, ? lists the keys. The three single keys can be switched off.
const dialog = document.createElement('dialog');
dialog.className = 'palette';
dialog.setAttribute('aria-label', 'Find');
dialog.addEventListener('click', ({ target }) => target === dialog && dialog.close());
let asked = 0;

/** Shows the page /find, or its answer to what is typed, in the dialog. */
async function fill(query) {
  const mine = ++asked;
  const answer = await fetch(`/find?${new URLSearchParams({ q: query })}`, {
    headers: { Accept: 'text/html' },
  });
  const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
  if (mine !== asked) return;
  const found = dialog.querySelector('#found');
  if (found) return found.replaceWith(next.querySelector('#found'));
  dialog.replaceChildren(...next.querySelectorAll('main > :is(form, #found, #keys)'));
  const ticked = dialog.querySelector('[data-single-keys]');
  ticked.closest('label').hidden = false;
  ticked.checked = areOn();
  ticked.addEventListener('change', () =>
    globalThis.localStorage.setItem('keys', ticked.checked ? 'on' : 'off'),
  );
  const field = dialog.querySelector('input[type=search]');
  let pause;
  field.addEventListener('input', () => {
    clearTimeout(pause);
    pause = setTimeout(() => void fill(field.value), 120);
  });
}

async function open(selector) {
  if (!dialog.isConnected) document.body.append(dialog);
  if (!dialog.querySelector('#found')) await fill('');
  dialog.classList.toggle('of-keys', selector === '#keys');
  if (!dialog.open) dialog.showModal();
  const field = dialog.querySelector('input[type=search]');
  if (selector !== '#keys') field.select();
}

const areOn = () => globalThis.localStorage.getItem('keys') !== 'off';
const isTyping = ({ target }) =>
  target.closest?.('input:not([type=checkbox], [type=radio]), textarea, select');

const does = {
  '/'() {
    const field = document.querySelector('main input[type=search]');
    if (field) field.focus();
    else void open();
  },
  f() {
    const owner = document.querySelector('nav.tabs')?.getAttribute('aria-label');
    // Never the button that makes a freeze.
    const leads = document.querySelector('main :is(a, summary, form:not([method=post]) button).freeze');
    if (leads) leads.click();
    else if (owner) location.assign(`/owners/${owner}/freeze`);
  },
  '?': () => void open('#keys'),
};

addEventListener('keydown', (event) => {
  const { key, metaKey, ctrlKey, altKey } = event;
  if (dialog.open && (key === 'ArrowDown' || key === 'ArrowUp'))
    return move(event, key === 'ArrowDown' ? 1 : -1);
  const isFind = key.toLowerCase() === 'k' && (metaKey || ctrlKey) && !altKey;
  const isOne = Object.hasOwn(does, key) && !metaKey && !ctrlKey && !altKey;
  if (!isFind && (!isOne || !areOn() || isTyping(event) || dialog.open)) return;
  event.preventDefault();
  if (isFind) void open();
  else does[key]();
});
for (const link of document.querySelectorAll('a[href="/find"]'))
  link.addEventListener('click', (event) => {
    if (event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    void open();
  });

/** Arrows go from the field through what was found. */
function move(event, step) {
  const all = [...dialog.querySelectorAll('input[type=search], #found a')];
  event.preventDefault();
  all.at((all.indexOf(document.activeElement) + step) % all.length)?.focus();
}

// A form that somebody filled in is not left without a question of the browser.
let isSent = false;
addEventListener('submit', () => (isSent = true));
addEventListener('pageshow', () => (isSent = false));
addEventListener('beforeunload', (event) => {
  const forms = [...document.querySelectorAll('main form[method=post]')];
  const isTyped = (field) =>
    'defaultValue' in field &&
    field.type !== 'hidden' &&
    !['checkbox', 'radio'].includes(field.type) &&
    field.value !== field.defaultValue;
  if (!isSent && forms.some((form) => [...form.elements].some(isTyped))) event.preventDefault();
});
