import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asCode } from '../../../src/github/markdown.ts';
import {
  commandLine,
  readCommand,
  unknownCommand,
  usages,
  verbs,
} from '../../../src/chat/commands/command.ts';
import { readFreezeWords } from '../../../src/chat/commands/freeze-words.ts';
import { DoubtfulTime } from '../../../src/time/moment.ts';
import { amount } from '../../support/amounts.ts';

const read = (body: string) => {
  const line = commandLine(body);
  return line === null ? null : readCommand(line);
};
const command = (verb: string | null, words = '') => ({ verb, words });

describe('the line of a command in a comment', () => {
  test.each([
    ['/holdfast status', command('status')],
    ['/holdfast status\r\nand why?', command('status')],
    ['/holdfast\tSTATUS  ', command('status')],
    ['/HoldFast Exempt  INC-4711\tfix', command('exempt', 'INC-4711 fix')],
    ['/holdfast exempt INC-4711\n\nIt is urgent.', command('exempt', 'INC-4711')],
    ['/holdfast exempt "the fix"', command('exempt', 'the fix')],
    ['/holdfast exempt “the fix”', command('exempt', 'the fix')],
    ['/holdfast exempt the "right" fix', command('exempt', 'the "right" fix')],
    ['/holdfast approve', command('approve')],
    ['/holdfast approve looks good', command('approve', 'looks good')],
    ['/holdfast deny no', command('deny', 'no')],
    ['/holdfast freeze 2h x', command('freeze', '2h x')],
    ['/holdfast unfreeze it is over', command('unfreeze', 'it is over')],
    ['/holdfast exempt a\0b\ud800', command('exempt', 'ab\ufffd')],
    [' /holdfast status', command('status')],
    ['   /holdfast status', command('status')],
    ['\n/holdfast status', command('status')],
    ['LGTM\n\n/holdfast freeze 2h x', command('freeze', '2h x')],
    ['> what holds it?\n\n/holdfast status', command('status')],
    ['/holdfast status\n/holdfast freeze 2h x', command('status')],
    ['```sh\nnpm test\n```\n/holdfast approve', command('approve')],
    ['<!-- for readers -->\n/holdfast approve', command('approve')],
  ])('%j is a command', (body, expected) => expect(read(body)).toEqual(expected));

  test.each([
    '/holdfast',
    '/holdfast help',
    '/holdfast statusx',
    '/holdfast status please',
    '/holdfast exempt',
    '/holdfast exempt ""',
    '/holdfast exempt\nINC-4711',
    '/holdfast deny   ',
    '/holdfast freeze',
    '/holdfast unfreeze\t',
    '/holdfast constructor x',
  ])('%j is a command that is not understood', (body) => expect(read(body)?.verb).toBeNull());

  test.each([
    '',
    'status',
    'holdfast status',
    '/holdfastx status',
    '/holdfast:status',
    '/hold status',
    '> /holdfast status',
    '`/holdfast status`',
    '    /holdfast status',
    '\t/holdfast status',
    'Write /holdfast approve',
    '```\n/holdfast approve\n```',
    '~~~~ text\n~~~\n/holdfast approve\n~~~~',
    '```\n/holdfast approve',
    '<!--\n/holdfast approve\n-->',
    '<!-- never closed\n/holdfast approve',
  ])('%j is not a command', (body) => expect(commandLine(body)).toBeNull());

  test.each([
    ['/holdfast unfreez it', 'unfreeze <reason>'],
    ['/holdfast stats', 'status'],
    ['/holdfast aprove', 'approve [<commit>]'],
  ])('%j is answered with the nearest command', (line, usage) =>
    expect(unknownCommand(line)).toMatch(`Did you mean \`/holdfast ${usage}\`?\n\nHoldfast knows these`),
  );

  test.each(['/holdfast', '/holdfast exempt', '/holdfast @acme/all', '/holdfast help'])(
    '%j is answered with all commands alone',
    (line) => expect(unknownCommand(line)).toMatch(/^Holdfast knows these commands/),
  );

  test('every usage is a command as it is read', () => {
    for (const verb of verbs) expect(read(usages[verb])).toMatchObject({ verb });
  });

  test('any text is read, only from one of its lines, and can be stored', () => {
    const piece = fc.constantFrom(
      '/holdfast',
      ' ',
      '\t',
      '\n',
      '\r\n',
      'exempt',
      'status',
      '"',
      '\0',
      '@ada',
    );
    const body = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(piece).map((pieces) => pieces.join('')),
    );
    const property = fc.property(body, (body) => {
      const line = commandLine(body);
      if (line === null) return;
      expect(line.toLowerCase().startsWith('/holdfast')).toBe(true);
      expect(line).not.toMatch(/[\n\r\0]/);
      expect(line.isWellFormed()).toBe(true);
      const { verb, words } = readCommand(line);
      expect(verb === null || verbs.includes(verb)).toBe(true);
      expect(readCommand(line.toUpperCase()).verb).toBe(verb);
      expect(words).not.toMatch(/\s\s|^\s|\s$/);
    });
    fc.assert(property, { numRuns: amount(2000) });
  });
});

