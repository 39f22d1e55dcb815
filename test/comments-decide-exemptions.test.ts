// Somebody requests, approves or denies an exemption by a comment on a pull request: as by the API, and answered once.
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

describe('exempt, approve and deny', () => {
  beforeEach(async () => void (await acme.freeze(web)));

  test('an admin exempts the current commit at once', async () => {
    const sha = acme.github.pullRequest(web, 1).headSha.slice(0, 7);
    expect(await said('exempt INC-4711 fix')).toBe(
      `**Exempt until 2026-03-02 09:00 UTC:** the exemption applies to the commit ${sha}. A push ends it.`,
    );
    expect(acme.shown(web, 1)?.description).toBe('Exempt until 2026-03-02 09:00 UTC: INC-4711 fix');
    expect(acme.frozen(web)).toEqual([2]);
    expect(await exemptions.told(web)).toEqual(['requested', 'approved']);
  });

  test('a writer requests, and an admin approves it', async () => {
    expect(await said('exempt the fix', 'wes')).toMatch(
      /^\*\*Requested an exemption for the commit \w{7} until /,
    );
    expect(acme.frozen(web)).toEqual([1, 2]);
    expect(await said('approve')).toMatch(
      /^\*\*Exempt until .*:\*\* approved the request of `wes` from 2026-03-01 \d\d:\d\d UTC\. The exemption applies to the commit \w{7}\.$/,
    );
    expect(acme.frozen(web)).toEqual([2]);
    const [approved] = await exemptions.list(web);
    expect(approved).toMatchObject({ reason: 'the fix', state: 'approved', decided_by: { name: 'ada' } });
  });

  test('an admin denies, with the reason', async () => {
    await said('exempt please', 'wes');
    expect(await said('deny not now', 'rita')).toMatch(/^\*\*Denied\*\* the request of `wes` from /);
    const [denied] = await exemptions.list(web);
    expect(denied).toMatchObject({
      state: 'denied',
      decision_reason: 'not now',
      decided_by: { name: 'rita' },
    });
    expect(await said('deny again')).toContain(`${web}#1 has no open exemption request`);
  });

  test('two people: nobody approves their own request, and another admin does', async () => {
    const settings = { as: acme.admin, body: { two_person_exemptions: true } };
    expect((await acme.call('PATCH', `/v1/repos/${web}/settings`, settings)).status).toBe(200);
    expect(await said('exempt the fix')).toContain('**Requested an exemption for the commit');
    expect(await said('approve')).toContain('ada requested this exemption.');
    expect(acme.frozen(web)).toEqual([1, 2]);
    expect(await said('approve', 'rita')).toContain('approved the request of `ada`');
    expect(acme.frozen(web)).toEqual([2]);
  });

  test('a reader requests nothing and gets no answer, and a writer decides nothing', async () => {
    await acme.write(web, 1, 'eve', '/holdfast exempt x');
    expect(acme.answers(web, 1)).toEqual([]);
    await said('exempt x', 'wes');
    for (const words of ['approve', 'deny x'])
      expect(await said(words, 'wes')).toContain(`wes is not an admin of ${web}`);
    expect((await exemptions.list(web)).map(({ state }) => state)).toEqual(['requested']);
  });

  test('a commit that came after the comment is not exempt', async () => {
    await acme.freeze(web);
    const late = async (seconds: number) => {
      acme.github.webhookFaults.add({ kind: 'lose', event: 'issue_comment', times: 1 });
      await acme.write(web, 1, 'ada', '/holdfast exempt INC-4711');
      await acme.advanceTo(new Date(acme.clock.now() + seconds * 1000));
      const head = acme.github.push(web, 1);
      await acme.quiet();
      // Other tests read times in whole minutes.
      await acme.advanceTo(new Date(acme.clock.now() + 120_000 - seconds * 1000));
      return head;
    };
    const head = await late(1);
    expect(acme.answers(web, 1).at(-1)).toContain(
      `The commit ${head.slice(0, 7)} came after your comment, so nothing is exempt. Check it, then write the command again.`,
    );
    expect(await exemptions.list(web)).toEqual([]);
    expect(acme.frozen(web)).toEqual([1, 2]);
    expect(await said('exempt INC-4711')).toContain(`applies to the commit ${head.slice(0, 7)}`);
    expect(acme.frozen(web)).toEqual([2]);
  });

  test('a closed pull request cannot be exempt', async () => {
    acme.github.closePullRequest(web, 1);
    expect(await said('exempt x')).toContain(`${web}#1 is closed, so nothing holds it.`);
  });
});

