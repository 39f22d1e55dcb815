import { isTimeZone } from '../../time/local-time.ts';
import { shorten } from '../long-text.ts';
import { type Duration, endOf, isDuration } from './duration.ts';
import { type Exceptions, excludeConditions, readExceptions } from './exceptions.ts';

/** What the form of *Freeze now* says. */
export type FreezeFields = {
  /** `all`: whatever the owner has, also what comes later. Else those that are ticked. */
  which: 'all' | 'ticked';
  repositories: string[];
  reason: string;
  publicReason: string;
  duration: Duration;
  zone: string;
  exceptions: Exceptions;
};

/** Reads the form, or the ticks that an address brings. @param fallback where it says nothing of which repositories. */
export function readFreezeFields(form: URLSearchParams, fallback: FreezeFields['which']): FreezeFields {
  const repositories = [...new Set(form.getAll('repository'))];
  const which = form.get('which') ?? (repositories.length > 0 ? 'ticked' : fallback);
  const duration = form.get('duration') ?? '';
  const zone = form.get('zone') ?? '';
  return {
    which: which === 'all' ? 'all' : 'ticked',
    repositories,
    reason: (form.get('reason') ?? '').trim(),
    publicReason: (form.get('public_reason') ?? '').trim(),
    duration: isDuration(duration) ? duration : '2h',
    zone: isTimeZone(zone) ? zone : 'UTC',
    exceptions: readExceptions(form),
  };
}

/** What both a freeze and a plan of the API have. */
const shared = (fields: FreezeFields, now: Date) => ({
  reason: fields.reason,
  public_reason: fields.publicReason || null,
  start: null,
  end: endOf(fields.duration, now, fields.zone),
  timezone: fields.zone,
  exclude_conditions: excludeConditions(fields.exceptions),
});

/** The body of the API's new freeze. */
export const freezeBody = (fields: FreezeFields, now: Date) => ({ ...shared(fields, now) });

/** The body of the API's new plan. */
export const planBody = (fields: FreezeFields, now: Date) => ({
  ...shared(fields, now),
  name: shorten(fields.reason, 80) || 'Freeze',
  repositories: { include: fields.which === 'all' ? ['*'] : fields.repositories },
});
