import { cutText } from '../cut-text.ts';
import { type Exemption, publicReasonOf } from '../exemptions/exemption.ts';
import { asPublic } from '../freezes/freeze.ts';
import type { ParsedFreeze } from '../freezes/judge-freeze.ts';
import { describeInstant } from '../time/local-time.ts';

type StatusState = 'pending' | 'success' | 'failure';

/** What the commit status of a head SHA should say. */
export type Status = { state: StatusState; description: string };

/** A freeze that holds a pull request, and why. */
export type Hold = {
  freeze: ParsedFreeze['freeze'];
  pullRequest: number;
  /** Why conditions could not be evaluated, if the pull request is held because of that. */
  unjudged: string | null;
  /** Whether that pull request is below the one with the status, in its stack. */
  isBelow?: boolean;
};

/** A freeze that would hold a pull request, and the exemption from it. */
export type Pass = {
  freeze: ParsedFreeze['freeze'];
  pullRequest: number;
  exemption: Exemption;
  /** Whether the exemption covers a freeze with a public reason, so that its own reason is not public. */
  isReasonHidden: boolean;
};

/** GitHub refuses longer descriptions. */
const longestText = 140;

export const freeText = 'No freeze holds this pull request.';

export const freeGroupText = 'No freeze holds this merge group.';

/** The description of the last status of a commit. */
export const lastText = 'This commit has used up its statuses. Push a new commit.';

/** The same for a merge group. */
export const lastGroupText = 'This merge group has used up its statuses. Queue the pull request again.';

/**
 * The wanted status of a commit: the verdict, or the last status if GitHub accepts few more (`plan-write.ts`). The
 * last status stays, even after the freeze. A merge group fails instead, so that GitHub builds another one.
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
 * The description of a holding status: until when, in the freeze's zone, and the public reason. Names the freeze that
 * ends last.
 * @param isShared whether several pull requests have this head SHA, so that the text must say which one is held.
 */
export function frozenText(holds: Hold[], isShared: boolean): string {
  const last = holds.reduce((one, other) => (endInStatus(other) > endInStatus(one) ? other : one));
  const { freeze, pullRequest, unjudged, isBelow } = last;
  const where = isBelow ? ' below it in its stack' : '';
  const who = isShared || isBelow ? `#${pullRequest}${where} is frozen` : 'Frozen';
  const until = freeze.endsAt ? `until ${describeInstant(freeze.endsAt, freeze.timezone)}` : 'until removed';
  const freezes = new Set(holds.map((hold) => hold.freeze.id)).size;
  const more = freezes > 1 ? ` (+${freezes - 1} more)` : '';
  const why = unjudged ? `could not be judged: ${unjudged}` : asPublic(freeze).reason;
  return withReason(`${who} ${until}${more}`, why);
}

/**
 * The description for an exempt pull request: until when, in the freeze's zone, and the public reason. Names the
 * exemption that ends first.
 * @param isShared whether several pull requests have this head SHA.
 */
export function exemptText(passes: Pass[], isShared: boolean): string {
  const first = passes.reduce((one, other) =>
    other.exemption.expiresAt < one.exemption.expiresAt ? other : one,
  );
  const { freeze, pullRequest, exemption, isReasonHidden } = first;
  const who = isShared ? `#${pullRequest} is exempt` : 'Exempt';
  const why = publicReasonOf(exemption, isReasonHidden);
  return withReason(`${who} until ${describeInstant(exemption.expiresAt, freeze.timezone)}`, why);
}

const endInStatus = ({ freeze }: Hold): number => freeze.endsAt?.getTime() ?? Infinity;

/** A description with its reason, if anything of the reason can be seen there. */
const withReason = (text: string, reason: string): string =>
  fit(isSeen.test(onOnePlane(reason)) ? `${text}: ${reason}` : text);

const isSeen = /[^\s\p{C}\p{M}\p{Default_Ignorable_Code_Point}]/u;

/** GitHub refuses characters outside the basic plane. */
const onOnePlane = (text: string): string => text.replace(/[\u{10000}-\u{10ffff}\p{Surrogate}]/gu, '');

/** Fits a text into GitHub's limits: one line, no characters outside the basic plane, and at most `longestText`. */
export function fit(text: string): string {
  const plain = onOnePlane(text)
    // eslint-disable-next-line no-control-regex -- control characters are what is taken out
    .replace(/[\s\u0000-\u001f\u007f]+/g, ' ')
    .trim();
  return plain.length <= longestText ? plain : cutText(plain, longestText).replace(/\s+…$/, '…');
}
