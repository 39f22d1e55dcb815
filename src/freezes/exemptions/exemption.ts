/** The states of an exemption. Only an approved one has an effect. */
export const exemptionStates = ['requested', 'approved', 'denied', 'revoked', 'expired', 'used'] as const;
export type ExemptionState = (typeof exemptionStates)[number];

/**
 * What ended an exemption without a decision: somebody pushed another head, the base branch changed, it expired, its last
 * freeze ended, or the pull request was merged.
 */
export type EndedBy = 'pushed' | 'retargeted' | 'time' | 'freezes' | 'merged';

/** The deployment that is exempt: of a commit or of a run (the other is null), to one environment. */
export type ExemptDeployment = {
  environment: string;
  sha: string | null;
  /** Also the run that goes out with the exemption of its commit. */
  runId: bigint | null;
  /** The attempt that goes out with it; null if none does yet. */
  attempt: number | null;
};

/** Exempts one pull request from freezes that would hold it. */
export type Exemption = {
  id: string;
  pullRequest: number;
  /** The head at the time of the request, and when the pull request had last changed by then, according to GitHub. */
  headSha: string;
  headSeenAt: Date;
  /** The base branch at the time of the request. The exemption applies to no other base branch. */
  baseRef: string;
  /** Whether it also applies to later heads. */
  anyHead: boolean;
  /** Null for every freeze, including future ones. */
  freezeIds: string[] | null;
  reason: string;
  /** Replaces the reason for everybody but admins and insiders. */
  publicReason: string | null;
  state: ExemptionState;
  requestedAt: Date;
  /** When it was approved. Stays set after its end. */
  approvedAt: Date | null;
  expiresAt: Date;
  endedAt: Date | null;
};

/** The public reason of an exemption. @param isHidden whether it covers a freeze with a public reason. */
export const publicReasonOf = (
  { reason, publicReason }: Pick<Exemption, 'reason' | 'publicReason'>,
  isHidden: boolean,
): string => publicReason ?? (isHidden ? '' : reason);
