// A menu closes with Escape, and when one clicks or goes elsewhere. Without this script its name closes it, too.
const open = () => document.querySelectorAll('.menu[open]');

addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape') return;
  for (const menu of open()) {
    if (menu.contains(document.activeElement)) menu.querySelector('summary').focus();
    menu.open = false;
  }
});
for (const going of ['click', 'focusin'])
  addEventListener(going, ({ target }) => {
    for (const menu of open()) if (!menu.contains(target)) menu.open = false;
  });

// The settings of an owner were one page once: links to a part of it lead to the page of that part.
const part = document.getElementById(location.hash.slice(1));
if (part?.closest('.subjects')) location.replace(part.href);
