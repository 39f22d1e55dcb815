// Times are in the zone of a cookie: the reader's choice, else the browser's.
const all = (selector) => document.querySelectorAll(selector);
const optionOf = (text) => Object.assign(document.createElement('option'), { value: text, text });
const kept = /(?:^|; )zone=([^;]*)/.exec(document.cookie)?.[1];
const zone = kept ? decodeURIComponent(kept) : Intl.DateTimeFormat().resolvedOptions().timeZone;
if (!kept) document.cookie = `zone=${zone}; path=/; max-age=31536000; samesite=lax`;
const name = document.querySelector('.zone strong');
if (name?.textContent === 'UTC' && zone !== 'UTC' && !/[?&]zone=/.test(location.search)) showInZone();

function showInZone() {
  const day = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' };
  const format = new Intl.DateTimeFormat('en-GB', {
    ...day,
    hour: '2-digit',
    minute: '2-digit',
    timeZone: zone,
  });
  for (const time of all('time')) {
    if (!time.textContent.endsWith(' UTC')) continue;
    const inUtc = time.textContent.slice(0, -' UTC'.length);
    const at = {};
    for (const { type, value } of format.formatToParts(new Date(time.dateTime))) at[type] = value;
    const year = / \d{4},/.test(inUtc) ? ` ${at.year}` : '';
    time.textContent = `${at.weekday} ${at.day} ${at.month}${year}, ${at.hour}:${at.minute}`;
    if (time.nextElementSibling?.className === 'beside-time')
      setBeside(time.nextElementSibling, inUtc, time.textContent);
  }
  name.textContent = zone.split('/').at(-1).replaceAll('_', ' ');
  // Forms that nobody has filled in yet.
  for (const field of all('[data-chooses-own-zone]')) {
    field.append(optionOf(zone));
    field.value = zone;
  }
}

// `(Fri 27 Nov, 20:00 New York)`: the freeze's own clock stands beside the reader's only where it differs, with its day
// only where that is another one.
function setBeside(beside, inUtc, here) {
  const [, day, clock, city] =
    /^ \((?:(\w{3} [^,]+), )?(\d\d:\d\d) ([^,)]+)\)$/.exec(beside.textContent) ?? [];
  if (!clock) return;
  const itsDay = day ?? inUtc.split(', ')[0];
  const isSameDay = /\d+/.exec(itsDay)[0] === /\d+/.exec(here)[0];
  const own = isSameDay ? `${clock} ${city}` : `${itsDay}, ${clock} ${city}`;
  beside.hidden = isSameDay && here.endsWith(clock);
  beside.textContent = beside.hidden ? ' ' : ` (${own})`;
}

// The zones to choose from.
for (const list of all('.zone datalist'))
  list.parentNode.addEventListener(
    'focusin',
    () => list.append(...['UTC', ...Intl.supportedValuesOf('timeZone')].map(optionOf)),
    { once: true },
  );
