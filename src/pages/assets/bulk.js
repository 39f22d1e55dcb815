// Shows the bar of a list when rows are chosen, and says on its buttons what they do to how many. Without this script the
// bar is always there, and its buttons name no number.
const bar = document.querySelector('#bulk');

function count() {
  const chosen = [...bar.elements].filter((each) => each.name === 'chosen' && each.checked);
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
}

if (bar) {
  document.addEventListener('change', count);
  addEventListener('pageshow', count);
  // A page that updates itself has other rows, and the bar as it came.
  new globalThis.MutationObserver(count).observe(document.querySelector('main'), {
    childList: true,
    subtree: true,
  });
  count();
}
