import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageOfNotice, type NoticeMessage } from '../../src/notices/message.ts';
import type { Notice } from '../../src/notices/notice.ts';
import { renderers } from '../../src/notices/render.ts';
import { byKey, exampleNotices, lateNotice, plannedNotices, planNotices } from './example-notices.ts';
import { amount } from '../support/amounts.ts';

// The golden files say what people read. `npm test -- test/notices/messages.test.ts -u` writes them again.

const examples = Object.entries(exampleNotices);
const told: [name: string, notices: [Notice, ...Notice[]]][] = [
  ...examples.map(([type, notice]): [string, [Notice]] => [type, [notice]]),
  ['late', [lateNotice]],
  ['many', planNotices(501)],
  ['planned', plannedNotices],
];

const asText = ({ headline, lines, links }: NoticeMessage): string =>
  [headline, ...lines, ...links.map(({ label, url }) => `[${label}](${url})`)].join('\n');

describe('a message', () => {
  it.each([false, true])('says each type in words (public: %s)', async (publicText) => {
    const all: typeof told = [...told, ['key', [byKey]]];
    const texts = all.map(
      ([name, notices]) => `# ${name}\n${asText(messageOfNotice(notices, { publicText }))}\n`,
    );
    await expect(texts.join('\n')).toMatchFileSnapshot(`golden/messages${publicText ? '-public' : ''}.txt`);
  });

  it('names the first of many repositories, and links to their plan', () => {
    const message = messageOfNotice(planNotices(501), { publicText: false });
    expect(message.headline).toMatch(/^501 repositories of acme are frozen until /);
    expect(message.lines[0]).toBe('service-1, service-2, service-3, service-4, service-5 and 496 more.');
    expect(message.links[0]).toEqual({
      label: 'View the plan',
      url: 'https://holdfast.example/owners/acme/plans/2c9d1e5e-7a3f-4f0e-9f49-2f2f9a2b8c22',
    });
  });

  it('has buttons where Slack has an app of ours', () => {
    const message = messageOfNotice([exampleNotices['exemption.requested']], { publicText: false });
    const actions = [{ id: 'approve', label: 'Approve', value: '7', style: 'primary' } as const];
    expect(renderers.slack({ ...message, actions }).blocks.at(-1)).toMatchObject({
      type: 'actions',
      elements: [{ type: 'button', action_id: 'approve', value: '7', style: 'primary' }],
    });
  });

  const why = 'the plan of acme is GitHub Free, which has no rulesets';
  it.each([
    [false, `GitHub cannot require holdfast/freeze on main, release/1.2: ${why}. So people can merge.`],
    [true, 'GitHub does not require holdfast/freeze on main, release/1.2, so people can merge.'],
  ])('says why a branch cannot require the check, if it is not public: %s', (publicText, line) => {
    const example = exampleNotices['freeze.not_enforced'];
    const notice = { ...example, details: { ...example.details, why } };
    expect(messageOfNotice([notice], { publicText }).lines).toContain(line);
  });

  it.each(examples)('keeps reasons that are not public out of a public %s', (_, notice) => {
    const text = asText(messageOfNotice([notice], { publicText: true }));
    for (const secret of ['provider', 'INC-9', 'Release channel', 'can wait', 'with the team'])
      expect(text).not.toContain(secret);
  });
});

describe.each(Object.entries(renderers))('%s', (kind, render) => {
  it.each(told)('shows %s', async (name, notices) => {
    const body = JSON.stringify(render(messageOfNotice(notices, { publicText: false })), null, 2);
    await expect(`${body}\n`).toMatchFileSnapshot(`golden/${kind}/${name}.json`);
  });
});

