/** What becomes of an exemption: only an approved one lets anything through. */
export const exemptionStates = ['requested', 'approved', 'denied', 'revoked', 'expired', 'used'] as const;
export type ExemptionState = (typeof exemptionStates)[number];

/**
 * What ended an exemption where nobody decided that: another head was pushed, the pull request was pointed at another
 * base branch, its time was up, the last of its freezes ended, or the pull request was merged.
 */
export type EndedBy = 'pushed' | 'retargeted' | 'time' | 'freezes' | 'merged';

/** Lets one pull request through freezes that would hold it. */
export type Exemption = {
  id: string;
  pullRequest: number;
  /** The head at the request, and when GitHub said that the pull request had last changed by then. */
  headSha: string;
  headSeenAt: Date;
  /** The branch that it was to be merged into at the request: it is let through into no other. */
  baseRef: string;
  /** Whether later heads are let through, too. */
  anyHead: boolean;
  /** null: every freeze, also one that begins later. */
  freezeIds: string[] | null;
  reason: string;
  /** What everybody but admins and insiders reads instead. */
  publicReason: string | null;
  state: ExemptionState;
  requestedAt: Date;
  /** Since when it lets through; it stays when that ends. */
  approvedAt: Date | null;
  expiresAt: Date;
  endedAt: Date | null;
};

/** Why somebody is exempt, for everybody to read. @param isHidden whether a freeze that it covers hides its own reason. */
export const publicReasonOf = (
  { reason, publicReason }: Pick<Exemption, 'reason' | 'publicReason'>,
  isHidden: boolean,
): string => publicReason ?? (isHidden ? '' : reason);
