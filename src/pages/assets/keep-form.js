// Keeps what was typed into a form whose sender turned out to be signed out, in this tab, until the form is there again.
// Without this script the page that says so shows the texts to copy.
const pathOf = (form) => new URL(form.getAttribute('action') ?? '', location.href).pathname;

addEventListener('submit', ({ target }) => {
  if (target.method !== 'post') return;
  const fields = [...new FormData(target)];
  sessionStorage.setItem('sent', JSON.stringify({ path: pathOf(target), fields }));
});

const sent = JSON.parse(sessionStorage.getItem('sent'));
const isSignedOut = document.querySelector('[data-signed-out]') !== null;
if (sent && isSignedOut) sessionStorage.setItem('kept', 'yes');
else if (sent && sessionStorage.getItem('kept')) {
  const form = [...document.forms].find((each) => each.method === 'post' && pathOf(each) === sent.path);
  if (form) fill(form, sent.fields);
}
if (!isSignedOut) sessionStorage.clear();

function fill(form, fields) {
  const values = Map.groupBy(fields, ([name]) => name);
  for (const field of form.elements) {
    if (!field.name || ['hidden', 'submit'].includes(field.type)) continue;
    const given = values.get(field.name)?.map(([, value]) => value);
    if (['checkbox', 'radio'].includes(field.type)) field.checked = given?.includes(field.value) ?? false;
    else if (given) field.value = given.shift();
  }
  for (let around = form; around; around = around.parentElement)
    if (around.open === false) around.open = true;
  const note = document.createElement('p');
  note.className = 'notice';
  note.role = 'status';
  note.textContent = 'You are signed in again. The form has what you typed. Nothing was changed yet.';
  form.prepend(note);
  note.scrollIntoView({ block: 'center' });
}
