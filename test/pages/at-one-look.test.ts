import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { Visitor, words } from '../support/visitor.ts';

// What the first pages say at one look: what is so, what needs the reader, and what comes.

const acme = acmeForAll();
const visitors: Record<string, Visitor> = {};
let plan: string;

const see = async (login: string, path: string) => {
  const seen = await visitors[login]!.open(path);
  expect(seen.status).toBe(200);
  return { text: seen.text, said: words(seen) };
};
/** A part of a page, by the id of its heading. */
const part = (text: string, id: string) => {
  const from = text.indexOf(`id="${id}"`);
  return from < 0
    ? ''
    : words({ text: text.slice(text.lastIndexOf('<', from), text.indexOf('</section>', from)) });
};

beforeAll(async () => {
  acme.github.addUser('mallory');
  const roles = { bob: 'write' } as const;
  const size = { files: [{ path: 'src/pay.ts', additions: 12 }] };
  await acme.repository('web', [{ title: 'Refunds', author: 'bob', ...size }, { title: 'Docs' }], { roles });
  await acme.repository('api', [{ title: 'Totals', author: 'bob' }, { title: 'Other' }], { roles });
  await acme.freeze('acme/web', {
    ...{ reason: 'Books are closed', end: '2026-03-02T12:00:00' },
    exclude_conditions: ['title=Docs'],
  });
  const daily = {
    ...{ name: 'Nights', reason: 'Nobody is here', repositories: { include: ['api'] }, timezone: 'UTC' },
    ...{ start: '2026-03-02T04:56:00', end: '2026-03-02T07:56:00', recurrence: { rule: 'FREQ=DAILY' } },
  };
  plan = (await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body: daily })).body.id;
  await acme.quiet();
  for (const login of ['ada', 'bob', 'mallory']) {
    visitors[login] = new Visitor(acme);
    await visitors[login].signIn(login);
  }
});

test('a developer sees which of theirs is blocked, why and until when, and asks for an exemption there', async () => {
  for (const path of ['/', '/repos/acme']) {
    const { text } = await see('bob', path);
    expect(part(text, 'yours')).toMatch(
      /web #1 Refunds Books are closed until Mon 2 Mar, 12:00 UTC Blocked Request exemption/,
    );
    expect(text).toContain('href="/repos/acme/web/pulls/1?exempt=yes"');
    // The other one of theirs is free, and this one is somebody else's.
    expect(part(text, 'yours')).not.toMatch(/Totals|Docs/);
  }
  expect(part((await see('mallory', '/repos/acme')).text, 'yours')).toBe('');
});

test('who decides reads title, author and size on the first page, and approves there', async () => {
  const body = { reason: 'Customers wait for their money' };
  await acme.advanceTo(new Date(acme.clock.now() + 60_000));
  await acme.call('POST', '/v1/repos/acme/web/pulls/1/exemptions', { as: acme.github.addToken('bob'), body });
  expect(part((await see('bob', '/')).text, 'yours')).toContain('Blocked Requested');
  const { text } = await see('ada', '/');
  const decide = words({ text: text.slice(text.indexOf('id="decide"'), text.indexOf('id="frozen"')) });
  expect(decide).toMatch(
    /acme\/web #1 Refunds By bob \+12 12 lines added .* Blocked by Books are closed until .*bob requests an exemption until .*Customers wait for their money.*Approve .*Deny/,
  );
  // GitHub's times are whole seconds, and ours are not.
  await acme.advanceTo(new Date(acme.clock.now() + 60_700));
  const [, action] = /action="([^"]+\/approve)"/.exec(text)!;
  const sent = await visitors['ada']!.sendOnce(action!, { from_list: 'yes' });
  expect(sent.location).toMatch(/^\/owners\/acme\/exemptions\?said=approved/);
  await acme.quiet();
  expect(acme.shown('acme/web', 1)?.state).toBe('success');
  expect((await see('ada', '/')).text).not.toContain('id="decide"');
});

