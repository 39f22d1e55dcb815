import { beforeEach, expect, test } from 'vitest';
import { free, heldUntilRemoved, acmeForAll } from './support/acme.ts';
import { type Seen, Visitor, words } from './support/visitor.ts';

// The page behind the link of a status says what holds a pull request, why, until when, and what would let it go.

const acme = acmeForAll();
let visitor: Visitor;
beforeEach(() => {
  visitor = new Visitor(acme);
});

const page = (repository: string, number: number): Promise<Seen> =>
  visitor.open(`/repos/${repository}/pulls/${number}`);

test('held: by which freeze, until when, on which values, and what would free it', async () => {
  const repository = await acme.repository('held', [
    { title: 'New checkout', labels: ['risky'], files: ['src/cart.ts'] },
  ]);
  const { id } = await acme.freeze(repository, {
    reason: 'Quarter end',
    end: '2026-04-01T09:00:00',
    timezone: 'Europe/Paris',
    matching_conditions: ['base=main', { or: ['label=risky', 'files~=^db/'] }],
    exclude_conditions: ['label=hotfix', '-label=wip'],
  });
  const seen = await page(repository, 1);
  expect(seen.status).toBe(200);
  const text = words(seen);
  expect(text).toContain(
    'New checkout Blocked A freeze blocks this pull request until Wed 1 Apr, 07:00 UTC (09:00 Paris) . Why Quarter end How to get through',
  );
  expect(text).toContain(
    'Quarter end Since Sun 1 Mar, 09:00 UTC (10:00 Paris) , until Wed 1 Apr, 07:00 UTC (09:00 Paris)',
  );
  expect(seen.text).toContain(
    '<time datetime="2026-04-01T07:00:00.000Z" title="2026-04-01 07:00 UTC, 2026-04-01 09:00 Europe/Paris">',
  );
  expect(text).toContain('base=main main yes');
  expect(text).toContain('label=risky risky yes');
  expect(text).toContain('files~=^db/ src/cart.ts no');
  expect(text).toContain('label=hotfix risky no');
  expect(text).toContain('Add the label hotfix to this pull request.');
  expect(text).toContain('Remove the label risky from this pull request.');
  expect(text).toContain('Wait. The freeze ends by itself on Wed 1 Apr, 07:00 UTC (09:00 Paris) .');
  expect(text).not.toContain('the label wip');
  expect(text).toContain(
    `curl -X POST https://holdfast.example/v1/repos/acme/held/scheduled_freeze/${id}/delete`,
  );
});

test('what the page says would free it does', async () => {
  const repository = await acme.repository('let-go', [{ labels: ['risky'] }, { labels: ['risky'] }]);
  const { id } = await acme.freeze(repository, {
    matching_conditions: ['label=risky'],
    exclude_conditions: ['label=hotfix'],
  });
  acme.github.label(repository, 1, 'hotfix');
  acme.github.unlabel(repository, 2, 'risky');
  await acme.quiet();
  expect([acme.shown(repository, 1), acme.shown(repository, 2)]).toEqual([free, free]);
  expect(words(await page(repository, 1))).toContain('Free No freeze holds this pull request.');
  expect(words(await page(repository, 1))).toContain('It excludes this pull request.');
  expect(words(await page(repository, 2))).toContain('This pull request does not match its conditions.');
  acme.github.unlabel(repository, 1, 'hotfix');
  await acme.quiet();
  const command = /curl[^]*?-d '[^']+'/.exec(decode((await page(repository, 1)).text))![0];
  const [, url, body] = /POST (\S+)[^]*-d '([^']+)'/.exec(command)!;
  const path = url!.replace('https://holdfast.example', '');
  expect(path).toContain(id);
  expect((await acme.call('POST', path, { as: acme.admin, body })).status).toBe(204);
  await acme.quiet();
  expect(words(await page(repository, 1))).toContain('Free');
});

const decode = (text: string) =>
  text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');

test('one label of two that an exclude needs is not called enough', async () => {
  const repository = await acme.repository('both', [{}]);
  await acme.freeze(repository, { exclude_conditions: ['label=hotfix', 'label=approved'] });
  expect(words(await page(repository, 1))).not.toContain('put on this pull request');
  acme.github.label(repository, 1, 'approved');
  await acme.quiet();
  expect(words(await page(repository, 1))).toContain('Add the label hotfix to this pull request.');
});