// 2026-03-04 is a Wednesday. The clocks of Paris go forward on 2026-03-29 and back on 2026-10-25.
const now = Date.parse('2026-03-04T10:30:20Z');
const freeze = (words: string, zone = 'Europe/Paris') => readFreezeWords(words, { now, zone });

describe('the words of a freeze', () => {
  test.each([
    ['2h INC-4711', '2026-03-04T13:31:00', 'INC-4711'],
    ['for 2h INC-4711', '2026-03-04T13:31:00', 'INC-4711'],
    ['2 hours INC-4711', '2026-03-04T13:31:00', 'INC-4711'],
    ['1h 30m INC-4711', '2026-03-04T13:01:00', 'INC-4711'],
    ['2h 30 tests fail', '2026-03-04T13:31:00', '30 tests fail'],
    ['1d CI/CD is down', '2026-03-05T11:31:00', 'CI/CD is down'],
    ['until 18:00 5 tests fail', '2026-03-04T18:00:00', '5 tests fail'],
    ['until 6:30 pm release', '2026-03-04T18:30:00', 'release'],
    ['until 6:30pm release', '2026-03-04T18:30:00', 'release'],
    ['UNTIL Friday 18:00 Weekend', '2026-03-06T18:00:00', 'Weekend'],
    ['until tomorrow at 8:00 the books', '2026-03-05T08:00:00', 'the books'],
    ['until 2026-03-06T18:00 Weekend is near', '2026-03-06T18:00:00', 'Weekend is near'],
    ['until 2026-03-06 18:00 2026 begins', '2026-03-06T18:00:00', '2026 begins'],
    ['until 2026-03-06T18:00Z release', '2026-03-06T19:00:00', 'release'],
  ])('%s', (words, local, reason) => {
    const { end, zone, ...rest } = freeze(words);
    expect([end.local, zone, rest.reason]).toEqual([local, 'Europe/Paris', reason]);
  });

  test.each([
    ['until friday 18:00 America/New_York Weekend', 'America/New_York', '2026-03-06T18:00:00'],
    ['until 18:00 utc Weekend', 'UTC', '2026-03-04T18:00:00'],
    ['2h Asia/Tokyo Weekend', 'Asia/Tokyo', '2026-03-04T21:31:00'],
  ])('%s names its zone', (words, zone, local) =>
    expect(freeze(words)).toMatchObject({ zone, end: { local }, reason: 'Weekend' }),
  );

  test.each([
    ['INC-4711', '"INC-4711" is not a length of time'],
    ['2x INC-4711', '"2x" is not a length of time'],
    ['2h', 'needs a reason'],
    ['until 18:00', 'needs a reason'],
    ['until 18:00 UTC', 'needs a reason'],
    ['until', 'Write a time after until'],
    ['until 18:00 pm', '"18:00 pm" is not understood'],
    ['until 18h release', '"18h" may be 18:00 or 18 hours from now. Write 18:00, or 18h without until.'],
    ['until the end', '"the" is not understood'],
    ['until friday Weekend', '"friday" has no time'],
    ['until tomorrow 8 release', '"tomorrow 8" is not understood'],
    ['until 09:00 release', '"09:00" is 2026-03-04 09:00 Europe/Paris, which is past'],
    ['until 9:30 am release', '"9:30 am" is 2026-03-04 09:30 Europe/Paris, which is past'],
    ['until 12:30 am release', '"12:30 am" is 2026-03-04 00:30 Europe/Paris, which is past'],
    ['until 06/03/2026 18:00 release', '"06/03/2026 18:00" may be read in several ways'],
    ['until 2026-10-25 02:30 release', 'comes twice in Europe/Paris'],
    ['until 2026-03-29 02:30 release', 'Choose another time, or name the zone UTC after it.'],
    ['until 18:00 Europe/Pariss release', '"Europe/Pariss" is not a single time zone'],
    ['until 18:00 CET release', '"CET" is not a single time zone'],
    ['2h PST release', '"PST" is not a single time zone'],
  ])('%s is refused with what was understood', (words, why) => {
    expect(() => freeze(words)).toThrow(DoubtfulTime);
    expect(() => freeze(words)).toThrow(why);
  });

  test('any words are read or refused with a reason, and the time is ahead', () => {
    const word = fc.constantFrom(
      ...[
        'until',
        'for',
        '2h',
        '30',
        'm',
        'fri',
        'friday',
        'tomorrow',
        'at',
        '18:00',
        '9:30',
        'am',
        'pm',
        'UTC',
      ],
      ...['Europe/Paris', 'CET', '2026-03-29', '02:30', '2026-10-25T02:30', 'INC-4711', '@ada', ''],
    );
    const words = fc.oneof(
      fc.array(word, { maxLength: 7 }).map((all) => all.join(' ')),
      fc.string(),
    );
    const property = fc.property(words, (words) => {
      try {
        const { end, reason } = freeze(words);
        expect(end.at).toBeGreaterThanOrEqual(now);
        expect(reason).not.toBe('');
        expect(words.split(/\s+/).join(' ').endsWith(reason)).toBe(true);
      } catch (error) {
        expect(error, String(error)).toBeInstanceOf(DoubtfulTime);
      }
    });
    fc.assert(property, { numRuns: amount(2000) });
  });
});

