// Shows each instant in the viewer's own zone too, unless the page was asked for one. Without this script the zones
// that the page shows stand alone.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
// Later pages show times in this zone, and forms begin with it, until the reader chooses another one.
const isKnown = /(^|; )zone=/.test(document.cookie);
if (!isKnown) document.cookie = `zone=${zone}; path=/; max-age=31536000; samesite=lax`;
const format = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: zone,
});
for (const element of document.querySelectorAll('time[datetime][data-zone]')) {
  if (element.dataset.zone === zone) continue;
  const local = document.createElement('span');
  local.className = 'local-time';
  local.textContent = ` (${format.format(new Date(element.dateTime))} ${zone})`;
  element.after(local);
}

// Offers the viewer's own zone to choose, where it is not among the choices yet.
for (const select of document.querySelectorAll('select[data-offers-own-zone]')) {
  if ([...select.options].some(({ value }) => value === zone)) continue;
  const option = document.createElement('option');
  option.value = zone;
  option.textContent = `${zone} (yours)`;
  select.append(option);
}

// On the first page, a form that nobody has filled in yet begins with the viewer's own zone, too.
for (const field of document.querySelectorAll('[data-chooses-own-zone]')) if (!isKnown) field.value = zone;