test('several freezes are each shown, and without end until removed', async () => {
  const repository = await acme.repository('several', [{}]);
  await acme.freeze(repository, { reason: 'One' });
  await acme.freeze(repository, { reason: 'Two', end: '2027-01-01T00:00:00' });
  const text = words(await page(repository, 1));
  expect(text).toContain('until Fri 1 Jan 2027, 00:00 UTC');
  expect(text).toMatch(/it takes one of these for each freeze: .*Two : Wait\. The freeze ends by itself on /);
  expect(text).toContain('Blocked 2 freezes block this pull request, one of them without an end .');
  expect(text).toMatch(/One Since .* until removed\./);
  expect(text).toContain('It applies to all pull requests.');
});

test('without a label that would do, the page says which conditions would', async () => {
  const repository = await acme.repository('conditions', [{}]);
  await acme.freeze(repository, { matching_conditions: ['base=main'], exclude_conditions: ['author=bob'] });
  const text = words(await page(repository, 1));
  expect(text).toContain('Change it so that it matches what the freeze excludes: author=bob .');
  expect(text).toContain('Change it so that it no longer matches what the freeze holds: base=main .');
});

test('or, and, not read like a sentence, and many conditions fold', async () => {
  const repository = await acme.repository('sentences', [{ labels: ['l42'] }]);
  const labels = Array.from({ length: 300 }, (_, index) => `label=l${index}`);
  await acme.freeze(repository, {
    matching_conditions: ['base=main', { or: labels }, { not: { and: ['draft', 'label=wip'] } }],
  });
  const { text } = await page(repository, 1);
  expect(words({ text } as Seen)).toContain(
    'It applies to pull requests that match base=main and ( label=l0 or label=l1 or label=l2 or label=l3 or label=l4 or label=l5 or label=l6 … (295 more).',
  );
  const [open, folded] = [text.indexOf('What it applies to'), text.indexOf('291 more conditions')];
  expect(open).toBeGreaterThan(0);
  expect(folded).toBeGreaterThan(open);
  // Deciding conditions are not folded.
  for (const decisive of ['base=main', 'label=l42']) {
    const at = text.indexOf(`>${decisive}</code>`, open);
    expect([at > open, at < folded]).toEqual([true, true]);
  }
  expect(text.length).toBeLessThan(150_000);
});

test('of many freezes, those after the third fold', async () => {
  const repository = await acme.repository('crowded', [{}]);
  for (let count = 1; count <= 5; count++) await acme.freeze(repository, { reason: `Freeze ${count}` });
  const { text } = await page(repository, 1);
  expect(words({ text } as Seen)).toContain('5 freezes block this pull request, 5 of them without an end');
  expect(text.match(/<section class="card">/g)).toHaveLength(3);
  expect(text.match(/<details class="card fold">/g)).toHaveLength(2);
});

test('held for another pull request with the same head', async () => {
  const repository = await acme.repository('shared', [{ head: 'fix' }]);
  const { headSha } = acme.github.pullRequests(repository)[0]!;
  acme.github.openPullRequest(repository, { author: 'ada', head: 'fix', headSha, base: 'release' });
  await acme.quiet();
  const release = { reason: 'Release branch', matching_conditions: ['base=release'] };
  const { id } = await acme.freeze(repository, release);
  const said = 'Blocked Another pull request with the same commit is blocked, so this one is blocked too';
  const text = words(await page(repository, 1));
  expect(text).toContain(`${said} until removed .`);
  await acme.update(repository, id, { end: '2026-04-02T12:00:00' });
  expect(words(await page(repository, 1))).toContain(`${said} until Thu 2 Apr, 12:00 UTC .`);
  expect(text).toContain('#2 is frozen by Release branch .');
  // The way out that the page offers leads out, also where a stranger opened the other one to hold this one up.
  expect(text).toContain('Or close #2 on GitHub');
  acme.github.closePullRequest(repository, 2);
  await acme.quiet();
  expect(acme.shown(repository, 1)?.state).toBe('success');
  expect(words(await page(repository, 1))).not.toContain('on GitHub: only open pull requests');
});

test('closed ones are called closed', async () => {
  const repository = await acme.repository('closed', [{}]);
  await acme.freeze(repository);
  acme.github.closePullRequest(repository, 1);
  await acme.quiet();
  const text = words(await page(repository, 1));
  expect(text).toContain('Closed Freezes block open pull requests only.');
  expect(text).not.toContain('What blocks it');
});

