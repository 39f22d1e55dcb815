import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answerLine, testConditions } from '../../src/cli/test-conditions.ts';

const now = '2026-03-01T10:00:00Z';
const answer = (condition: unknown, pull_request: object = {}, more: object = {}) =>
  answerLine(JSON.stringify({ condition, pull_request, now, ...more }));

describe('a line', () => {
  test.each<[unknown, object, boolean]>([
    ['label=hotfix', { label: ['hotfix'] }, true],
    [{ or: ['label=x', { not: 'draft' }] }, {}, true],
    ['milestone=x', {}, false],
    ['milestone!=x', { milestone: null }, true],
    ['#label=0', { label: null }, true],
    ['number!=5', {}, true],
    ['number>0', {}, false],
    ['draft', { draft: true }, true],
    ['conflict', { conflict: null }, false],
    ['#files=1', { files: ['old', 'new'], '#files': 1 }, true],
    ['#files=2', { files: ['old', 'new'] }, true],
    ['#added-lines>10', { 'added-lines': 11 }, true],
    ['#added-lines=2', { 'added-lines': ['a', 'b'] }, true],
    ['#commits-behind=3', { '#commits-behind': 3 }, true],
    ['commits[*].author=Ada', { commits: [{ author: 'Ada' }] }, true],
    ['commits[0].commit_verification_verified', { commits: [{ commit_verification_verified: true }] }, true],
    ['commits[0].date_author<2026-01-01', { commits: [{ date_author: '2025-12-31T23:00:00Z' }] }, true],
    ['commits~=fix', { commits: [{ commit_message: 'a fix' }] }, true],
    ['check-success=lint', { 'check-success': ['@github-actions/lint'] }, true],
    ['check-success=@github-actions/lint', { 'check-success': ['@github-actions/lint'] }, true],
    ['check-success=@github-actions/lint', { 'check-success': ['lint'] }, false],
    ['check-failure=ci', { 'status-failure': ['ci'] }, true],
    ['created-at>=1 day ago', { 'created-at': '2026-03-01T09:00:00Z' }, true],
    ['schedule=Sun', {}, true],
    ['body~=secret', { body: 'a <!-- secret\n --> b' }, false],
    ['body-raw~=secret', { 'body-raw': 'a <!-- secret\n --> b' }, true],
    ['label=x', { label: ['x'], 'queue-position': 3 }, true],
  ])('%j of %j is %s', (condition, pullRequest, expected) => {
    expect(answer(condition, pullRequest)).toMatchObject({ match: expected });
  });

  test('tells the reasons and when time alone could change it', () => {
    expect(answer({ and: ['base=main', 'schedule=Mon 09:00-17:00'] }, { base: 'main' })).toEqual({
      match: false,
      reasons: [
        { path: ['and', 0], condition: 'base=main', match: true, saw: ['main'], decides: false },
        {
          path: ['and', 1],
          condition: 'schedule=Mon 09:00-17:00',
          match: false,
          saw: ['2026-03-01T10:00:00.000Z'],
          decides: true,
        },
      ],
      next_change_at: '2026-03-02T09:00:00.000Z',
    });
  });

  test('the line names the teams; another team cannot be judged and does not match', () => {
    const teams = { '@Acme/Core': ['mona'] };
    expect(answer('author=@acme/core', { author: 'mona' }, { teams })).toMatchObject({ match: true });
    for (const condition of ['author=@acme/x', '-author=@acme/x', 'author!=@acme/x']) {
      expect(answer(condition, { author: 'mona' }, { teams })).toMatchObject({
        match: false,
        reasons: [{ match: null, error: 'the members of @acme/x are not known' }],
      });
    }
  });

  test('without now, the clock is asked', () => {
    const line = JSON.stringify({ condition: 'current-datetime>2020-01-01', pull_request: {} });
    expect(answerLine(line)).toMatchObject({ match: true });
  });

  test('a byte order mark before the first line is none of its JSON', () => {
    const line = JSON.stringify({ condition: 'draft', pull_request: { draft: true } });
    expect(answerLine(`\uFEFF${line}`)).toMatchObject({ match: true });
  });

  test.each<[string, string, string, number | null]>([
    ['nothing', '', 'This line is not JSON.', null],
    ['UTF-16', Buffer.from('\uFEFF{}', 'utf16le').toString(), 'This line is in UTF-16', null],
    ['half of JSON', '{"condition":', 'This line is not JSON.', null],
    ['deep JSON', '['.repeat(200_000), 'This line is not JSON.', null],
    ['a list', '[]', 'A line is a JSON object', null],
    ['null', 'null', 'A line is a JSON object', null],
    ['no condition', '{}', '`condition` is missing.', null],
    ['a bad condition', '{"condition":"  labl=x"}', 'Did you mean `label`?', 3],
    ['a bad one in a group', '{"condition":{"or":["draft",{"not":"base=a b"}]}}', 'Invalid branch name', 6],
    ['a list of conditions', '{"condition":["draft"]}', 'A condition is a string, or an object', null],
    ['a bad now', '{"condition":"draft","now":"yesterday"}', '`now` is not an instant.', null],
    [
      'a now without zone',
      '{"condition":"draft","now":"2026-03-01T10:00:00"}',
      '`now` is not an instant.',
      null,
    ],
    [
      'a list for a pull request',
      '{"condition":"draft","pull_request":[]}',
      '`pull_request` is an object.',
      null,
    ],
    [
      'a misspelt attribute',
      '{"condition":"draft","pull_request":{"drat":true}}',
      'Did you mean `draft`?',
      null,
    ],
    [
      'a text for a list',
      '{"condition":"draft","pull_request":{"label":"x"}}',
      '`label` is a list of texts.',
      null,
    ],
    [
      'a number for a text',
      '{"condition":"draft","pull_request":{"title":1}}',
      '`title` is a text or null.',
      null,
    ],
    [
      'a text for a boolean',
      '{"condition":"draft","pull_request":{"draft":"x"}}',
      '`draft` is true, false or null.',
      null,
    ],
    [
      'a fraction for a number',
      '{"condition":"draft","pull_request":{"number":1.5}}',
      '`number` is a whole number.',
      null,
    ],
    [
      'no instant',
      '{"condition":"draft","pull_request":{"created-at":"x"}}',
      '`created-at` is an instant',
      null,
    ],
    [
      'a commit that is none',
      '{"condition":"draft","pull_request":{"commits":["x"]}}',
      '`commits[0]` is an object.',
      null,
    ],
    [
      'a field of no commit',
      '{"condition":"draft","pull_request":{"commits":[{"autor":"x"}]}}',
      'Did you mean `author`?',
      null,
    ],
    [
      'teams that are none',
      '{"condition":"draft","teams":{"@x":"y"}}',
      '`teams.@x` is a list of texts.',
      null,
    ],
  ])('%s is an error with a line of its own', (_name, line, message, column) => {
    const result = answerLine(line);
    expect(result).toMatchObject({ error: { column } });
    expect((result as { error: { message: string } }).error.message).toContain(message);
  });

  test('the error shows where a bad condition is in a group', () => {
    expect(answer({ or: ['draft', { not: 'nope' }] })).toMatchObject({ error: { path: ['or', 1, 'not'] } });
  });

  test('every line has an answer', () => {
    const object = fc.record({
      condition: fc.anything(),
      pull_request: fc.anything(),
      now: fc.anything(),
      teams: fc.anything(),
    });
    const line = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.json(),
      object.map((each) => String(safeJson(each))),
    );
    fc.assert(
      fc.property(line, (text) => {
        expect(JSON.stringify(answerLine(text))).toMatch(/^\{"(match|error)":/);
      }),
    );
  });
});