describe('a text of somebody', () => {
  test.each([
    ['plain', '`plain`'],
    ['@acme/everybody see acme/api#7', '`@acme/everybody see acme/api#7`'],
    ['a `b` c', '`` a `b` c ``'],
    ['``` out', '```` ``` out ````'],
    ['two\nlines\tand \u0007', '`two lines and`'],
    [' \n ', ''],
  ])('%j is written as %s', (text, code) => expect(asCode(text)).toBe(code));

  test('stands in one piece of code that it cannot end, in one line', () => {
    const unit = fc.constantFrom('`', '``', '@ada', '#7', ' ', '\n', '<!--', '](', 'x', '\\');
    const text = fc.oneof(
      fc.array(unit).map((units) => units.join('')),
      fc.string({ unit: 'binary' }),
    );
    const property = fc.property(text, (text) => {
      const code = asCode(text, 60);
      if (code === '') return;
      const [, fence] = /^(`+)(?!`)/.exec(code)!;
      expect(code.endsWith(fence!)).toBe(true);
      const inner = code.slice(fence!.length, -fence!.length);
      expect((inner.match(/`+/g) ?? []).map(({ length }) => length)).not.toContain(fence!.length);
      expect(code).not.toMatch(/[\n\r\u2028\u2029]/);
      expect([...inner.trim()].length).toBeLessThanOrEqual(60);
    });
    fc.assert(property, { numRuns: amount(2000) });
  });
});

test.each([
  ['deployments 2h x', { holds: ['deployments'] }],
  ['Deployments to production until 18:00 x', { holds: ['deployments'], environments: ['production'] }],
  ['both to prod-*,,live 2h x', { holds: ['merges', 'deployments'], environments: ['prod-*', 'live'] }],
  ['both for 2h x', { holds: ['merges', 'deployments'] }],
  ['merges 2h x', {}],
  ['2h deployments to production', {}],
])('%s holds %j', (words, holding) => {
  const now = Date.parse('2026-03-01T09:00:00Z');
  expect(readFreezeWords(words, { now, zone: 'UTC' }).holding).toEqual(holding);
});