test('the statuses that we wrote are listed, the newest first and at most 20, and go with their head', async () => {
  const repository = await acme.repository('history', [{}]);
  const { id } = await acme.freeze(repository, { reason: 'Text 0' });
  for (let change = 1; change <= 21; change++)
    await acme.update(repository, id, { reason: `Text ${change}` });
  const text = words(await page(repository, 1));
  const listed = [
    ...text.matchAll(/\w{3} \d+ Mar, \d\d:\d\d UTC (?:\([^)]*\) )?pending Frozen until removed: (Text \d+)/g),
  ];
  expect(listed.map(([, reason]) => reason)).toEqual(
    Array.from({ length: 20 }, (_, index) => `Text ${21 - index}`),
  );
  const { headSha } = acme.github.pullRequests(repository)[0]!;
  const rows = () => acme.app.deps.db.writtenStatus.count({ where: { sha: headSha } });
  expect(await rows()).toBe(20);
  acme.github.push(repository, 1);
  await acme.quiet();
  await acme.advanceTo(new Date(acme.clock.now() + 3 * 3_600_000));
  expect(await rows()).toBe(0);
});

test('held because its conditions cannot be judged: which one, and why', async () => {
  const repository = await acme.repository('unjudged', [{ labels: ['x'] }]);
  const fault = acme.github.faults.add({
    kind: 'partial',
    field: 'labels',
    pullRequests: [`${repository}#1`],
  });
  try {
    await acme.freeze(repository, { matching_conditions: ['label=y'] });
    const text = words(await page(repository, 1));
    expect(text).toContain('Blocked A freeze blocks this pull request until removed .');
    expect(text).toContain(
      'Holdfast could not evaluate all of its conditions. The freeze holds until it can',
    );
    expect(text).toMatch(/label=y GitHub did not give its labels.* could not be judged/);
  } finally {
    fault.remove();
  }
});

test('a condition behind a not is shown as matching if it matches with its not', async () => {
  const repository = await acme.repository('turned', [{ labels: ['x'] }]);
  await acme.freeze(repository, {
    matching_conditions: [{ not: 'label=y' }, { not: { not: 'label=x' } }],
    exclude_conditions: [{ not: { or: ['label=x', 'label=y'] } }],
  });
  const text = words(await page(repository, 1));
  expect(text).toContain('not label=y x yes');
  expect(text).toContain(' label=x x yes');
  expect(text).toContain('not label=x x no');
  expect(text).toContain('not label=y x yes');
});

test('a pull request from a fork has its page', async () => {
  acme.github.addUser('forker');
  const repository = await acme.repository('forked', [{ title: 'From afar', author: 'forker', fork: true }]);
  await acme.freeze(repository);
  expect(words(await page(repository, 1))).toContain('From afar Blocked');
});

test('while the installation is suspended, too', async () => {
  const repository = await acme.repository('site', [{}]);
  await acme.freeze(repository);
  acme.github.suspend('acme');
  await acme.quiet();
  const seen = await page(repository, 1);
  acme.github.unsuspend('acme');
  await acme.quiet();
  expect([seen.status, words(seen)]).toEqual([200, expect.stringContaining('Blocked')]);
});

const hostile = `<script>alert(1)</script>"'&<img src=x onerror=alert(1)>`;

test('everything that people write is shown as text', async () => {
  const repository = await acme.repository('hostile', [
    { title: `Title ${hostile}`, labels: [`l ${hostile}`], head: 'b<b>"&' },
  ]);
  await acme.freeze(repository, {
    reason: `Reason ${hostile}`,
    matching_conditions: [`title!=${hostile}`, 'head!=x<script>'],
    exclude_conditions: [`label=x ${hostile}`],
  });
  const seen = await page(repository, 1);
  expect(seen.status).toBe(200);
  expect(seen.text).not.toMatch(/<script>|<img|<b>/);
  for (const what of ['Title', 'Reason', 'l', 'x'])
    expect(decode(seen.text).replaceAll('&lt;', '<').replaceAll('&gt;', '>')).toContain(`${what} ${hostile}`);
  expect(seen.headers.get('content-security-policy')).toContain("default-src 'none'");
});

test('a repository of another name in capitals is the same', async () => {
  const repository = await acme.repository('Capitals', [{ title: 'Same' }]);
  expect((await page(repository.toUpperCase(), 1)).text).toContain('Same');
});