test('the next seven days have a row for each freeze, and a plan one, with a bar for each time', async () => {
  const { text } = await see('ada', '/repos/acme');
  const week = text.slice(text.indexOf('id="week"'), text.indexOf('<aside'));
  expect(words({ text: week })).toMatch(/Sun 1 Mon 2 Tue 3 Wed 4 Thu 5 Fri 6 Sat 7 Books are closed/);
  const [books, nights] = week.split('<li>').filter((row) => row.includes('<svg'));
  expect(books!.match(/<rect/g)).toHaveLength(1);
  expect(books).toMatch(/x="9\.0"\s+width="27\.0"/);
  expect(nights).toContain(`href="/repos/acme/api/freezes/`);
  expect(nights!.match(/<rect/g)).toHaveLength(6);
  expect(nights).toContain('Mon 2 Mar, 04:56 – Mon 2 Mar, 07:56');
});

test('the activity says who did what, an act a line, to admins', async () => {
  const { text } = await see('ada', '/repos/acme');
  const activity = part(text, 'activity');
  expect(activity).toMatch(/ada approved the exemption for #1/);
  expect(activity).toMatch(/created a plan: Nights/);
  expect(activity.match(/Nobody is here|Nights/g)).toHaveLength(1);
  for (const login of ['bob', 'mallory'])
    expect((await see(login, '/repos/acme')).text).not.toContain('id="activity"');
});

test('a repository lists its open pull requests with their state, and the way to exempt those that are blocked', async () => {
  await acme.freeze('acme/api', { reason: 'Incident', matching_conditions: ['title=Other'] });
  expect(part((await see('bob', '/repos/acme/api')).text, 'pull-requests')).toMatch(
    /#2 Other ada · Incident Blocked Exempt… #1 Totals bob Free/,
  );
  expect(part((await see('bob', '/repos/acme/web')).text, 'pull-requests')).toMatch(
    /#1 Refunds bob Exempt #2 Docs ada Free/,
  );
  expect(part((await see('mallory', '/repos/acme/api')).text, 'pull-requests')).not.toContain('Exempt…');
});

test('a plan is one row of the schedule, with its rhythm and its next time', async () => {
  const { text } = await see('ada', '/repos/acme/api');
  const rows = text.slice(text.indexOf('id="freezes"')).match(/<tr id="freeze-[^]*?<\/tr>/g)!;
  const said = rows.map((row) => words({ text: row }));
  expect(said).toHaveLength(2);
  expect(said.find((row) => row.includes('Nobody'))).toMatch(
    /Nobody is here Scheduled from Mon 2 Mar, 04:56 UTC until .* Every day, 04:56 to 07:56, next Tue 3 Mar, 04:56 UTC/,
  );
  expect(plan).toBeTruthy();
});

test('a plan of each month is no rhythm of 30 days', async () => {
  const monthly = {
    ...{ name: 'Books', reason: 'Month end', repositories: { include: ['api'] }, timezone: 'UTC' },
    ...{ start: '2026-03-03T09:00:00', end: '2026-03-03T18:00:00', recurrence: { rule: 'FREQ=MONTHLY' } },
  };
  const made = await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body: monthly });
  expect(made.status).toBe(201);
  await acme.quiet();
  const { said } = await see('ada', '/repos/acme/api');
  expect(said).toMatch(
    /Month end Scheduled from Tue 3 Mar, 09:00 UTC until Tue 3 Mar, 18:00 UTC next Fri 3 Apr, 09:00 UTC/,
  );
});

test('freezes that one press ended have no name together in the activity', async () => {
  const ids = await Promise.all(
    ['Audit', 'Move'].map((reason, at) => acme.freeze(['acme/web', 'acme/api'][at]!, { reason })),
  );
  const page = await see('ada', '/owners/acme/unfreeze');
  const ongoing = ids.map(({ id }) => new RegExp(`value="(freezes [^"]*${id}[^"]*)"`).exec(page.text)![1]!);
  await visitors['ada']!.send('/owners/acme/unfreeze', { ongoing, delete_reason: 'Over' });
  await acme.quiet();
  const activity = part((await see('ada', '/repos/acme')).text, 'activity');
  expect(activity).toMatch(
    /ada deleted 2 freezes Sun 1 Mar, \d\d:\d\d UTC ada|ada deleted 2 freezes Sun 1 Mar/,
  );
  expect(activity).not.toMatch(/deleted 2 freezes:/);
});

