import { isTimeZone } from '../../time/local-time.ts';
import { shorten } from '../long-text.ts';
import { type Duration, endOf, isDuration } from './duration.ts';
import { type Exceptions, excludeConditions, readExceptions } from './exceptions.ts';

/** The fields of the *Freeze now* form. */
export type FreezeFields = {
  /** `all`: every repository of the owner, including future ones. `ticked`: the selected ones. */
  which: 'all' | 'ticked';
  repositories: string[];
  reason: string;
  publicReason: string;
  duration: Duration;
  zone: string;
  exceptions: Exceptions;
};

/** The label of each field. */
export const labels: Record<keyof FreezeFields, string> = {
  which: 'Repositories',
  repositories: 'Repositories',
  reason: 'Reason',
  publicReason: 'Public reason',
  duration: 'Duration',
  zone: 'Time zone',
  exceptions: 'Exclude',
};

/** Reads the form, or the repositories in a URL. @param fallback the choice if neither names repositories. */
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

/** The fields that a freeze and a plan share in the API. */
const shared = (fields: FreezeFields, now: Date) => ({
  reason: fields.reason,
  public_reason: fields.publicReason || null,
  start: null,
  end: endOf(fields.duration, now, fields.zone),
  timezone: fields.zone,
  exclude_conditions: excludeConditions(fields.exceptions),
});

/** The API body for a new freeze. */
export const freezeBody = (fields: FreezeFields, now: Date) => ({ ...shared(fields, now) });

/** The API body for a new plan. */
export const planBody = (fields: FreezeFields, now: Date) => ({
  ...shared(fields, now),
  name: shorten(fields.reason, 80) || 'Freeze',
  repositories: { include: fields.which === 'all' ? ['*'] : fields.repositories },
});