test('the page says if a status is on its way', async () => {
  const repository = await acme.repository('behind', [{}]);
  const fault = acme.github.faults.add({
    match: { method: 'POST', path: /statuses/ },
    kind: 'status',
    status: 502,
  });
  await acme.freeze(repository);
  expect(words(await page(repository, 1))).toContain(
    'GitHub still shows success . Holdfast is about to write pending .',
  );
  fault.remove();
  await acme.advanceTo(new Date(acme.clock.now() + 10_000));
  expect(acme.shown(repository, 1)).toEqual(heldUntilRemoved);
  expect(words(await page(repository, 1))).not.toContain('about to write');
});

test('a long reason is folded, and the page says that all of several freezes must end', async () => {
  const repository = await acme.repository('long', [{}]);
  const reason = `Long ${'words '.repeat(1650)}end`;
  await acme.freeze(repository, { reason });
  expect(words(await page(repository, 1))).not.toContain('none of these freezes blocks it');
  await acme.freeze(repository, { reason: 'Short' });
  const seen = await page(repository, 1);
  const [, heading] = /<h3[^>]*>(Long[^<]*)</.exec(seen.text)!;
  expect(heading!.length).toBeLessThan(300);
  expect(seen.text).toContain(reason);
  expect(words(seen)).toContain('The pull request can merge when none of these freezes blocks it.');
});

test('it leads to the page of all freezes of the repository', async () => {
  const repository = await acme.repository('linked', [{}]);
  expect((await page(repository, 1)).text).toContain('<a href="/repos/acme/linked">');
});

test('the link with a former name leads people who can read the repository to its current page', async () => {
  const repository = await acme.repository('before', [{}], { private: true, roles: { bob: 'read' } });
  acme.github.renameRepository(repository, 'after');
  await acme.quiet();
  await visitor.signIn('bob');
  const old = await visitor.open('/repos/acme/before/pulls/1?x=y');
  expect([old.status, old.location]).toEqual([302, '/repos/acme/after/pulls/1?x=y']);
  expect((await visitor.open(old.location)).status).toBe(200);
  acme.github.addUser('eve');
  const stranger = new Visitor(acme);
  await stranger.signIn('eve');
  expect((await stranger.open('/repos/acme/before/pulls/1')).status).toBe(404);
});

test('if freezes are switched off, the page says so', async () => {
  const repository = await acme.repository('switched-off', [{}]);
  await acme.freeze(repository);
  expect(words(await page(repository, 1))).not.toContain('switched off');
  await acme.setProducts(repository, []);
  expect(words(await page(repository, 1))).toContain(
    'Free No freeze holds this pull request. Freezes are switched off for acme/switched-off',
  );
});

test('a freeze that began while GitHub was away: nothing says that it is free', async () => {
  const repository = await acme.repository('not-judged', [{}]);
  await acme.advanceTo(new Date(acme.clock.now() + 1000));
  acme.github.goDown();
  const body = { reason: 'Release', start: null, timezone: 'UTC' };
  const freezes = `/v1/repos/${repository}/scheduled_freeze`;
  const made = await acme.call('POST', freezes, { as: acme.admin, body });
  expect(made.status).toBe(201);
  const seen = words(await page(repository, 1));
  expect(seen).toContain('Not judged yet A freeze began after Holdfast last checked this pull request.');
  expect(seen).not.toContain('Free No freeze holds');
  const notYet = 'Not judged yet: Holdfast has not checked the open pull requests since it began.';
  for (const path of [`/repos/${repository}`, `/repos/${repository}/freezes/${made.body.id}`])
    expect(words(await visitor.open(path)), path).toContain(notYet);
  const counts = async (path: string) =>
    (await acme.call('GET', path, { as: acme.admin })).body.pull_requests;
  const paths = [`/v1/repos/${repository}/enforcement`, `${freezes}/${made.body.id}/enforcement`];
  for (const path of paths)
    expect(await counts(path), path).toEqual({ to_hold: null, to_refuse: null, held: 0 });

  acme.github.comeBack();
  await acme.advanceTo(new Date(acme.clock.now() + 60_000));
  expect(acme.shown(repository, 1)).toEqual(heldUntilRemoved);
  for (const path of paths) expect(await counts(path), path).toEqual({ to_hold: 1, to_refuse: 1, held: 1 });
  expect(words(await visitor.open(`/repos/${repository}`))).not.toContain('Not judged yet');
});
