// Each command is carried out once and answered once, whatever is repeated, lost, killed or refused; and what is no
// command of a person does nothing.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Commenting, startCommenting } from '../support/comments.ts';

let acme: Commenting;
let web: string;
let count = 0;
beforeAll(async () => {
  acme = await startCommenting();
});
afterAll(() => acme.close());
beforeEach(async () => {
  await acme.app.deps.db.commentAnswer.deleteMany();
  web = await acme.repository(`web-${++count}`);
});
afterEach(() => {
  acme.github.webhookFaults.clear();
  acme.github.comeBack();
});

const commenting = { method: 'POST', path: /\/issues\/\d+\/comments$/ };
const freezes = async (): Promise<unknown[]> => {
  const { body } = await acme.call('GET', `/v1/repos/${web}/scheduled_freeze`, { as: acme.admin });
  return body.scheduled_freezes;
};
const later = (milliseconds: number) => acme.advanceTo(new Date(acme.clock.now() + milliseconds));
const linesWith = (text: string) => acme.logs.filter((line) => line.includes(text));

describe('what is repeated', () => {
  test('a delivery that comes twice, or is sent again', async () => {
    acme.github.webhookFaults.add({ kind: 'repeat', event: 'issue_comment' });
    await acme.write(web, 1, 'ada', '/holdfast freeze 2h x');
    const { guid } = acme.github.deliveries.findLast(
      ({ event, payload }) => event === 'issue_comment' && payload.comment.user.login === 'ada',
    )!;
    await acme.github.redeliver(guid);
    await acme.quiet();
    expect([acme.answers(web, 1).length, (await freezes()).length]).toEqual([1, 1]);
  });

  test('an event under another GUID, as after a restore of our database', async () => {
    await acme.write(web, 1, 'ada', '/holdfast freeze 2h x');
    await acme.app.deps.db.webhookDelivery.deleteMany({ where: { event: 'issue_comment' } });
    const { guid } = acme.github.deliveries.findLast(
      ({ event, payload }) => event === 'issue_comment' && payload.comment.user.login === 'ada',
    )!;
    await acme.github.redeliver(guid);
    await acme.quiet();
    expect([acme.answers(web, 1).length, (await freezes()).length]).toEqual([1, 1]);
    // GitHub is not even asked whether it is there.
    expect(await acme.app.deps.db.commentAnswer.findFirst()).toMatchObject({ attempts: 1 });
  });

  test('a lost one is read from GitHub, carried out and answered', async () => {
    acme.github.webhookFaults.add({ kind: 'lose', event: 'issue_comment', times: 1 });
    await acme.write(web, 1, 'ada', '/holdfast freeze 2h x');
    expect(await freezes()).toEqual([]);
    await later(180_000);
    await later(60_000);
    expect([acme.answers(web, 1).length, (await freezes()).length]).toEqual([1, 1]);
  });
});

test('a command that comes late changes nothing, and its author is told', async () => {
  await acme.freeze(web);
  acme.github.webhookFaults.add({ kind: 'lose', event: 'issue_comment', times: 2 });
  await acme.write(web, 1, 'ada', '/holdfast unfreeze x');
  await acme.write(web, 1, 'eve', '/holdfast status');
  // The service is down, so nothing recovers deliveries meanwhile.
  const lists = acme.github.faults.add({ match: { path: /hook\/deliveries/ }, kind: 'status', status: 502 });
  await later(601_000);
  lists.remove();
  await later(180_000);
  await later(60_000);
  expect(await freezes()).toHaveLength(1);
  expect(
    acme
      .answers(web, 1)
      .toSorted()
      .map((answer) => answer.split('\n')[0]),
  ).toEqual([
    '**Blocked until removed.**',
    expect.stringContaining(
      '**Nothing was changed.** Holdfast read this command more than 10 minutes after you wrote it.',
    ),
  ]);
});

test('a comment in an unknown repository is given up after a while', async () => {
  const { answerComment } = await import('../../src/chat/comments/answer-comment.ts');
  const told = {
    commentId: '77',
    number: 1,
    person: { id: 1, login: 'ada' },
    text: '/holdfast status',
    installationId: '40000001',
  };
  const answer = (at: number) =>
    answerComment(acme.app.deps, 5n, { ...told, at: new Date(at).toISOString() });
  await expect(answer(acme.clock.now())).rejects.toThrow('not before');
  await answer(acme.clock.now() - 601_000);
  await acme.quiet();
});

