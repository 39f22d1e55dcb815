import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type ConfigError, readConfig } from '../../src/config.ts';
import { refusalStatus } from '../../src/errors.ts';
import { decideGroup, decideHead, weighTogether } from '../../src/statuses/judge.ts';
import { freeGroupText, freeText, wantedOn } from '../../src/statuses/status.ts';
import type { ParsedFreeze } from '../../src/freezes/judge-freeze.ts';
import { between, documentAt, rowsOf } from './documents.ts';
import { allTexts, argumentsOf, propertiesOf, variablesOf } from './source-texts.ts';

// People search docs/troubleshooting.md for a message. So it must quote existing messages, and all that matter.

const page = documentAt('docs/troubleshooting.md');

/** The messages of a marked part of the page: the quoted texts in the first cells of its tables. */
function quotedIn(mark: string): string[] {
  const rows = between(page, `<!-- ${mark} -->`, `<!-- /${mark} -->`)
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  return rowsOf(['', '', ...rows].map((row) => row || '|').join('\n')).flatMap(([cell]) =>
    [...cell!.matchAll(/`([^`]+)`/g)].map(([, text]) => text!),
  );
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
/** `…` stands for anything. */
const patternOf = (text: string): string => text.trim().split('…').map(escaped).join('.*');
const patterns = new Map<string, RegExp>();
function occursIn(part: string, whole: string): boolean {
  const pattern = patterns.get(part) ?? new RegExp(patternOf(part), 's');
  patterns.set(part, pattern);
  return pattern.test(whole);
}
/** One is the other, or a part of it: the source puts some messages together. */
const fits = (quoted: string, text: string): boolean =>
  occursIn(quoted, text) || (/\w \w/.test(text) && occursIn(text, quoted));

const bin = ['holdfast', 'start'].map((name) =>
  readFileSync(new URL(`../../bin/${name}.mjs`, import.meta.url), 'utf8').replaceAll(/\$\{[^}]*\}/g, '…'),
);
const said = [...allTexts(), ...bin];

const missingIn = (quoted: string[], texts: string[]): string[] =>
  texts.filter((text) => !quoted.some((each) => fits(each, text)));
const inventedIn = (quoted: string[], texts: string[]): string[] =>
  quoted.filter((each) => !texts.some((text) => fits(each, text)));

test('a quoted message says something of its own', () => {
  for (const mark of [
    'status',
    'unjudged',
    'config',
    'start',
    'answers',
    'findings',
    'doctor',
    'pages',
    'log',
  ]) {
    const quoted = quotedIn(mark);
    expect(quoted.length, mark).toBeGreaterThan(4);
    for (const each of quoted) expect(each.replace(/[^A-Za-z]/g, '').length, each).toBeGreaterThan(6);
    expect(new Set(quoted).size, mark).toBe(quoted.length);
  }
});

describe('the status', () => {
  const now = new Date('2026-03-01T09:00:00Z');
  const freeze = (endsAt: Date | null, conditions: object | null = {}) =>
    ({
      freeze: { id: crypto.randomUUID(), endsAt, timezone: 'UTC', reason: 'Quarter end' },
      conditions: conditions && { matching: { judge: () => true }, exclude: null },
    }) as unknown as ParsedFreeze;
  const end = new Date('2026-03-02T09:00:00Z');
  const facts = [{ number: 7, values: { base: 'main' } }] as Parameters<typeof weighTogether>[1];
  const by = (...freezes: ParsedFreeze[]) => ({
    freezes,
    exemptions: [],
    hiding: [] as string[],
    observedAt: now,
  });
  const where = { pullRequest: 7, baseRef: 'main', anyHead: true };
  const exemption = { ...where, freezeIds: null, state: 'approved', expiresAt: end };
  const exempt = (more: object) =>
    ({ ...by(freeze(null)), exemptions: [{ ...exemption, ...more }] }) as unknown as Parameters<
      typeof weighTogether
    >[0];
  const reasons = { reason: 'INC-4711 fix', publicReason: null };
  const head = (...given: Parameters<typeof weighTogether>) => ({
    status: decideHead(weighTogether(...given)),
  });
  const stacked = [1, 2].map((position) => ({
    ...facts[0]!,
    number: 6 + position,
    stack: { number: 1, base: 'main', size: 2, position },
  }));
  const [, above] = weighTogether(by(freeze(end)), stacked);
  const descriptions = [
    { status: decideHead([{ holds: above!.holds.filter(({ isBelow }) => isBelow), passes: [] }]) },
    head(by(), facts),
    head(by(freeze(end)), facts),
    head(by(freeze(null)), facts),
    head(by(freeze(end), freeze(null)), facts),
    head(by(freeze(end)), [...facts, ...facts]),
    head(by(freeze(end, null)), facts),
    head(exempt(reasons), facts),
    head(exempt({ ...reasons, publicReason: '' }), facts),
    head(exempt(reasons), [...facts, ...facts]),
    decideGroup(by(), facts, end),
    decideGroup(by(freeze(end)), facts, end),
  ].map(({ status }) => status.description);
  const final = { state: 'success', description: freeText, isFinal: true };
  descriptions.push(wantedOn({ ...final, isMergeGroup: false }).description);
  descriptions.push(wantedOn({ ...final, isMergeGroup: true }).description);

  test('every description is explained, and no other', () => {
    expect(descriptions).toContain(freeText);
    expect(descriptions).toContain(freeGroupText);
    expect(missingIn(quotedIn('status'), descriptions)).toEqual([]);
    expect(inventedIn(quotedIn('status'), descriptions)).toEqual([]);
  });

  test('every reason why a condition could not be judged is explained', () => {
    const reasons = [
      ...argumentsOf(/^unknownFact$/, 0, /^github\/(?:facts|pull-requests)\//),
      ...allTexts(/^github\/pull-requests\/pull-request\.ts$/).filter((text) => text.includes(' ')),
    ].filter((text) => /\w \w+ /.test(text));
    expect(reasons.length).toBeGreaterThan(6);
    expect(missingIn(quotedIn('unjudged'), [...reasons, 'its conditions cannot be read any more'])).toEqual(
      [],
    );
    expect(inventedIn(quotedIn('unjudged'), said)).toEqual([]);
  });
});

describe('a start that fails', () => {
  const problemsOf = (environment: Partial<Record<string, string>>): string[] => {
    try {
      readConfig(environment);
      return [];
    } catch (error) {
      return (error as ConfigError).problems;
    }
  };
  const key = { PRIVATE_KEY: 'none', WEBHOOK_SECRET: 'secret' };
  const produced = [
    { PUBLIC_URL: 'https://ops.example.com/holdfast' },
    ...[
      ...['PUBLIC KEY', 'CERTIFICATE', 'OPENSSH PRIVATE KEY', 'ENCRYPTED PRIVATE KEY', 'PRIVATE KEY'].map(
        (kind) => `-----BEGIN ${kind}-----\nTm9uZQ==\n-----END ${kind}-----`,
      ),
      ...['-----BEGIN PRIVATE KEY-----', 'SHA256:none', './app.pem'],
    ].map((text) => ({ ...key, APP_ID: '1', PRIVATE_KEY: text })),
    { PORT: 'http', PUBLIC_URL: 'here', DATABASE_URL: 'mysql://db', SECRET_KEY: 'short', ROLE: 'boss' },
    { DATABASE_URL: 'postgres://h/d?sslmode=on' },
    { TRUSTED_PROXIES: '10.0.0.0/33', STATUS_WRITES_PER_MINUTE: 'many' },
    { STATUS_WRITES_PER_MINUTE: '9-8' },
    { PORT: '70000', LOG_LEVEL: 'loud', LOG_FORMAT: 'xml', STATUS_CONTEXT: 'x'.repeat(256) },
    { METRICS_TOKEN: 'short', WEBHOOK_ALLOWED_HOSTS: 'https://chat.corp.example' },
    { METRICS_TOKEN: 'with a space in it' },
    { SLACK_BOT_TOKEN: 'x', SLACK_APP_TOKEN: 'x' },
    { SLACK_BOT_TOKEN: 'xoxb-1' },
    { SLACK_SIGNING_SECRET: 'x' },
    { CLIENT_ID: 'Iv1' },
    { LOCK_APP_ID: 'Iv1' },
    { LOCK_PRIVATE_KEY: 'none' },
    { ...key, APP_ID: '1', LOCK_APP_ID: '1' },
    { APP_ID: 'Iv1', CLIENT_SECRET: 'secret', ...key },
    { APP_ID: '1', WEBHOOK_SECRET: 'secret', PRIVATE_KEY_PATH: '/nowhere.pem' },
    { APP_ID: '1', WEBHOOK_SECRET: 'secret', PRIVATE_KEY_PATH: '/' },
    { SECRET_KEY_FILE: '/dev/null', DATABASE_URL: 'postgres://db', DATABASE_URL_FILE: '/nowhere' },
  ].flatMap(problemsOf);
  const kept = argumentsOf(/^ConfigError$/, 0).filter((text) => text !== '…');

  test('every problem of the configuration is explained, and no other', () => {
    const quoted = quotedIn('config');
    expect(missingIn(quoted, [...produced, ...kept])).toEqual([]);
    expect(inventedIn(quoted, [...produced, ...kept])).toEqual([]);
  });

  test('every message about a variable was produced above', () => {
    const messages = allTexts(/^(?:config|config-values|private-key|secret-files)\.ts$/).filter((text) =>
      /(?:^|\s)(?:must (?:be|have) |is (?:missing|empty)|are both set)|there is no file|cannot be read|does not hold/.test(
        text,
      ),
    );
    expect(messages.length).toBeGreaterThan(12);
    expect(messages.filter((each) => !produced.some((problem) => occursIn(each, problem)))).toEqual([]);
  });

  test('every other reason that stops it is explained, and no other', () => {
    const others = [
      ...argumentsOf(/^(?:Error|UnusableDatabase)$/, 0, /^database\//),
      ...allTexts(/^database\/database-errors\.ts$/).filter((text) => text.includes(': ')),
      ...argumentsOf(/^super$/, 0, /^database\/[^/]+$/),
      ...allTexts(/^main\.ts$/).filter((text) => text.includes('. ') || text.endsWith('.')),
    ].filter((text) => text.includes(' '));
    expect(others.length).toBeGreaterThan(6);
    expect(missingIn(quotedIn('start'), others)).toEqual([]);
    expect(inventedIn(quotedIn('start'), said)).toEqual([]);
  });
});

test('every sentence that the API answers with is explained, and no other', () => {
  const refusals = [
    ...argumentsOf(/^(?:forbidden|notFound|conflict|unavailable)$/, 0),
    ...argumentsOf(/^Refusal$/, 1),
    ...propertiesOf('detail', /^(?!api\/openapi).*/),
  ];
  expect(refusals.length).toBeGreaterThan(25);
  expect(missingIn(quotedIn('answers'), refusals)).toEqual([]);
  expect(inventedIn(quotedIn('answers'), said)).toEqual([]);
});

test('every kind of refusal has its part, under its status', () => {
  const part = between(page, '<!-- answers -->', '<!-- /answers -->');
  for (const [code, status] of Object.entries(refusalStatus)) {
    const section = part.split(/^### /m).find((text) => text.startsWith(String(status)));
    expect(section, code).toContain(`\`${code}\``);
  }
});