describe('approve takes nothing that the admin did not see', () => {
  beforeEach(async () => void (await acme.freeze(web)));
  const headOf = () => acme.github.pullRequest(web, 1).headSha.slice(0, 7);
  const states = async () =>
    (await exemptions.list(web)).map(({ any_head, state }) => [any_head ? 'all commits' : 'one', state]);
  const inAMonth = '2026-03-30T09:00:00Z';

  test('a request for all commits after one that the conversation shows', async () => {
    await said('exempt the fix', 'wes');
    const more = { any_head: true, expires_at: inAMonth, reason: 'all' };
    expect((await exemptions.request(web, 1, more, acme.tokens.wes)).status).toBe(201);
    const answer = await said('approve');
    expect(answer).toContain('**Nothing was changed.**');
    expect(answer).toContain(`- \`wes\` requests an exemption for the commit ${headOf()} until 2026-03-02`);
    expect(answer).toContain('- `wes` requests an exemption for **all commits** until 2026-03-30 09:00 UTC');
    expect(acme.frozen(web)).toEqual([1, 2]);
    expect(await said(`approve ${headOf()} looks good`)).toContain('approved the request of `wes`');
    expect(await states()).toEqual([
      ['all commits', 'requested'],
      ['one', 'approved'],
    ]);
    expect((await exemptions.list(web))[1]).toMatchObject({ decision_reason: 'looks good' });
  });

  test('a request for all commits alone is approved on its page', async () => {
    await exemptions.request(web, 1, { any_head: true }, acme.tokens.wes);
    const [shown] = acme.answers(web, 1);
    expect(shown).toMatch(
      /^\*\*Exemption requested\*\* by `wes` for \*\*all commits\*\* until .* decide on the page\./,
    );
    for (const words of ['approve', `approve ${headOf()}`])
      expect(await said(words)).toContain('**Nothing was changed.**');
    expect(await states()).toEqual([['all commits', 'requested']]);
  });

  test('a request by the API is told to the conversation, without its reason, and can be approved', async () => {
    await exemptions.request(web, 1, { reason: 'secret' }, acme.tokens.wes);
    const [shown] = acme.answers(web, 1);
    expect(shown).toContain(`by \`wes\` for the commit ${headOf()} until`);
    expect(shown).toContain(`\`/holdfast approve ${headOf()}\``);
    expect(shown).not.toContain('secret');
    expect(await said('approve')).toContain('approved the request of `wes`');
    expect(acme.frozen(web)).toEqual([2]);
  });

  test('a request that could not be told is approved by its commit', async () => {
    const commands = (comment_commands: boolean) =>
      acme.call('PATCH', `/v1/repos/${web}/settings`, { as: acme.admin, body: { comment_commands } });
    await commands(false);
    await exemptions.request(web, 1, {}, acme.tokens.wes);
    await commands(true);
    expect(acme.answers(web, 1)).toEqual([]);
    expect(await said('approve')).toContain('**Nothing was changed.**');
    expect(await said(`approve ${headOf()}`)).toContain('approved the request of `wes`');
  });

  test('a request made after the approval was written', async () => {
    await said('exempt the fix', 'wes');
    acme.github.webhookFaults.add({ kind: 'lose', event: 'issue_comment', times: 2 });
    await acme.write(web, 1, 'ada', '/holdfast approve');
    await acme.advanceTo(new Date(acme.clock.now() + 1000));
    const [first] = await exemptions.list(web);
    await exemptions.decide('revoke', web, first!, acme.tokens.wes);
    await exemptions.request(web, 1, { expires_at: inAMonth }, acme.tokens.wes);
    await acme.advanceTo(new Date(acme.clock.now() + 179_000));
    await acme.advanceTo(new Date(acme.clock.now() + 60_000));
    expect(acme.answers(web, 1).at(-1)).toContain('**Nothing was changed.**');
    expect((await exemptions.list(web)).map(({ state }) => state)).toEqual(['requested', 'revoked']);
  });
});
