// Somebody writes a command into a comment on a pull request: it is done as by the API, and answered once.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { exemptionsOf } from './support/exemptions.ts';
import { type Commenting, startCommenting } from './support/comments.ts';

let acme: Commenting;
let exemptions: ReturnType<typeof exemptionsOf>;
let web: string;
let count = 0;
beforeAll(async () => {
  acme = await startCommenting();
  exemptions = exemptionsOf(acme);
});
afterAll(() => acme.close());
beforeEach(async () => {
  // Nobody wrote anything within the hour.
  await acme.app.deps.db.commentAnswer.deleteMany();
  web = await acme.repository(`web-${++count}`, [{}, {}]);
});

const said = (command: string, by = 'ada', number = 1) => acme.say(web, number, by, `/holdfast ${command}`);
const freezes = async () => {
  const { body } = await acme.call('GET', `/v1/repos/${web}/scheduled_freeze`, { as: acme.admin });
  return body.scheduled_freezes as { id: string; reason: string; end: string; timezone: string }[];
};
/** The last event of a type. */
const lastEvent = async (type: string) => {
  const path = `/v1/repos/${web}/logs?received_from=2026-01-01T00:00:00Z&event_type=${type}`;
  return (await acme.call('GET', path, { as: acme.admin })).body.events[0].metadata;
};

describe('freeze', () => {
  test('holds the repository from now on, by the person, and says until when', async () => {
    expect(await said('freeze 2h INC-4711 is on')).toBe(
      [
        `**Frozen until 2026-03-01 11:00 UTC.** The check \`holdfast/freeze\` is pending on pull requests of \`${web}\` until then, unless they are exempt.`,
        `To end it earlier, write \`/holdfast unfreeze <reason>\`, or open [the freeze](https://holdfast.example/repos/${web}/freezes/${(await freezes())[0]!.id}).`,
      ].join('\n\n'),
    );
    expect(acme.frozen(web)).toEqual([1, 2]);
    expect(acme.shown(web, 2)?.description).toBe('Frozen until 2026-03-01 11:00 UTC: INC-4711 is on');
    expect(await lastEvent('scheduled_freeze.create')).toMatchObject({
      created_by: { type: 'user', name: 'ada' },
    });
  });

  test('reads times in the zone of the last freeze, or in the zone in the comment', async () => {
    const last = await acme.freeze(web, { timezone: 'Europe/Paris', end: '2026-03-01T12:00:00' });
    await acme.remove(web, last.id);
    expect(await said('freeze until 18:00 the books')).toContain(
      '**Frozen until 2026-03-01 18:00 Europe/Paris.**',
    );
    expect(await said('freeze until tomorrow 08:00 Asia/Tokyo the books')).toContain(
      '**Frozen until 2026-03-02 08:00 Asia/Tokyo.**',
    );
    expect((await freezes()).map(({ timezone }) => timezone).toSorted()).toEqual([
      'Asia/Tokyo',
      'Europe/Paris',
    ]);
  });

  test.each([
    ['until 08:00 x', '"08:00" is 2026-03-01 08:00 UTC, which is past: it is 2026-03-01 09:00 UTC now'],
    ['until friday x', '"friday" has no time'],
    ['until 18:00 CET x', '"CET" is not a single time zone'],
    ['INC-4711', '"INC-4711" is not a length of time'],
  ])('%s is refused with what was understood', async (words, why) => {
    const answer = await said(`freeze ${words}`);
    expect(answer).toMatch(/^\*\*Nothing was changed\.\*\* `/);
    expect(answer).toContain(why);
    expect(await freezes()).toEqual([]);
  });

  test('says if nothing enforces it', async () => {
    web = await acme.repository(`open-${count}`, [{}], { protect: {} });
    const answer = await said('freeze 1h x');
    expect(answer).toMatch(/- `.*holdfast\/freeze.*main|- `.*main.*holdfast\/freeze/);
    expect(answer).not.toContain('cannot merge');
  });

  test('is for admins, as is its end', async () => {
    for (const words of ['freeze 2h x', 'unfreeze x'])
      expect(await said(words, 'wes')).toBe(
        `**Nothing was changed.** \`wes is not an admin of ${web} on GitHub. Ask one.\``,
      );
    expect(await freezes()).toEqual([]);
  });

  test('also works on a closed pull request', async () => {
    acme.github.closePullRequest(web, 1);
    await said('freeze 2h x', 'rita');
    expect(acme.frozen(web)).toEqual([2]);
    expect(await said('unfreeze x', 'rita')).toContain('**Ended**');
    expect(acme.frozen(web)).toEqual([]);
  });
});