test('every finding of the doctor is explained, and no other', () => {
  const paths = /^explanations\/enforcement\/|^cli\/commands\/doctor\.ts$/;
  const findings = [
    ...propertiesOf('message', paths),
    ...variablesOf('message', paths),
    ...argumentsOf(/^found$/, 1, paths),
    // `unknown(check, what, why, at)` says "Holdfast cannot tell what: why."
    ...argumentsOf(/^unknown$/, 1, paths).map((what) => `Holdfast cannot tell ${what}: ….`),
  ].filter((text) => text !== 'Holdfast cannot tell …: ….');
  expect(findings.length).toBeGreaterThan(40);
  expect(missingIn(quotedIn('findings'), findings)).toEqual([]);
  expect(inventedIn(quotedIn('findings'), allTexts(paths))).toEqual([]);
});

test('every reason why the doctor cannot ask is explained, and no other', () => {
  const reasons = [
    ...argumentsOf(/^unknownThing$/, 0, /^cli\/commands\/doctor\.ts$/),
    ...argumentsOf(/^unknownThing$/, 0, /^cli\/service\/service\.ts$/).filter((text) =>
      text.includes('not answer at'),
    ),
  ];
  expect(reasons.length).toBe(6);
  expect(missingIn(quotedIn('doctor'), reasons)).toEqual([]);
  expect(inventedIn(quotedIn('doctor'), reasons)).toEqual([]);
});