describe('a process that dies', () => {
  test('between the change and its answer: the change is made once', async () => {
    const refusing = acme.github.faults.add({ match: commenting, kind: 'reset', times: 1 });
    await acme.write(web, 1, 'ada', '/holdfast freeze 2h x');
    expect([acme.answers(web, 1).length, (await freezes()).length]).toEqual([0, 1]);
    refusing.remove();
    await later(10_000);
    expect([acme.answers(web, 1).length, (await freezes()).length]).toEqual([1, 1]);
    expect(acme.answers(web, 1)[0]).toContain('**Frozen until 2026-03-01');
  });

  test('while it ends several: the rest ends, and the answer names all', async () => {
    await acme.freeze(web, { reason: 'One' });
    await acme.freeze(web, { reason: 'Two' });
    const { db } = acme.app.deps;
    // The second deletion fails in the database, as if the process had ended there.
    await db.$executeRawUnsafe(`CREATE SEQUENCE deletions`);
    await db.$executeRawUnsafe(`CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.deleted_at IS NOT NULL AND nextval('deletions') = 2 THEN RAISE 'killed'; END IF; RETURN NEW; END $$`);
    await db.$executeRawUnsafe(
      `CREATE TRIGGER die BEFORE UPDATE ON freezes FOR EACH ROW EXECUTE FUNCTION die()`,
    );
    await acme.write(web, 1, 'ada', '/holdfast unfreeze x');
    expect([acme.answers(web, 1).length, (await freezes()).length]).toEqual([0, 1]);
    await later(10_000);
    await db.$executeRawUnsafe(`DROP TRIGGER die ON freezes`);
    expect([acme.answers(web, 1).length, (await freezes()).length]).toEqual([1, 0]);
    expect(acme.answers(web, 1)[0]).toMatch(
      /- `One`, until removed\n- `Two`|- `Two`, until removed\n- `One`/,
    );
  });

  test('while it ends several, for longer than a command can wait: the command is finished', async () => {
    await acme.freeze(web, { reason: 'Two' });
    const { db } = acme.app.deps;
    const fault = acme.github.faults.add({
      match: { method: 'GET', path: /\/collaborators\// },
      kind: 'status',
      status: 502,
    });
    const id = await acme.write(web, 1, 'ada', '/holdfast unfreeze x');
    await db.commentAnswer.update({ where: { commentId: id }, data: { done: ['`One`, until removed'] } });
    await later(601_000);
    fault.remove();
    await later(61_000);
    expect(await freezes()).toEqual([]);
    expect(acme.answers(web, 1)[0]).toContain('- `One`, until removed\n- `Two`, until removed');
  });

  test('two replicas that carry out the same command make one change', async () => {
    const { answerComment } = await import('../../src/chat/comments/answer-comment.ts');
    const id = acme.github.comment(web, 1, { by: 'ada', body: 'hello' });
    const repository = await acme.app.deps.db.repository.findFirstOrThrow({
      where: { name: web.split('/')[1] },
    });
    const ada = acme.github.deliveries.at(-1)!.payload.sender;
    const told = {
      commentId: String(id),
      number: 1,
      person: { id: ada.id, login: 'ada' },
      at: new Date(acme.clock.now()).toISOString(),
      text: '/holdfast freeze 2h x',
      installationId: null,
    };
    const answering = () => answerComment(acme.app.deps, repository.id, told);
    await Promise.all([answering(), answering(), answering()]);
    await acme.quiet();
    expect(await freezes()).toHaveLength(1);
  });
});

describe('GitHub', () => {
  test('limits us: the command waits, and is carried out once', async () => {
    acme.github.faults.add({
      match: { method: 'GET', path: /\/collaborators\// },
      kind: 'secondary-limit',
      retryAfter: 30,
      times: 1,
    });
    await acme.write(web, 1, 'ada', '/holdfast freeze 2h x');
    expect(await freezes()).toEqual([]);
    await later(31_000);
    expect([acme.answers(web, 1).length, (await freezes()).length]).toEqual([1, 1]);
  });

  test('is down: nothing changes until it says what the author can do', async () => {
    const fault = acme.github.faults.add({
      match: { method: 'GET', path: /\/collaborators\// },
      kind: 'status',
      status: 502,
    });
    await acme.write(web, 1, 'ada', '/holdfast freeze 2h x');
    expect([acme.answers(web, 1).length, (await freezes()).length]).toEqual([0, 0]);
    acme.github.setRole(web, 'rita', null);
    fault.remove();
    await later(10_000);
    expect([acme.answers(web, 1).length, (await freezes()).length]).toEqual([1, 1]);
  });

  test('locks the conversation: the command is carried out, and the log says once that it has no answer', async () => {
    acme.github.lock(web, 1);
    const id = await acme.write(web, 1, 'ada', '/holdfast freeze 2h x');
    await later(120_000);
    expect([acme.answers(web, 1).length, (await freezes()).length]).toEqual([0, 1]);
    const lines = linesWith('a comment could not be written').filter((line) => line.includes(String(id)));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('Unable to create comment because issue is locked');
  });

  test('has not granted the permission to answer: nothing happens, and the log says so once', async () => {
    const { github } = acme;
    const granted = { ...github.app.permissions };
    github.acceptPermissions('acme', { ...granted, pull_requests: 'read' });
    await acme.quiet();
    const id = await acme.write(web, 1, 'ada', '/holdfast freeze 2h x');
    await later(120_000);
    expect(await freezes()).toEqual([]);
    const lines = linesWith('the App may not answer here').filter((line) => line.includes(String(id)));
    expect(lines).toHaveLength(1);
    github.acceptPermissions('acme', granted);
    await acme.quiet();
    expect(await acme.say(web, 1, 'ada', '/holdfast status')).toContain('**Free.**');
  });
});

describe('only commands of people do something', () => {
  const isIgnored = async (body: string) => {
    await acme.quiet();
    expect([acme.answers(web, 1), await freezes()], body).toEqual([[], []]);
    expect(await acme.app.deps.db.commentAnswer.count()).toBe(0);
  };

  test('a bot, and an App that writes for a person', async () => {
    acme.github.addBot('dependabot');
    acme.github.comment(web, 1, { by: 'dependabot', body: '/holdfast status' });
    acme.github.comment(web, 1, { by: 'ada', body: '/holdfast freeze 2h x', throughApp: true });
    await isIgnored('bots');
  });

  test('an edit, also one that makes a command of a comment, and a deletion', async () => {
    const id = await acme.write(web, 1, 'ada', 'Let us freeze.');
    acme.github.editComment(web, 1, id, { by: 'wes', body: '/holdfast freeze 2h x' });
    acme.github.deleteComment(web, 1, id, 'ada');
    await isIgnored('edits');
    expect(acme.github.deliveries.slice(-2).map(({ action, statusCode }) => [action, statusCode])).toEqual([
      ['edited', 202],
      ['deleted', 202],
    ]);
  });

  test('a quotation, code, another word', async () => {
    for (const body of ['> /holdfast status', '```\n/holdfast status\n```', '/holdfastx status'])
      await acme.write(web, 1, 'ada', body);
    await isIgnored('others');
  });

  test('anything if the repository does not want it', async () => {
    const change = { as: acme.admin, body: { comment_commands: false } };
    expect((await acme.call('PATCH', `/v1/repos/${web}/settings`, change)).status).toBe(200);
    await acme.write(web, 1, 'ada', '/holdfast freeze 2h x');
    await isIgnored('switched off');
  });

  test('a person who lost the right to read a private repository', async () => {
    web = await acme.repository(`vault-${count}`, [{}], { private: true, roles: { eve: 'read' } });
    acme.github.webhookFaults.add({ kind: 'delay', event: 'issue_comment', ms: 100 });
    acme.github.comment(web, 1, { by: 'eve', body: '/holdfast status' });
    acme.github.setRole(web, 'eve', null);
    await acme.quiet();
    expect(acme.answers(web, 1)).toEqual([]);
  });
});

test('GitHub is asked at once what the author can do: an admin who lost the role freezes nothing', async () => {
  expect(await acme.say(web, 1, 'rita', '/holdfast freeze 1h x')).toContain('**Frozen');
  acme.github.setRole(web, 'rita', 'write');
  expect(await acme.say(web, 1, 'rita', '/holdfast unfreeze x')).toContain('rita is not an admin');
});

test('ten answers an hour and person: the tenth says so, then silence, and again an hour later', async () => {
  for (let each = 1; each <= 9; each++) {
    expect(await acme.say(web, 1, 'wes', '/holdfast status')).not.toContain('This was the last one.');
  }
  expect(await acme.say(web, 1, 'wes', '/holdfast status')).toContain(
    'Holdfast answers 10 commands from one person within an hour. This was the last one.',
  );
  const asked = acme.github.requests.length;
  await acme.write(web, 1, 'wes', '/holdfast status');
  expect(acme.answers(web, 1)).toHaveLength(10);
  expect(linesWith('too many commands from one person').at(-1)).toContain('"by":"wes"');
  // GitHub was asked nothing for it.
  expect(acme.github.requests.length).toBe(asked);
  // Others are answered.
  expect(await acme.say(web, 1, 'ada', '/holdfast status')).toContain('**Free.**');
  await later(3_600_000);
  expect(await acme.say(web, 1, 'wes', '/holdfast status')).toContain('**Free.**');
});

test('what an admin or somebody with the role decides is carried out and answered beyond ten', async () => {
  const settings = { freezers: ['wes', 'rudi'], approvers: [] };
  acme.github.addUser('rudi');
  acme.github.setRole(web, 'rudi', 'read');
  await acme.call('PATCH', `/v1/repos/${web}/settings`, { as: acme.admin, body: settings });
  for (const login of ['ada', 'wes', 'rudi'])
    for (let each = 1; each <= 10; each++) await acme.write(web, 1, login, '/holdfast unfreeze x');
  for (const login of ['ada', 'wes', 'rudi']) {
    expect(await acme.say(web, 1, login, '/holdfast freeze 1h x')).toContain('**Frozen');
    expect(acme.frozen(web)).toEqual([1]);
    expect(await acme.say(web, 1, login, '/holdfast unfreeze x')).toContain('**Ended');
    expect(acme.frozen(web)).toEqual([]);
  }
  await acme.freeze(web);
  expect(await acme.say(web, 1, 'ada', '/holdfast exempt INC-1')).toContain('**');
  expect(acme.frozen(web)).toEqual([]);
  const answers = acme.answers(web, 1).length;
  // What they may not decide is ignored, and a flood of it costs one question in five minutes.
  await acme.write(web, 1, 'ada', '/holdfast status');
  await acme.write(web, 1, 'wes', '/holdfast deny x');
  const asked = acme.github.requests.length;
  for (let each = 1; each <= 20; each++) await acme.write(web, 1, 'wes', '/holdfast deny x');
  expect(acme.github.requests.length).toBe(asked);
  expect(acme.answers(web, 1)).toHaveLength(answers);
});

test('people who cannot write get three answers in a conversation and hour together, one each, and only to status', async () => {
  const strangers = Array.from({ length: 9 }, (_, index) => `stranger-${index}`);
  for (const login of strangers) acme.github.addUser(login);
  for (let round = 0; round < 3; round++)
    for (const login of strangers)
      for (const command of ['exempt x', 'status']) await acme.write(web, 1, login, `/holdfast ${command}`);
  expect(acme.answers(web, 1)).toHaveLength(3);
  await acme.say(web, 1, 'wes', '/holdfast status');
  await later(3_600_000);
  expect(await acme.say(web, 1, 'stranger-0', '/holdfast status')).toContain('**Free.**');
  await acme.write(web, 1, 'stranger-0', '/holdfast status');
  expect(acme.answers(web, 1)).toHaveLength(5);
});

test('thirty answers an hour in a repository; what an admin decides is answered beyond them', async () => {
  const { id: repositoryId } = await acme.app.deps.db.repository.findFirstOrThrow({
    where: { name: web.split('/')[1]! },
  });
  await acme.app.deps.db.commentAnswer.createMany({
    data: Array.from({ length: 30 }, (_, index) => ({
      commentId: BigInt(index + 1),
      repositoryId,
      number: 2,
      personId: BigInt(1000 + index),
      takenAt: new Date(acme.clock.now()),
      answer: 'x',
      isSettled: true,
    })),
  });
  await acme.write(web, 1, 'ada', '/holdfast status');
  expect(acme.answers(web, 1)).toEqual([]);
  for (const command of ['freeze 2h x', 'unfreeze x', 'deny x', 'approve'])
    expect(await acme.say(web, 1, 'ada', `/holdfast ${command}`)).toMatch(/^\*\*/);
});

test('a limit on comments stops no status', async () => {
  acme.github.faults.add({ match: commenting, kind: 'secondary-limit', retryAfter: 300, times: 1 });
  await acme.write(web, 1, 'ada', '/holdfast status');
  await acme.freeze(web);
  expect(acme.frozen(web)).toEqual([1]);
  expect(acme.answers(web, 1)).toEqual([]);
  await later(301_000);
  expect(acme.answers(web, 1)).toHaveLength(1);
});

test('answered comments are forgotten after eight days', async () => {
  const { db } = acme.app.deps;
  await acme.say(web, 1, 'ada', '/holdfast status');
  await acme.say(web, 1, 'eve', '/holdfast status');
  const [first] = await db.commentAnswer.findMany({ orderBy: { commentId: 'asc' } });
  const takenAt = new Date(acme.clock.now() - 8 * 86_400_000 - 1);
  await db.commentAnswer.update({ where: { commentId: first!.commentId }, data: { takenAt } });
  await later(60_000);
  const left = await db.commentAnswer.findMany();
  expect(left).toHaveLength(1);
  expect(left[0]!.commentId).not.toBe(first!.commentId);
});

test('no log line has a text that somebody wrote', async () => {
  await acme.freeze(web);
  const fault = acme.github.faults.add({
    match: { method: 'GET', path: /\/collaborators\// },
    kind: 'status',
    status: 502,
  });
  await acme.write(web, 1, 'ada', '/holdfast unfreeze xyzzy-private');
  fault.remove();
  await later(10_000);
  expect(await freezes()).toEqual([]);
  expect(linesWith('a job failed').some((line) => line.includes('answer-comment'))).toBe(true);
  expect(linesWith('xyzzy')).toEqual([]);
});
