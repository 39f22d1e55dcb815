import { type Exemption, publicReasonOf } from '../exemptions/exemption.ts';
import { asPublic } from '../freezes/freeze.ts';
import type { ParsedFreeze } from '../freezes/parsed-freeze.ts';
import { describeInstant } from '../time/local-time.ts';

export type StatusState = 'pending' | 'success' | 'failure';

/** What the commit status of a head SHA should say. */
export type Status = { state: StatusState; description: string };

/** A freeze that holds a pull request, and why. */
export type Hold = {
  freeze: ParsedFreeze['freeze'];
  pullRequest: number;
  /** Set where conditions could not be judged, and the pull request is held for that. */
  unjudged: string | null;
};

/** A freeze that would hold a pull request, and the exemption that lets it through. */
export type Pass = {
  freeze: ParsedFreeze['freeze'];
  pullRequest: number;
  exemption: Exemption;
  /** Whether a freeze that the exemption covers has a public reason, so that the exemption's own is not for everybody. */
  isReasonHidden: boolean;
};

/** GitHub refuses longer ones. */
export const longestText = 140;

export const freeText = 'No freeze holds this pull request.';

export const freeGroupText = 'No freeze holds this merge group.';

/** The last text of a commit whose statuses are used up. */
export const lastText = 'This commit has used up its statuses. Push a new commit.';

/** The same of a merge group. */
export const lastGroupText = 'This merge group has used up its statuses. Queue the pull request again.';

/**
 * The status that is wanted on a commit: the verdict, or where GitHub hardly takes further ones (`status-budget.ts`),
 * the last one, which stays whatever freezes say. A merge group fails, so that GitHub builds another one.
 */
export function wantedOn(head: {
  state: string;
  description: string;
  isFinal: boolean;
  isMergeGroup: boolean;
}): Status {
  if (!head.isFinal) return { state: head.state as StatusState, description: head.description };
  return head.isMergeGroup
    ? { state: 'failure', description: lastGroupText }
    : { state: 'pending', description: lastText };
}

/**
 * The text of a held status: until when, in the freeze's own zone, and why, for everybody to read. Of several freezes the one that
 * lets go last is named.
 * @param isShared whether several pull requests have this head SHA, so that readers must be told which is held.
 */
export function frozenText(holds: Hold[], isShared: boolean): string {
  const last = holds.reduce((one, other) => (endOf(other) > endOf(one) ? other : one));
  const { freeze, pullRequest, unjudged } = last;
  const who = isShared ? `#${pullRequest} is frozen` : 'Frozen';
  const until = freeze.endsAt ? `until ${describeInstant(freeze.endsAt, freeze.timezone)}` : 'until removed';
  const freezes = new Set(holds.map((hold) => hold.freeze.id)).size;
  const more = freezes > 1 ? ` (+${freezes - 1} more)` : '';
  const why = unjudged ? `could not be judged: ${unjudged}` : asPublic(freeze).reason;
  return fit(`${who} ${until}${more}${why === '' ? '' : `: ${why}`}`);
}

/**
 * The text of the status of an exempt pull request: until when, in the zone of the freeze, and why, for everybody to
 * read. Of several exemptions the one that ends first is named.
 * @param isShared whether several pull requests have this head SHA.
 */
export function exemptText(passes: Pass[], isShared: boolean): string {
  const first = passes.reduce((one, other) =>
    other.exemption.expiresAt < one.exemption.expiresAt ? other : one,
  );
  const { freeze, pullRequest, exemption, isReasonHidden } = first;
  const who = isShared ? `#${pullRequest} is exempt` : 'Exempt';
  const why = publicReasonOf(exemption, isReasonHidden);
  return fit(
    `${who} until ${describeInstant(exemption.expiresAt, freeze.timezone)}${why === '' ? '' : `: ${why}`}`,
  );
}

const endOf = ({ freeze }: Hold): number => freeze.endsAt?.getTime() ?? Infinity;

/** In one line, without characters outside the basic plane (GitHub refuses them), within GitHub's length. */
export function fit(text: string): string {
  const plain = text
    .replace(/[\u{10000}-\u{10ffff}\p{Surrogate}]/gu, '')
    // eslint-disable-next-line no-control-regex -- control characters are what is taken out
    .replace(/[\s\u0000-\u001f\u007f]+/g, ' ')
    .trim();
  return plain.length <= longestText ? plain : `${plain.slice(0, longestText - 1).trimEnd()}…`;
}
