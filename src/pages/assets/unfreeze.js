// Says on the button what it ends, and shows the boxes that select all of a table. Without this script the button says
// "End the selected freezes".
const button = document.querySelector('[data-ends]');
const boxes = [...document.querySelectorAll('[name=ongoing]')];
const counted = (count, one, many) => `${count} ${count === 1 ? one : many}`;

function placesOf(box) {
  return (box.dataset.places ?? '').split(' ').flatMap((range) => {
    const [from, to = from] = range.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
}

function show() {
  const chosen = boxes.filter(({ checked }) => checked);
  const places = new Set(chosen.flatMap(placesOf));
  button.textContent =
    chosen.length === 0
      ? 'End the selected freezes'
      : `End ${counted(chosen.length, 'freeze', 'freezes')} in ${counted(places.size, 'repository', 'repositories')}`;
  for (const all of document.querySelectorAll('[data-selects-all]')) {
    const its = [...all.closest('table').querySelectorAll('[name=ongoing]')];
    const ticked = its.filter(({ checked }) => checked).length;
    all.checked = ticked === its.length;
    all.indeterminate = ticked > 0 && ticked < its.length;
  }
}

for (const all of document.querySelectorAll('[data-selects-all]')) {
  all.hidden = false;
  all.addEventListener('change', () => {
    for (const box of all.closest('table').querySelectorAll('[name=ongoing]')) box.checked = all.checked;
    show();
  });
}
for (const box of boxes) box.addEventListener('change', show);
// A page that the browser restores has the boxes that were ticked.
if (button) {
  show();
  addEventListener('pageshow', show);
}