test('a freeze of deployments is made, told in one sentence, and ended', async () => {
  const answer = await said('freeze both to production,live-* 2h INC-9');
  expect(answer).toContain('**Frozen until 2026-03-01 11:00 UTC.**');
  expect(answer).toContain('Merges are blocked; deployments to `production` and `live-*` wait.');
  const [made] = await freezes();
  expect(made).toMatchObject({ holds: ['merges', 'deployments'], environments: ['production', 'live-*'] });
  expect(await said('status')).toContain(
    '- `INC-9`, until 2026-03-01 11:00 UTC (merges are blocked; deployments to `production` and `live-*` wait)',
  );
  await acme.remove(web, made!.id);
  expect(await said('freeze deployments 2h INC-9')).toMatch(
    /^\*\*Deployments are frozen until 2026-03-01 11:00 UTC\.\*\*\n\nDeployments wait; merges are not blocked\./,
  );
  expect(acme.frozen(web)).toEqual([]);
  expect(await said('unfreeze over')).toContain('(deployments wait; merges are not blocked)');
  expect(await freezes()).toEqual([]);
});

describe('unfreeze', () => {
  test('ends freezes that began when somebody made them, and says why in the log', async () => {
    await acme.freeze(web, { reason: 'By key' });
    await said('freeze 2h by comment', 'rita');
    const [head, blank, ...ended] = (await said('unfreeze it is over')).split('\n');
    expect([head, blank]).toEqual([`**Ended** in \`${web}\`:`, '']);
    expect(ended.toSorted()).toEqual([
      '- `By key`, until removed',
      '- `by comment`, until 2026-03-01 11:00 UTC',
    ]);
    expect(acme.frozen(web)).toEqual([]);
    expect(await lastEvent('scheduled_freeze.delete')).toMatchObject({
      deleted_by: { type: 'user', name: 'ada' },
      reason: 'it is over',
    });
    expect(await said('unfreeze again')).toBe(`No freezes are ongoing in \`${web}\`.`);
  });

  test('leaves freezes that somebody else scheduled, and ends one’s own', async () => {
    const plan = (as: string, reason: string) =>
      acme.call('POST', `/v1/repos/${web}/scheduled_freeze`, {
        as,
        body: { reason, start: '2026-03-01T09:10:00', end: '2026-03-01T12:00:00', timezone: 'UTC' },
      });
    const now = new Date(acme.clock.now());
    await plan(acme.tokens.rita, 'Of rita');
    await plan(acme.tokens.ada, 'Of ada');
    await acme.advanceTo('2026-03-01T09:10:00Z');
    expect(acme.frozen(web)).toEqual([1, 2]);
    expect(now < new Date(acme.clock.now())).toBe(true);
    const page = `https://holdfast.example/owners/acme/unfreeze?repository=${web.split('/')[1]}`;
    expect(await said('unfreeze x')).toBe(
      [
        `**Ended** in \`${web}\`:`,
        '- `Of ada`, until 2026-03-01 12:00 UTC',
        `**Still ongoing** in \`${web}\`. To end these freezes, use the [Unfreeze page](${page}):`,
        '- `Of rita`, until 2026-03-01 12:00 UTC: `rita` scheduled it',
      ].join('\n\n'),
    );
    expect((await freezes()).map(({ reason }) => reason)).toEqual(['Of rita']);
  });

  test('ends a plan for only this repository, and leaves one of several', async () => {
    const other = await acme.repository(`other-${count}`);
    const plan = async (reason: string, ...names: string[]) => {
      const include = names.map((name) => name.split('/')[1]);
      const body = {
        name: reason,
        reason,
        repositories: { include },
        start: null,
        end: null,
        timezone: 'UTC',
      };
      const answer = await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body });
      expect(answer.status, answer.text).toBe(201);
      await acme.quiet();
      return answer.body.id as string;
    };
    const own = await plan('Own', web);
    const both = await plan('Both', web, other);
    const answer = await said('unfreeze x');
    expect(answer).toContain('- `Own`, until removed');
    expect(answer).toContain(
      '- `Both`, until removed: it belongs to a plan that repeats or has other repositories',
    );
    const status = async (id: string) =>
      (await acme.call('GET', `/v1/freeze_plans/acme/${id}`, { as: acme.admin })).status;
    expect([await status(own), await status(both)]).toEqual([404, 200]);
    expect(acme.frozen(web)).toEqual([1, 2]);
  });
});

