import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dayAndTime } from '../../src/time/local-time.ts';
import { acmeForAll } from '../support/acme.ts';
import { Visitor } from '../support/visitor.ts';

const acme = acmeForAll();
let ada: Visitor;
let web: string;
let number = 0;

async function read(query = '', repository = web) {
  const { status, headers, text } = await ada.open(`/repos/${repository}${query}`);
  return { status, headers, html: text };
}

/** The text of the element with an id, without markup, in one line. */
function textOf(html: string, id: string): string {
  const start = html.indexOf(`id="${id}"`);
  if (start < 0) throw new Error(`The page has no #${id}`);
  const tag = /<(\w+)[^<]*$/.exec(html.slice(0, start))![1]!;
  const end = html.indexOf(`</${tag}>`, start);
  return html
    .slice(html.indexOf('>', start) + 1, end)
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
const row = (html: string, { id }: { id: string }) => textOf(html, `freeze-${id}`);
const hrefOf = (html: string, name: string) =>
  new RegExp(`<a\\s+href="([^"]*)"[^>]*>\\s*${name}\\s*</a`).exec(html)?.[1]?.replaceAll('&amp;', '&');
const noticeOf = (html: string) => /class="notice" role="status">([^<]*)</.exec(html)?.[1];

/** With a separate session, because the stories move the clock by weeks. */
async function anotherRepository(): Promise<void> {
  ada = new Visitor(acme);
  await ada.signIn('ada');
  web = await acme.repository(`web-${number++}`, [{ labels: ['risky'] }, {}]);
}
const idOf = async () =>
  (await acme.app.deps.db.repository.findFirstOrThrow({ where: { nameKey: web.split('/')[1]! } })).id;

describe('the list', () => {
  beforeEach(anotherRepository);

  test('has a row for each freeze: why, until when, what, and how many it holds', async () => {
    const freeze = await acme.freeze(web, {
      reason: 'Release 4.2',
      end: '2026-03-02T12:00:00',
      timezone: 'Europe/Paris',
      matching_conditions: ['label=risky', { or: ['base=main', { not: 'author=bob' }] }],
      exclude_conditions: ['label=hotfix'],
    });
    const other = await acme.freeze(web, { reason: 'The others', matching_conditions: ['-label=risky'] });
    const { html } = await read('?zone=Asia/Tokyo');
    const text = row(html, freeze);
    expect(text).toMatch(/^Release 4\.2 /);
    expect(text).toContain('Ongoing until Mon 2 Mar, 20:00 (12:00 Paris)');
    expect(text).toContain('Pull requests that match label=risky and ( base=main or not author=bob )');
    expect(text).toContain('Except pull requests that match label=hotfix');
    expect(text).toMatch(/1 pull request is blocked\.$/);
    expect(row(html, other)).toContain('Ongoing until removed 1 pull request is blocked.');
    // The rest is on the page of the freeze.
    const its = (await ada.open(`/repos/${web}/freezes/${freeze.id}`)).text;
    expect(its).toContain('<dt>Created by</dt>');
    expect(its).toMatch(new RegExp(`href="/repos/${web}/pulls/1"\\s*>#1 <span dir="auto">`));
    expect(html).toMatch(/<bdi>acme\/web-\d+<\/bdi> is frozen without an end/);
    expect(html).toContain('2 pull requests are blocked.');
  });

  test('says if a status is not written yet', async () => {
    const freeze = await acme.freeze(web);
    await acme.app.deps.db.headStatus.updateMany({
      where: { repositoryId: await idOf() },
      data: { isWaiting: true, writtenState: 'success' },
    });
    expect(row((await read()).html, freeze)).toContain(
      '0 pull requests are blocked. 2 more should be blocked: 2 are waiting for their statuses',
    );
  });

  test('keeps those that ended and those that were deleted, with who and why, in pages', async () => {
    const repositoryId = await idOf();
    const ended = Array.from({ length: 22 }, (_, index) => ({
      id: crypto.randomUUID(),
      repositoryId,
      reason: `No. ${index}`,
      start: `2026-02-0${1 + (index % 3)}T00:00:00`,
      end: '2026-02-10T00:00:00',
      timezone: 'UTC',
      startsAt: new Date(`2026-02-0${1 + (index % 3)}T00:00:00Z`),
      endsAt: new Date(`2026-02-10T00:00:00Z`),
      matchingConditions: [],
      excludeConditions: [],
      createdAt: new Date(acme.clock.now()),
      createdBy: { type: 'user', id: 1, name: 'ada' },
      updatedAt: new Date(acme.clock.now()),
      updatedBy: {},
    }));
    await acme.app.deps.db.freeze.createMany({ data: ended });
    const mistake = await acme.freeze(web, { reason: 'Made by mistake', end: '2026-12-01T00:00:00' });
    await acme.remove(web, mistake.id);
    const kept = await acme.freeze(web, { reason: 'Still there' });
    const { html } = await read();
    expect(textOf(html, 'freezes')).toContain('Still there');
    const first = await read();
    const idsOf = (page: string) =>
      [...page.slice(page.indexOf('id="past-freezes"')).matchAll(/id="freeze-([^"]*)"/g)].map(
        ([, id]) => id!,
      );
    expect(idsOf(first.html)).toHaveLength(20);
    expect(hrefOf(first.html, 'Newer freezes')).toBeUndefined();
    const second = await read(hrefOf(first.html, 'Older freezes')!.replace(/#.*/, ''));
    expect(idsOf(second.html)).toHaveLength(3);
    expect(hrefOf(second.html, 'Older freezes')).toBeUndefined();
    expect(new Set([...idsOf(first.html), ...idsOf(second.html)])).toEqual(
      new Set([mistake, ...ended].map(({ id }) => id)),
    );
    const back = await read(hrefOf(second.html, 'Newer freezes')!.replace(/#.*/, ''));
    expect(idsOf(back.html)).toEqual(idsOf(first.html));
    expect(idsOf(first.html)[0]).toBe(mistake.id);
    expect(row(first.html, mistake)).toMatch(
      /^Made by mistake Deleted Deleted by the application key admin key, Sun 1 Mar, 09:00 UTC : Done$/,
    );
    expect(idsOf((await read(`?past=${kept.id}`)).html)).toEqual(idsOf(first.html));
  });
});

describe('the first lines', () => {
  beforeEach(anotherRepository);

  /** Those before the freezes, in one line. */
  const first = (html: string) =>
    html
      .slice(html.indexOf('<h1'), html.indexOf('<form class="choice"'))
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ');

  test('say what is frozen, until when, whether that is real, and what comes next', async () => {
    await acme.freeze(web, { reason: 'One', end: '2027-03-02T12:00:00', timezone: 'Europe/Paris' });
    await acme.freeze(web, { reason: 'Two', start: '2027-03-02T11:00:00', end: '2027-03-03T00:00:00' });
    await acme.freeze(web, { reason: 'Three', start: '2027-04-01T00:00:00' });
    expect(first((await read()).html)).toMatch(
      // The second one begins when the first one ends.
      /acme\/web-\d+ is frozen until Wed 3 Mar 2027, 00:00 UTC \(01:00 Paris\) .* 2 pull requests are blocked\. Enforced: GitHub refuses to merge what is frozen Next: Two , from Tue 2 Mar 2027, 11:00 UTC/,
    );
    const endless = await acme.freeze(web, { reason: 'No end' });
    expect(first((await read()).html)).toContain('is frozen without an end');
    await acme.remove(web, endless.id);
  });

  test('say in red if nothing enforces it', async () => {
    const bare = await acme.repository(`bare-${number++}`, [{}], { protect: {} });
    await acme.freeze(bare);
    const { html } = await read('', bare);
    expect(html).toContain('<a class="badge leaking" href="#enforcement">Not enforced</a>');
  });

  test('say what to do first, if there never was a freeze', async () => {
    const { html } = await read();
    expect(first(html)).toMatch(/acme\/web-\d+ is free .*No freezes are ongoing\./);
    expect(first(html)).toContain('This repository has no freezes yet');
    expect(first(html)).toContain('Check whether freezes are enforced');
    const freeze = await acme.freeze(web);
    await acme.remove(web, freeze.id);
    expect(first((await read()).html)).not.toContain('This repository has no freezes yet');
  });
});

test('titles follow the pull requests', async () => {
  await anotherRepository();
  const freeze = await acme.freeze(web);
  acme.github.editTitle(web, 1, 'Another title');
  await acme.quiet();
  expect((await read('', `${web}/freezes/${freeze.id}`)).html).toMatch(/#1 <span dir="auto">Another title/);
});

test('freezes that are over are folded, until you ask for them', async () => {
  await anotherRepository();
  const freeze = await acme.freeze(web, { reason: 'Gone' });
  await acme.remove(web, freeze.id);
  expect((await read()).html).toMatch(/<details class="fold" id="past-freezes"\s*>/);
  expect((await read(`?past=${freeze.id}`)).html).toMatch(/<details class="fold" id="past-freezes"\s+open>/);
});

test('what is long is folded, until you ask for a part of it', async () => {
  await anotherRepository();
  await acme.freeze(web);
  expect((await read()).html).toMatch(/<section id="log"[^>]*>\s*<details class="fold">/);

  const bare = await acme.repository(`bare-${number++}`, [{}], { protect: {} });
  for (let count = 0; count < 5; count++) {
    acme.github.pushToBranch(bare, `release-${count}`);
    await acme.freeze(bare, { reason: `Release ${count}`, matching_conditions: [`base=release-${count}`] });
  }
  const { html } = await read('', bare);
  const problems = html.slice(html.indexOf('id="enforcement"'));
  expect(problems).toMatch(/<summary>\d more problems?<\/summary>/);
  expect(problems.slice(0, problems.indexOf('more problem')).match(/<strong>Failed:/g)).toHaveLength(3);
  expect(row(html, { id: /id="freeze-([^"]*)"/.exec(html)![1]! })).toContain('Ongoing Not enforced');
});

test('those who may freeze have the buttons at the top', async () => {
  await anotherRepository();
  const top = (html: string) => html.slice(html.indexOf('<h1'), html.indexOf('class="counts"'));
  const unfreeze = `href="/owners/acme/unfreeze?repository=${web.split('/')[1]}"`;
  expect(top((await read()).html)).not.toContain(unfreeze);
  await acme.freeze(web);
  expect(top((await read()).html)).toContain(unfreeze);
  const strangers = (await new Visitor(acme).open(`/repos/${web}`)).text;
  expect(top(strangers)).not.toMatch(/Freeze now|Unfreeze/);
});

test('one zone applies to every time of the page', async () => {
  await anotherRepository();
  await acme.freeze(web, { end: '2027-03-02T12:00:00', timezone: 'Europe/Paris' });
  const { html } = await read('?zone=Asia/Tokyo');
  expect(html.match(/Time zone<\/span> <strong>Tokyo</g)).toHaveLength(1);
  const times = [...html.matchAll(/<time datetime="([^"]*)" title="([^"]*)">([^<]*)<\/time/g)];
  expect(times.length).toBeGreaterThan(2);
  for (const [, exact, title, text] of times) {
    if (!exact!.endsWith('Z')) continue;
    expect(title).toContain('Asia/Tokyo');
    expect(text).toBe(dayAndTime(new Date(exact!), 'Asia/Tokyo', new Date(acme.clock.now())));
  }
});

test('texts from right to left keep their direction, and do not change the rest', async () => {
  await anotherRepository();
  const arabic = 'تجميد نهاية السنة (2026)';
  const { id } = await acme.freeze(web, { reason: arabic, end: '2027-03-02T12:00:00' });
  const { html } = await read();
  expect(html).toMatch(new RegExp(`<a\\s+href="/repos/${web}/freezes/${id}"\\s+dir="auto"\\s*>\\s*تجميد`));
});

test('the calendar shows the freezes of the repository alone, also those that are over', async () => {
  await anotherRepository();
  const gone = await acme.freeze(web, { reason: 'Ended before its time' });
  await acme.advanceTo(new Date(acme.clock.now() + 86_400_000));
  await acme.remove(web, gone.id);
  const [, link = ''] = /href="([^"]*)">Calendar</.exec((await read()).html)!;
  expect(link).toBe(`/owners/acme/calendar?repository=${web.split('/')[1]}`);
  const { status, text } = await ada.open(link);
  expect(status).toBe(200);
  expect(text).toMatch(/<bdi>Ended before its time<\/bdi>/);
});

describe('the latest events', () => {
  beforeEach(anotherRepository);

  test('are told in words, with the former values', async () => {
    const freeze = await acme.freeze(web, { reason: 'Before', timezone: 'Europe/Paris' });
    await acme.update(web, freeze.id, { reason: 'After', matching_conditions: [{ not: 'draft' }] });
    await acme.remove(web, freeze.id);
    const log = textOf((await read()).html, 'log');
    expect(log).toContain('the application key admin key of test changed a freeze: After');
    expect(log).toContain('Reason: before: Before → now: After');
    expect(log).toContain('Matching: before: all pull requests → now: not draft');
    expect(log).toMatch(/deleted a freeze: After Deletion reason: Done/);
    expect(log.indexOf('deleted a freeze')).toBeLessThan(log.indexOf('created a freeze'));
  });

  test('an event of an unknown type is still shown', async () => {
    const { id, accountId } = await acme.app.deps.db.repository.findFirstOrThrow({
      where: { nameKey: web.split('/')[1]! },
    });
    await acme.app.deps.db.auditEvent.create({
      data: {
        receivedAt: new Date(acme.clock.now()),
        accountId,
        repositoryId: id,
        type: 'moon.full',
        outcome: 'neutral',
        trigger: 'api',
        metadata: { phase: '<b>' },
      },
    });
    expect(textOf((await read()).html, 'log')).toContain(
      'Somebody moon.full Details: {&quot;phase&quot;:&quot;&lt;b&gt;&quot;}',
    );
  });
});

describe('bad input', () => {
  beforeAll(anotherRepository);

  const hostile = `<img src=x onerror="alert(1)"></title></svg><script>alert('2')</script>&"'`;
  const quoted = hostile.replaceAll('"', '').replaceAll("'", '');

  test('HTML in what people wrote is text', async () => {
    const freeze = await acme.freeze(web, {
      reason: hostile,
      matching_conditions: [`label=${quoted}`, { not: `label=${quoted}` }],
      exclude_conditions: [{ and: [`label=${quoted}`] }],
    });
    const gone = await acme.freeze(web, { reason: `${hostile}${'x'.repeat(500)}` });
    await acme.call('POST', `/v1/repos/${web}/scheduled_freeze/${gone.id}/delete`, {
      as: acme.admin,
      body: { delete_reason: hostile },
    });
    const { html } = await read(`?zone=${encodeURIComponent(hostile)}`);
    expect(row(html, freeze)).toContain('&lt;script&gt;');
    expect(html).not.toMatch(/<img|<script>|alert\('2'\)/);
    expect(html.match(/<script/g)).toHaveLength(html.match(/<script type="module" src="\/assets\//g)!.length);
  });

  test.each([
    ['zone=Mars/Olympus', 'This is not a time zone.'],
    ['zone=%2B01:00', 'This is not a time zone.'],
    ['past=1', 'This page of past freezes does not exist'],
    ['past=00000000-0000-0000-0000-000000000000', 'This page of past freezes does not exist'],
  ])('%s gets a sentence and the page', async (query, sentence) => {
    const { status, html } = await read(`?${query}`);
    expect(status).toBe(200);
    expect(noticeOf(html)).toContain(sentence);
    expect(html).toContain('<h2 id="log-heading">');
  });

  test.each([
    '?zone=&past=',
    // Links to the timeline and the filter of events that the page had.
    '?log=xyz&event=freeze.bypassed',
    '?zoom=quarter&at=yesterday&zone=Africa/Monrovia',
    '?zone=utc&zone=x',
    '?zone=europe/paris',
    '?unknown=%ff',
  ])('%s is fine', async (query) => {
    const { status, html } = await read(query);
    expect(status).toBe(200);
    expect(noticeOf(html)).toBeUndefined();
  });

  test('an unknown owner or repository and an impossible path get the same 404', async () => {
    const answers = await Promise.all(
      ['acme/nothing', 'nobody/web', 'acme/%3Cscript%3E', `${'a'.repeat(50)}/web`, 'acme/..%2f'].map((path) =>
        read('', path),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    expect(new Set(answers.map(({ html }) => html)).size).toBe(1);
  });

  test('the page allows only our own style sheet and script', async () => {
    const { headers, html } = await read();
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(html).not.toMatch(/ style="| on\w+="/);
  });
});

test('no page lists repositories', async () => {
  expect(await (await fetch(acme.app.url)).text()).not.toContain('web-');
});
