// Shows the bar of a list when rows are chosen, says on its buttons what they do to how many, and selects all rows. Without
// this script the bar is always there, and its buttons name no number.
// A page that updates itself may bring another bar.
const barNow = () => document.querySelector('#bulk');
const boxes = () => [...(barNow()?.elements ?? [])].filter((each) => each.classList.contains('bulk-box'));

function count() {
  const bar = barNow();
  if (!bar) return;
  const chosen = boxes().filter(({ checked }) => checked);
  const parts = JSON.parse(bar.dataset.acts).flatMap(([verb, one, many], kind) => {
    const its = chosen.filter((each) => Number(each.dataset.kind) === kind).length;
    return its === 0 ? [] : [`${verb} ${its} ${its === 1 ? one : many}`];
  });
  const text = parts
    .map((part, at) => (at === 0 ? part : part[0].toLowerCase() + part.slice(1)))
    .join(' and ');
  if (bar.hidden !== (text === '')) bar.hidden = text === '';
  for (const button of bar.querySelectorAll('[data-counted]'))
    if (text !== '' && button.textContent !== text) button.textContent = text;
  for (const all of document.querySelectorAll('[data-selects-all]')) {
    all.checked = chosen.length > 0 && chosen.length === boxes().length;
    all.indeterminate = chosen.length > 0 && !all.checked;
    if (all.parentElement.hidden) all.parentElement.hidden = false;
  }
}

function changed({ target }) {
  if (target.matches('[data-selects-all]')) for (const box of boxes()) box.checked = target.checked;
  count();
}

if (barNow()) {
  document.addEventListener('change', changed);
  addEventListener('pageshow', count);
  new globalThis.MutationObserver(count).observe(document.querySelector('main'), {
    childList: true,
    subtree: true,
    attributeFilter: ['hidden'],
  });
  count();
}