describe('where comments only request', () => {
  test('they decide and freeze nothing, and lead to the page that does', async () => {
    const body = { comment_commands: 'requests' };
    await acme.call('PATCH', `/v1/repos/${web}/settings`, { as: acme.admin, body });
    await acme.freeze(web);
    expect(await said('exempt the fix', 'wes')).toContain('**Requested an exemption');
    for (const words of ['approve', 'deny x', 'freeze 2h x', 'unfreeze x'])
      expect(await said(words)).toContain(
        `[the page of the repository](https://holdfast.example/repos/${web})`,
      );
    expect(await said('status')).toContain('**Blocked until removed.**');
    expect([await freezes(), await exemptions.list(web)]).toMatchObject([[{}], [{ state: 'requested' }]]);
  });
});

describe('status', () => {
  test('says what holds the pull request, until when, and where that can be read', async () => {
    expect(await said('status', 'wes')).toBe('**Free.** No freeze holds this pull request.');
    await acme.freeze(web, { reason: 'Books', end: '2026-03-03T18:00:00', timezone: 'Europe/Paris' });
    expect(await said('status', 'wes')).toBe(
      '**Blocked until 2026-03-03 18:00 Europe/Paris.**\n\n- `Books`, until 2026-03-03 18:00 Europe/Paris',
    );
    await acme.freeze(web, { reason: 'Ever', matching_conditions: ['base=main'] });
    expect(await said('status', 'wes')).toContain('**Blocked until removed.**');
    await exemptions.exempt(web, 1);
    expect(await said('status', 'wes')).toMatch(
      /^\*\*Exempt until 2026-03-02 \d\d:\d\d UTC\.\*\*|Europe\/Paris\.\*\*/,
    );
    acme.github.closePullRequest(web, 2);
    expect(await said('status', 'wes', 2)).toBe('**Closed.** Freezes block open pull requests only.');
  });

  test('says if GitHub would merge what a freeze holds', async () => {
    web = await acme.repository(`leaking-${count}`, [{}], { protect: {} });
    await acme.freeze(web);
    for (let step = 0; step < 5; step++) await acme.advanceTo(new Date(acme.clock.now() + 10_000));
    expect(await said('status', 'wes')).toContain(
      '**Not blocked:** a freeze is ongoing until removed, but GitHub',
    );
  });

  test('shows no reason that is not public, and mentions and links nobody', async () => {
    await acme.freeze(web, { reason: 'secret of acme', public_reason: 'Maintenance' });
    await acme.freeze(web, { reason: '@acme/all see acme/api#7 `x`' });
    const answer = await said('status', 'wes');
    expect(answer).toContain('- `Maintenance`, until');
    expect(answer).toContain('- `` @acme/all see acme/api#7 `x` ``, until');
    expect(await said('unfreeze x')).not.toContain('secret');
    const all = acme.answers(web, 1).join('\n');
    expect(all).not.toContain('secret');
    expect(all.replaceAll(/(`+)[^`].*?[^`]\1(?!`)/g, '')).not.toMatch(/@|#\d/);
  });
});

test('the answer to an unknown command shows how to write commands', async () => {
  for (const words of ['', 'help', 'status please', 'exempt']) {
    const answer = await said(words, 'wes');
    expect(answer).toContain(
      '- `/holdfast freeze [deployments or both] <2h or until friday 18:00> <reason>`',
    );
    expect(answer.split('\n')).toHaveLength(8);
  }
});
