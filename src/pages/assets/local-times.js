// Pages show times in the zone of a cookie. On the first page that becomes the browser's zone, and the page shows its
// times in it, too. A zone that the reader chose in the header stays.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (!/(^|; )zone=/.test(document.cookie)) {
  document.cookie = `zone=${zone}; path=/; max-age=31536000; samesite=lax`;
  if (!/[?&]zone=/.test(location.search)) showInZone();
}

function showInZone() {
  const [year, hour] = ['numeric', '2-digit'];
  const parts = { weekday: 'short', day: year, month: 'short', year, hour, minute: hour, timeZone: zone };
  const format = new Intl.DateTimeFormat('en-GB', parts);
  const read = (at) => Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  for (const time of document.querySelectorAll('time')) {
    if (!time.textContent.endsWith(' UTC')) continue;
    const at = read(new Date(time.dateTime));
    const inYear = / \d{4},/.test(time.textContent) ? ` ${at.year}` : '';
    time.textContent = `${at.weekday} ${at.day} ${at.month}${inYear}, ${at.hour}:${at.minute}`;
  }
  // A form that nobody has filled in yet begins with the zone.
  for (const field of document.querySelectorAll('[data-chooses-own-zone]')) {
    if (field.options)
      field.append(Object.assign(document.createElement('option'), { value: zone, text: zone }));
    field.value = zone;
  }
}

// On a narrow screen a timeline begins with the days around now.
for (const box of document.querySelectorAll('.timeline')) {
  const now = box.querySelector('.now line');
  if (!now) continue;
  const place = now.getBoundingClientRect().left - box.getBoundingClientRect().left;
  box.scrollLeft = place - box.clientWidth / 2;
}
