// Marks the button that sent a form until the next page is there.
addEventListener('submit', ({ submitter }) => submitter?.setAttribute('aria-busy', 'true'));
// A page that the browser restores waits for nothing.
addEventListener('pageshow', () => {
  for (const button of document.querySelectorAll('[aria-busy]')) button.removeAttribute('aria-busy');
});