test('what is not enforced has one button that leads to the right page of GitHub, and the call is folded', async () => {
  await acme.repository('bare', [{}], { protect: {} });
  await acme.freeze('acme/bare');
  const { text } = await see('ada', '/repos/acme/bare');
  const enforcement = text.slice(text.indexOf('id="enforcement"'));
  expect(enforcement).toMatch(
    /<a class="button" href="[^"]*\/acme\/bare\/settings\/rules\/new\?target=branch" rel="noreferrer">Fix it on GitHub<\/a>/,
  );
  expect(enforcement).toMatch(/<details>\s*<summary>With the API<\/summary>\s*<pre><code>curl/);
});

test('the page of a pull request tells what happened in its order, the verdict and the way through first', async () => {
  const { text, said } = await see('bob', '/repos/acme/web/pulls/1');
  expect(text.indexOf('aria-label="Verdict"')).toBeLessThan(text.indexOf('id="timeline"'));
  expect(part(text, 'timeline')).toMatch(
    /Opened by bob .*Blocked: Frozen until .*bob requested an exemption: Customers wait for their money ?\. .*ada approved it .*Let go: Exempt/,
  );
  expect(said).toMatch(/#1 on GitHub By bob \+12 .*into main Refunds Exempt until/);
  // Who asked is not for everybody.
  expect(part((await see('mallory', '/repos/acme/web/pulls/1')).text, 'timeline')).toMatch(/Blocked.*Let go/);
  expect((await see('mallory', '/repos/acme/web/pulls/1')).said).not.toContain('bob requested an exemption');
});

test('what GitHub would merge is not blocked, also among the pull requests of the reader', async () => {
  const roles = { bob: 'write' } as const;
  const worlds = { loose: { protect: {} }, secret: { protect: {}, private: true }, kept: {} };
  for (const [name, more] of Object.entries(worlds)) {
    await acme.repository(name, [{ author: 'bob' }], { roles, ...more });
    await acme.freeze(`acme/${name}`, { reason: `Closed ${name}` });
  }
  for (const path of ['/', '/repos/acme']) {
    // GitHub is asked behind the page, which does not wait for it.
    const count = async () => part((await see('bob', path)).text, 'yours').match(/Not blocked/g)?.length;
    await expect.poll(count).toBe(2);
    const yours = part((await see('bob', path)).text, 'yours');
    for (const [name, word] of [
      ['loose', 'Not blocked'],
      ['secret', 'Not blocked'],
      ['kept', 'Blocked'],
    ])
      expect(yours).toMatch(new RegExp(`${name} #1[^#]* Closed ${name} until removed ${word}`));
    // What is not blocked needs no exemption.
    expect(yours).not.toMatch(/Not blocked Request exemption/);
    expect(yours).toMatch(/kept #1[^#]* Blocked Request exemption/);
  }
});

test('a plan and a freeze say until when they are on before what one can do', async () => {
  const body = { name: 'Audit', reason: 'Audit', repositories: { include: ['api'] }, timezone: 'UTC' };
  const until = { start: null, end: '2026-03-03T18:00:00' };
  const made = await acme.call('POST', '/v1/freeze_plans/acme', {
    as: acme.admin,
    body: { ...body, ...until },
  });
  const listed = await acme.call('GET', '/v1/repos/acme/api/scheduled_freeze', { as: acme.admin });
  const { id } = listed.body.scheduled_freezes.find((each: { reason: string }) => each.reason === 'Audit');
  for (const path of [`/owners/acme/plans/${made.body.id}`, `/repos/acme/api/freezes/${id}`]) {
    const { text } = await see('ada', path);
    const line = /<div class="state-line held">[^]*?<\/div>/.exec(text)!;
    expect(words({ text: line[0] })).toContain('Ongoing until Tue 3 Mar, 18:00 UTC');
    expect(text.indexOf('End now…')).toBeGreaterThan(line.index);
  }
});

test('while nothing is frozen, nothing can be unfrozen', async () => {
  acme.github.addOrganization('calm', { admins: ['ada'] });
  acme.github.addRepository('calm/web');
  acme.github.install('calm');
  await acme.quiet();
  const ada = new Visitor(acme);
  await ada.signIn('ada');
  const said = words(await ada.open('/repos/calm'));
  expect(said).toMatch(/Nothing is frozen in calm Freeze now New plan/);
  expect((await see('ada', '/repos/acme')).said).toMatch(/Freeze now Unfreeze New plan/);
});
