// Finds people and teams while one types, and takes them over or removes them without loading the page. Without this script
// the buttons do.
for (const people of document.querySelectorAll('.people')) {
  const form = people.closest('form');
  const field = people.querySelector('.find input');
  const chosen = people.querySelector('.chosen');
  const others = [...document.querySelectorAll('.people')].filter((each) => each !== people);
  let asking = new AbortController();
  let timer;

  function stopSearching() {
    clearTimeout(timer);
    asking.abort();
  }

  async function search() {
    stopSearching();
    asking = new AbortController();
    const { signal } = asking;
    const query = new URLSearchParams(new FormData(form));
    // GitHub is asked about this setting alone.
    for (const { dataset } of others)
      for (const part of ['typed', 'list']) query.delete(`${dataset.people}_${part}`);
    try {
      const answer = await fetch(`${form.getAttribute('action')}?${query}`, { signal });
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const found = page.querySelector(`[data-people="${people.dataset.people}"] .matches`);
      if (found && !signal.aborted) people.querySelector('.matches').replaceChildren(...found.childNodes);
    } catch {
      return; // What is typed can be saved.
    }
  }

  field.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => void search(), 300);
  });
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || field.value.trim() === '') return;
    event.preventDefault();
    void search();
  });
  people.addEventListener('change', ({ target }) => {
    if (!target.matches('.matches input')) return;
    // An answer that is on its way would fill the list again, for nothing that is typed.
    stopSearching();
    const row = target.closest('li');
    target.type = 'hidden';
    row.querySelector('button').hidden = false;
    row.querySelector('button').type = 'button';
    chosen.append(row);
    people.querySelector('.matches').replaceChildren();
    field.value = '';
    field.focus();
  });
  people.addEventListener('click', (event) => {
    const button = event.target.closest('.chosen button, .matches button');
    if (!button) return;
    event.preventDefault();
    button.closest('li').remove();
    field.focus();
  });
  // Enter in another field saves: no button here is the one of the form.
  for (const button of people.querySelectorAll('button')) button.type = 'button';
  people.querySelector('[data-only-without-scripts]').hidden = true;
}
