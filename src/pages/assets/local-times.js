// Shows each instant in the viewer's own zone too. Without this script the zone of the freeze stands alone.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
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