const safeJson = (value: unknown) => {
  try {
    return JSON.stringify(value);
  } catch {
    return '';
  }
};

const bin = fileURLToPath(new URL('../../bin/holdfast.mjs', import.meta.url));

async function run(args: string[], input: Buffer | string = ''): Promise<{ out: string; code: number }> {
  // Nothing of the service: no database, no GitHub, no configuration.
  const child = spawn(process.execPath, [bin, ...args], {
    env: {},
    cwd: '/',
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number];
  return { out: Buffer.concat(chunks).toString(), code };
}

describe('the command', () => {
  test('answers in order, one line for each, whatever a line contains', async () => {
    const lines = Array.from(
      { length: 3000 },
      (_, index) => `{"condition":"number=${index}","pull_request":{"number":${index}}}`,
    );
    lines[3] = '';
    lines[4] = '{"condition":"title=a\u2028b\rc","pull_request":{"title":"a\u2028b\\rc"}}';
    lines[5] = `{"condition":"title=x","pull_request":{"title":"${'y'.repeat(300_000)}"}}`;
    lines[6] = '{"condition":"label=é😀","pull_request":{"label":["é😀"]}}\r';
    const { out, code } = await run(['conditions', 'test'], lines.join('\n'));
    const answers = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { match?: boolean; error?: object });
    expect(code).toBe(0);
    expect(answers).toHaveLength(3000);
    expect(answers[3]).toHaveProperty('error');
    expect(answers[4]).toHaveProperty('error');
    expect(answers[5]).toMatchObject({ match: false });
    expect(answers.filter(({ match }) => match)).toHaveLength(2997);
  });

  test('a last line ends with a line feed or without one, wherever the chunks end', async () => {
    const line = '{"condition":"draft","pull_request":{"draft":true}}';
    for (const chunks of [[`${line}\n`], [line], [line.slice(0, 9), `${line.slice(9)}\n`, `${line}\n`]]) {
      const output = new PassThrough();
      await testConditions(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), output);
      const lines = chunks.join('').trimEnd().split('\n');
      expect(String(output.read()).trimEnd().split('\n')).toEqual(
        lines.map((each) => JSON.stringify(answerLine(each))),
      );
    }
  });

  test('no input is no output', async () => {
    expect(await run(['conditions', 'test'])).toEqual({ out: '', code: 0 });
  });

  test('lists the attributes, for people and for programs', async () => {
    const [people, programs] = await Promise.all([
      run(['conditions', 'attributes']),
      run(['conditions', 'attributes', '--json']),
    ]);
    expect(people.out).toContain('\nlabel ');
    const rows = programs.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { name: string });
    expect(rows.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['label', '#added-lines', 'schedule']),
    );
    for (const { name } of rows) expect(people.out).toMatch(new RegExp(`^${name} `, 'm'));
  });
});