test('every page with only a message is explained, and no other', () => {
  const titles = [
    ...argumentsOf(/^stopPage$/, 0),
    ...propertiesOf('heading', /^(?:server\/setup\/|github\/app-credentials-store)/),
    ...propertiesOf(
      'title',
      /^(?:pages\/mount-sign-in|pages\/settings\/create-lock-app|pages\/reader|pages\/message-page|server\/not-served)\.ts$/,
    ),
  ];
  expect(titles.length).toBeGreaterThan(12);
  expect(missingIn(quotedIn('pages'), titles)).toEqual([]);
  expect(inventedIn(quotedIn('pages'), titles)).toEqual([]);
});

test('every line of the log is explained, and no other', () => {
  const callee = /(?:^|\.)log\.(?:info|warn|error|fatal)$/;
  const failed = propertiesOf('logged', /^github\/facts\//);
  const lines = [...argumentsOf(callee, 0), ...argumentsOf(callee, 1), ...failed];
  expect(failed.length).toBe(3);
  expect(lines.length).toBeGreaterThan(35);
  expect(missingIn(quotedIn('log'), lines)).toEqual([]);
  expect(inventedIn(quotedIn('log'), said)).toEqual([]);
});

test('messages that are quoted outside of the tables exist', () => {
  const texts = page
    .split('\n')
    .filter((line) => !line.startsWith('|'))
    .flatMap((line) => [...line.matchAll(/`([A-Z][^`]+ [^`]+ [^`]+[.:…])`/g)].map(([, text]) => text!));
  expect(texts.length).toBeGreaterThan(5);
  expect(inventedIn(texts, said)).toEqual([]);
});
