// Shows more of a preview while Holdfast looks at repositories. Without this script a button does.
const form = document.querySelector('[data-fills-in]').closest('form');
// What was previewed: fields may be changed meanwhile.
const fields = new URLSearchParams(new FormData(form));
fields.set('step', 'preview');
// Seldom: what is sent counts as the reader's.
let pause = 1000;
setTimeout(() => void fillIn(), pause);

async function fillIn() {
  const place = document.querySelector('[data-fills-in]');
  if (!place) return;
  if (!place.contains(document.activeElement)) {
    const answer = await fetch(form.action, { method: 'POST', body: fields });
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const more = page.querySelector('.look');
    if (!more) return;
    place.replaceWith(more);
  }
  pause = Math.min(2 * pause, 8000);
  setTimeout(() => void fillIn(), pause);
}
