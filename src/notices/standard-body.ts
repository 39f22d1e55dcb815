import type { Notice } from './notice.ts';

/** Bytes. Receivers of Standard Webhooks expect less than 20 kB. */
const largest = 19_500;
/** If it is larger, texts have at most so many characters and lists so many entries, until it fits. */
const cuts = [
  { characters: 4000, entries: 100 },
  { characters: 1000, entries: 50 },
  { characters: 300, entries: 20 },
  { characters: 100, entries: 5 },
];

type Fields = Record<string, unknown>;

/**
 * The body for a receiver of Standard Webhooks.
 * @param publicText whether people outside may read it: public reasons replace reasons, and the reasons of deletions and
 *   decisions are left out.
 */
export function standardBody(notice: Notice, publicText: boolean): string {
  const { type, at, repository, pullRequest, freeze, exemption, details, actor, url, late } = notice;
  const data = {
    repository,
    ...(pullRequest === null ? {} : { pull_request: pullRequest }),
    ...(freeze && { freeze: publicText ? publicFreeze(freeze) : freeze }),
    ...(exemption && { exemption: publicText ? publicExemption(exemption) : exemption }),
    ...(publicText ? publicDetails(details) : details),
    actor,
    url,
    ...(late && { late }),
  };
  const body = { type, timestamp: at.toISOString(), data };
  const whole = JSON.stringify(body);
  const texts = [whole].concat(fits(whole) ? [] : cuts.map((cut) => JSON.stringify(body, cutTo(cut))));
  return texts.find(fits) ?? texts.at(-1)!;
}

const fits = (text: string): boolean => Buffer.byteLength(text) <= largest;

const cutTo = ({ characters, entries }: (typeof cuts)[number]) =>
  function (key: string, value: unknown): unknown {
    if (Array.isArray(value)) return value.slice(0, entries);
    if (typeof value !== 'string' || value.length <= characters || /url$/.test(key)) return value;
    return `${value.slice(0, characters - 1)}…`;
  };

/** The reason of a freeze is public, unless it has a public reason. */
const publicFreeze = (freeze: Fields): Fields => ({
  ...freeze,
  reason: freeze['public_reason'] ?? freeze['reason'],
});

/** It may be from a freeze whose reason is not public, so its own reason is not public either. */
function publicExemption({ decision_reason: _, ...exemption }: Fields): Fields {
  return { ...exemption, reason: exemption['public_reason'] ?? '' };
}

function publicDetails({ reason: _, ...details }: Fields): Fields {
  const before = details['scheduled_freeze_attributes_before'] as Fields | undefined;
  return before ? { ...details, scheduled_freeze_attributes_before: publicFreeze(before) } : details;
}
