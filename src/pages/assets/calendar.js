// A bar whose occurrence can be moved can be dragged to another day. Dropping it opens the form, filled in: nothing is
// moved before somebody confirms that. The card of the bar leads to the same form.
const formOf = (bar) => bar?.querySelector('.peek a[href$="#move"]');
const aDay = 86_400_000;
let dragged = null;

for (const bar of document.querySelectorAll('.stay'))
  if (formOf(bar)) {
    bar.draggable = true;
    bar.firstElementChild.draggable = false;
  }

/** The cell of the day at which the pointer is. */
function dayAt({ target, clientX }) {
  const week = target.closest?.('.week');
  if (!week) return null;
  const { left, width } = week.getBoundingClientRect();
  const column = Math.floor(((clientX - left) / width) * 7);
  return week.querySelectorAll('[data-day]')[Math.max(0, Math.min(6, column))];
}

const mark = (day) => {
  document.querySelector('.day.over')?.classList.remove('over');
  day?.classList.add('over');
};

document.addEventListener('dragstart', (event) => {
  const bar = event.target.closest?.('.stay[draggable="true"]');
  if (!bar) return;
  dragged = { form: formOf(bar).href, from: Date.parse(dayAt(event).dataset.day) };
  event.dataTransfer.effectAllowed = 'move';
  document.body.classList.add('dragging');
});
document.addEventListener('dragover', (event) => {
  const day = dragged && dayAt(event);
  mark(day);
  if (day) event.preventDefault();
});
document.addEventListener('drop', (event) => {
  const day = dragged && dayAt(event);
  if (!day) return;
  event.preventDefault();
  const days = (Date.parse(day.dataset.day) - dragged.from) / aDay;
  const form = new URL(dragged.form);
  form.searchParams.set('days', days);
  // The button has the focus there, which a part of the page would take.
  form.hash = '';
  if (days !== 0) location.assign(form);
});
document.addEventListener('dragend', () => {
  dragged = null;
  mark(null);
  document.body.classList.remove('dragging');
});
