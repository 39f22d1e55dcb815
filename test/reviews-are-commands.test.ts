// Somebody writes a command into the text of a review: it is done and answered as in a comment.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { exemptionsOf } from './support/exemptions.ts';
import { type Commenting, startCommenting } from './support/comments.ts';

let acme: Commenting;
let web: string;
let count = 0;
beforeAll(async () => {
  acme = await startCommenting();
});
afterAll(() => acme.close());
beforeEach(async () => {
  web = await acme.repository(`web-${++count}`);
});

type Review = Parameters<Commenting['github']['review']>[2];

/** Submits a review, and waits until all that follows is done. @returns its id. */
async function review(body: string, more: Partial<Review> = {}): Promise<number> {
  const id = acme.github.review(web, 1, { by: 'ada', state: 'COMMENTED', body, ...more });
  await acme.quiet();
  return id;
}
const freezes = async (): Promise<{ reason: string }[]> => {
  const { body } = await acme.call('GET', `/v1/repos/${web}/scheduled_freeze`, { as: acme.admin });
  return body.scheduled_freezes;
};
const answers = () => acme.answers(web, 1);
/** Nobody wrote anything within the hour. */
const forget = () => acme.app.deps.db.commentAnswer.deleteMany();

test('a review has an id of its own, even if a comment has the same', async () => {
  const comment = await acme.write(web, 1, 'ada', '/holdfast status');
  const id = await review('/holdfast freeze 2h INC-4711');
  expect(id).toBe(comment);
  expect(await freezes()).toMatchObject([{ reason: 'INC-4711' }]);
  expect(answers()).toEqual([
    expect.stringMatching(new RegExp(`<!-- holdfast answers comment ${id} -->$`)),
    expect.stringMatching(
      new RegExp(`^\\*\\*Frozen until 2026-03-01 11:00 UTC[^]*<!-- holdfast answers review ${id} -->$`),
    ),
  ]);
});

describe.each<Review['state']>(['APPROVED', 'CHANGES_REQUESTED', 'COMMENTED'])('%s', (state) => {
  test('an admin’s command below a sentence is carried out', async () => {
    await review('One more thing:\n\n  /holdfast freeze 2h INC-1', { state });
    expect([await freezes(), answers()].map(({ length }) => length)).toEqual([1, 1]);
  });
});

test('people get what they may do', async () => {
  await acme.freeze(web);
  await review('/holdfast unfreeze over', { by: 'wes' });
  expect(answers().at(-1)).toContain('`wes is not an admin');
  await review('/holdfast exempt hotfix', { by: 'eve' });
  expect(answers()).toHaveLength(1);
  const exemptions = exemptionsOf(acme);
  await review('/holdfast exempt hotfix', { by: 'wes', state: 'APPROVED' });
  await review('/holdfast approve', { by: 'rita', state: 'APPROVED' });
  expect(await exemptions.list(web)).toMatchObject([
    { state: 'approved', requested_by: { name: 'wes' }, decided_by: { name: 'rita' } },
  ]);
  expect(await freezes()).toHaveLength(1);
});

test('ten answers an hour are for comments and reviews together', async () => {
  await forget();
  for (let index = 0; index < 5; index += 1) {
    await acme.write(web, 1, 'wes', '/holdfast status');
    await review('/holdfast status', { by: 'wes' });
  }
  await review('/holdfast status', { by: 'wes' });
  expect(answers()).toHaveLength(10);
});

describe('it does nothing', () => {
  beforeEach(forget);
  const nothing = async () => expect([await freezes(), answers()]).toEqual([[], []]);

  test('if the review is edited or dismissed', async () => {
    const edited = await review('Fine');
    acme.github.editReview(web, 1, edited, { by: 'ada', body: '/holdfast freeze 2h x' });
    await acme.quiet();
    acme.github.dismissReview(web, 1, edited, 'ada');
    await acme.quiet();
    const { event, action, payload } = acme.github.deliveries.at(-1)!;
    expect([event, action, payload.review.body]).toEqual([
      ...['pull_request_review', 'dismissed', '/holdfast freeze 2h x'],
    ]);
    await nothing();
  });

  test('without a text, or with a command in a quotation', async () => {
    await review('', { state: 'APPROVED' });
    await review('> /holdfast freeze 2h x');
    await nothing();
  });

  test('in a review of a bot', async () => {
    acme.github.addBot('reviewer');
    await review('/holdfast freeze 2h x', { by: 'reviewer[bot]' });
    await nothing();
  });

  test('in a comment on a line of code', async () => {
    acme.github.startThread(web, 1, { by: 'ada', body: '/holdfast freeze 2h x' });
    await acme.quiet();
    await nothing();
  });
});

test('a lost review is read from GitHub, and its command carried out', async () => {
  acme.github.webhookFaults.add({ kind: 'lose', event: 'pull_request_review', times: 1 });
  await review('/holdfast freeze 2h x');
  expect(await freezes()).toEqual([]);
  for (const seconds of [180, 60]) await acme.advanceTo(new Date(acme.clock.now() + seconds * 1000));
  expect([await freezes(), answers()].map(({ length }) => length)).toEqual([1, 1]);
});
