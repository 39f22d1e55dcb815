// Keeps a page up to date: asks for it again when the service says that something changed, and puts in what differs.
// A form that somebody has begun to fill in stays as it is. Without this script, the page is right after a reload.
const main = document.querySelector('main[data-live]');
const seconds = 1000;
let source = null;
/** What the connection follows. */
let followed;
let timer;
let isAsking = false;
let isWanted = false;
let quietUntil = 0;

const isHidden = () => document.visibilityState === 'hidden';

/** Asks for the page after a pause. A page that takes long to make is asked for less often. */
function update() {
  if (isAsking) return (isWanted = true);
  clearTimeout(timer);
  timer = setTimeout(() => void ask(), Math.max(0, quietUntil - performance.now()));
}

async function ask() {
  isAsking = true;
  isWanted = false;
  const began = performance.now();
  let isLate = false;
  try {
    const answer = await fetch(location.pathname + location.search, { headers: { Accept: 'text/html' } });
    if (answer.redirected || [401, 403, 404].includes(answer.status)) leave();
    else if (answer.ok) show(new DOMParser().parseFromString(await answer.text(), 'text/html'));
    else isLate = true;
  } catch {
    isLate = true;
  }
  if (isLate) sayLate();
  const took = performance.now() - began;
  quietUntil = performance.now() + Math.max(isLate ? 10 * seconds : 2 * seconds, 10 * took);
  isAsking = false;
  if (isHidden()) timer = setTimeout(update, Math.max(60 * seconds, 100 * took));
  else {
    connect();
    if (isWanted || isLate || 'again' in main.dataset) update();
  }
}

/** Who may no longer see the page, or is signed out, gets what the service answers now; but not while they fill in a form. */
function leave() {
  if (!isInUse(main)) location.reload();
}

function sayLate() {
  if (main.querySelector('[data-late]')) return;
  const note = document.createElement('p');
  note.className = 'notice';
  note.dataset.late = '';
  note.setAttribute('role', 'status');
  note.textContent =
    'Holdfast could not update this page, so it may show what was so before. It tries again.';
  main.prepend(note);
}

function show(next) {
  const nextMain = next.querySelector('main');
  const login = (page) => page.querySelector('form.session span')?.textContent;
  if (!nextMain || login(document) !== login(next)) return leave();
  document.title = next.title;
  const icon = (page) => page.querySelector('link[rel="icon"]');
  if (icon(next) && icon(document).href !== icon(next).href) icon(document).href = icon(next).href;
  put(main, nextMain);
  if (source && subjects() !== followed) disconnect();
}

/** Rows keep their place by what they are about, so that a tick stays with its repository. */
function keyOf(node) {
  if (node.nodeType !== 1) return node.nodeName;
  const isItem = /^(TR|LI|SECTION)$/.test(node.nodeName);
  const its = isItem && node.querySelector('input[type="checkbox"], a[href]');
  return `${node.nodeName} ${node.id || (its && (its.value || its.getAttribute('href'))) || ''}`;
}

/** Makes one element like another, and keeps every part that is the same. What people opened stays open. */
function put(now, next) {
  if (now.isEqualNode(next)) return;
  if (now.nodeType !== 1) {
    now.data = next.data;
    return;
  }
  if (now.nodeName === 'FORM' && isInUse(now)) return;
  for (const { name } of [...now.attributes])
    if (name !== 'open' && !next.hasAttribute(name)) now.removeAttribute(name);
  for (const { name, value } of next.attributes)
    if (name !== 'open' && now.getAttribute(name) !== value) now.setAttribute(name, value);
  const rest = [...now.childNodes];
  const children = [...next.childNodes].map((child) => {
    const key = keyOf(child);
    const at = rest.findIndex((each) => keyOf(each) === key);
    if (at < 0) return child;
    const [found] = rest.splice(at, 1);
    put(found, child);
    return found;
  });
  children.forEach((child, index) => {
    if (now.childNodes[index] !== child) now.insertBefore(child, now.childNodes[index] ?? null);
  });
  for (const gone of rest) {
    if (gone.nodeType === 1) for (const form of formsIn(gone).filter(isInUse)) moveTo(form, gone);
    if (gone.nodeType !== 1 || !isInUse(gone)) gone.remove();
  }
}

/** Puts a form that somebody fills in where the page has it now. */
function moveTo(form, gone) {
  const action = form.getAttribute('action');
  const isIt = (each) => each.getAttribute('action') === action && !gone.contains(each);
  const place = formsIn(main).find(isIt);
  if (!place) return;
  const focused = document.activeElement;
  place.replaceWith(form);
  form.closest('details')?.setAttribute('open', '');
  if (form.contains(focused)) focused.focus();
}

const formsIn = (element) =>
  element.nodeName === 'FORM' ? [element] : [...element.querySelectorAll('form')];

/** Whether somebody has begun to fill in a form of it. Ticks in a table stay anyway. */
function isInUse(element) {
  const fields = formsIn(element).flatMap((form) => [...form.elements]);
  return fields.some((field) => element.contains(field) && isTouched(field));
}

const isTouched = (field) => {
  if (field.nodeName === 'SELECT')
    return [...field.options].some((each) => each.selected !== each.defaultSelected);
  if (field.type === 'checkbox' || field.type === 'radio') return field.checked !== field.defaultChecked;
  if (field.nodeName !== 'TEXTAREA' && field.nodeName !== 'INPUT') return false;
  return field === document.activeElement || field.value !== field.defaultValue;
};

/** What the page is about now: a push gives a pull request another commit. Since when differs each time. */
function subjects() {
  const { pathname, searchParams } = new URL(main.dataset.live, location.href);
  return [pathname, ...searchParams.getAll('about')].join(' ');
}

function disconnect() {
  source?.close();
  source = null;
}

function connect() {
  if (source || isHidden()) return;
  followed = subjects();
  source = new EventSource(main.dataset.live);
  source.addEventListener('changed', update);
  // Browsers try again by themselves, but not after a refusal: the next answer says why.
  source.addEventListener('error', () => {
    if (source?.readyState !== EventSource.CLOSED) return;
    source = null;
    quietUntil = Math.max(quietUntil, performance.now() + 60 * seconds);
    update();
  });
}

// A browser has few connections to one address, so a page in the background has none. It is asked for now and then.
document.addEventListener('visibilitychange', () => {
  if (isHidden()) {
    disconnect();
    clearTimeout(timer);
    timer = setTimeout(update, 60 * seconds);
  } else update();
});
addEventListener('pageshow', ({ persisted }) => persisted && update());

connect();
if ('again' in main.dataset) {
  quietUntil = performance.now() + 2 * seconds;
  update();
}