/** What people write to see what happens: marks, mentions, links, emoji, halves of characters. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...[
          '<!channel>',
          '<@U1>',
          '@everyone',
          '@here',
          '<users/all>',
          '<at>x</at>',
          '[x](https://evil.example)',
        ],
        ...[
          '*b*',
          '_i_',
          '~s~',
          '`c`',
          '```',
          '> q',
          '# h',
          '- l',
          '||s||',
          '&amp;',
          '<b>',
          '<https://e.example|x>',
        ],
        ...[
          '\u{1f469}\u200d\u{1f680}',
          '\ud800',
          '\udc00',
          '\n',
          '\r\n',
          '\u2028',
          '\u202e',
          '\0',
          '"',
          '\\',
          '\\*',
        ],
        ...[
          '&'.repeat(5_000),
          '<'.repeat(5_000),
          '\u{1f600}'.repeat(5_000),
          '*'.repeat(5_000),
          '漢'.repeat(9_000),
        ],
      ),
      fc.string({ unit: 'binary', maxLength: 40 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join('').slice(0, 10_000));

const anyNotice = fc
  .record({ type: fc.constantFrom(...examples), text: hostile, name: hostile, late: fc.boolean() })
  .map(({ type: [, notice], text, name, late }): Notice => ({
    ...notice,
    late,
    actor: notice.actor && { type: 'application', id: 'k', name },
    freeze: notice.freeze && {
      ...notice.freeze,
      reason: text,
      public_reason: text,
      matching_conditions: [`label=${name}`],
      environments: [name],
    },
    exemption: notice.exemption && { ...notice.exemption, reason: text, public_reason: text },
    details: {
      ...notice.details,
      reason: text,
      environment: name,
      workflow: name,
      ref: text,
      context: name,
      webhook_attributes: { url: text },
    },
  }));

const hostileMessage = fc
  .tuple(anyNotice, fc.boolean())
  .map(([notice, publicText]) => messageOfNotice([notice], { publicText }));

const each = (check: (message: NoticeMessage) => void) =>
  fc.assert(fc.property(hostileMessage, check), { numRuns: amount(150) });

/** A message with the lines of many. */
const longMessage = fc
  .array(hostileMessage, { minLength: 1, maxLength: 20 })
  .map((messages): NoticeMessage => ({ ...messages[0]!, lines: messages.flatMap(({ lines }) => lines) }));

const eachToShow = (check: (message: NoticeMessage) => void) =>
  fc.assert(fc.property(fc.oneof(hostileMessage, longMessage), check), { numRuns: amount(150) });

/** All strings in a body. */
const textsOf = (body: unknown): string[] =>
  typeof body === 'string' ? [body] : Object.values((body ?? {}) as object).flatMap(textsOf);

describe('hostile texts', () => {
  it('are one line each, of whole characters, and short', () => {
    each(({ headline, lines }) => {
      for (const line of [headline, ...lines]) {
        expect(line.isWellFormed() && line.length <= 1_200).toBe(true);
        expect(line).not.toMatch(/[\p{Cc}\u2028\u202e]/u);
      }
    });
  });

  it('stay within the limits of Slack, and make no links or mentions', () => {
    eachToShow((message) => {
      const { text, blocks } = renderers.slack(message);
      const sections = blocks.map((block) => (block['text'] as { text: string }).text);
      expect(blocks.length).toBeLessThanOrEqual(50);
      for (const section of sections) expect(section.length).toBeLessThanOrEqual(3_000);
      expect(sections.join('').length).toBeLessThanOrEqual(13_000);
      expect(text.length).toBeLessThanOrEqual(13_000);
      const ours = message.links.length;
      expect(text.match(/</g)).toHaveLength(ours);
      expect(sections.join('').match(/</g)).toHaveLength(ours);
      expect(text).not.toMatch(/&(?!amp;|lt;|gt;)|@\w|[~`]|\]\(/);
      // The headline is bold, and nothing else.
      expect(text.match(/\*/g)).toHaveLength(2);
    });
  });

  it('stay within the limits of Teams, in runs of text', () => {
    eachToShow((message) => {
      const body = renderers.teams(message) as { attachments: [{ content: { body: { type: string }[] } }] };
      expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(28_000);
      expect(body.attachments[0].content.body.every(({ type }) => type === 'RichTextBlock')).toBe(true);
    });
  });

  it('stay within the limits of Discord, and notify nobody', () => {
    eachToShow((message) => {
      const body = renderers.discord(message) as {
        content: string;
        embeds: [{ description: string }];
        allowed_mentions: object;
      };
      const { description } = body.embeds[0];
      expect(body.content.length).toBeLessThanOrEqual(2_000);
      expect(description.length).toBeLessThanOrEqual(4_096);
      expect(body.allowed_mentions).toEqual({ parse: [] });
      const lines = description.split('\n').slice(0, -1);
      for (const line of [body.content.slice(2, -2), ...lines]) {
        expect(line.replace(/\\[\\*~`|<>[\]#_-]/g, '')).not.toMatch(
          /[\\*~`|<>[\]#]|^-|@\w|(?:^|\s)_|_(?:\s|$)/,
        );
      }
    });
  });

  it('stay within the limits of Google Chat, without HTML', () => {
    eachToShow((message) => {
      const body = renderers.google_chat(message) as { text: string };
      expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(32_000);
      expect(body.text.length).toBeLessThanOrEqual(4_096);
      expect(body.text).not.toMatch(/[<>~`]/);
      expect(textsOf(body).join('').replaceAll('<br>', '')).not.toMatch(/<|>/);
    });
  });
});
