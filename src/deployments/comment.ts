import { asPublic, longestWait } from '../freezes/freeze.ts';
import type { StoredFreeze } from '../freezes/freeze-columns.ts';
import { asCode } from '../github/markdown.ts';
import { describeInstant } from '../time/local-time.ts';
import type { Deployment } from './deployment.ts';

// What GitHub shows beside a deployment, in its Markdown. Everybody who can read the repository sees it.

/** GitHub takes fewer than 1,024 characters. A reason of 200 characters leaves room for the rest. */
export const mostComment = 1_023;

/** The address of the page of a freeze. */
type PageOf = (freeze: StoredFreeze) => string;

/** Why it waits, and until when. @param now decides whether GitHub waits for long enough. */
export function holdingComment(freezes: StoredFreeze[], pageOf: PageOf, now: Date): string {
  const last = lastOf(freezes);
  const isTooLong = last.endsAt === null || last.endsAt.getTime() - now.getTime() > longestWait;
  const decides =
    last.endsAt === null
      ? 'Holdfast decides when somebody ends the freeze.'
      : 'Holdfast decides at that time.';
  return fit([
    `A freeze holds this deployment ${described(freezes)}`,
    decides,
    ...(isTooLong ? ['GitHub fails a job that waits for more than 30 days.'] : []),
    link(last, pageOf),
  ]);
}

/** The same words, where the freeze rejects deployments. */
export const rejectingComment = (freezes: StoredFreeze[], pageOf: PageOf): string =>
  fit([
    `A freeze holds this deployment ${described(freezes)}`,
    'It rejects deployments, so run the workflow again when the freeze is over.',
    link(lastOf(freezes), pageOf),
  ]);

/** @param page the address of the newer run at GitHub. */
export const supersededComment = (by: Deployment, page: string): string =>
  fit([
    `The freeze is over. This deployment is superseded by [run ${by.runNumber}](${page}) of ${asCode(by.workflow)}.`,
  ]);

/** @param wasHeld whether a freeze held it. */
export const approvingComment = (wasHeld: boolean): string =>
  wasHeld ? 'No freeze holds this deployment any more.' : 'No freeze holds this deployment.';

/** @param reason the exemption's, as far as it is public. */
export const exemptComment = (reason: string): string =>
  fit([`An exemption lets this deployment go${reason === '' ? '' : `: ${asCode(reason)}`}.`]);

/** The freeze that ends last. */
const lastOf = (freezes: StoredFreeze[]): StoredFreeze =>
  freezes.reduce((one, other) => (endOf(other) > endOf(one) ? other : one));

const endOf = ({ endsAt }: StoredFreeze): number => endsAt?.getTime() ?? Infinity;

function described(freezes: StoredFreeze[]): string {
  const last = lastOf(freezes);
  const until = last.endsAt
    ? `until ${describeInstant(last.endsAt, last.timezone)}`
    : 'until somebody ends the freeze';
  const more = freezes.length > 1 ? ` (and ${freezes.length - 1} more)` : '';
  const reason = asCode(asPublic(last).reason);
  return `${until}${more}${reason === '' ? '.' : `: ${reason}.`}`;
}

const link = (freeze: StoredFreeze, pageOf: PageOf): string => `[See the freeze](${pageOf(freeze)}).`;

const fit = (sentences: string[]): string => sentences.join(' ').slice(0, mostComment).toWellFormed();
