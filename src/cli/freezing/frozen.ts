/** What to freeze: one repository with a freeze, more with a plan. */
export type Frozen =
  | { kind: 'freeze'; owner: string; repository: string }
  | { kind: 'plan'; owner: string; repositories: { include: string[]; exclude: string[] } };

/** The body for the route that makes a freeze. */
export type FreezeBody = {
  reason: string;
  start: string | null;
  end: string | null;
  timezone: string;
  public_reason?: string;
  matching_conditions?: unknown[];
  exclude_conditions?: unknown[];
};

/** The body for the route that makes a plan. */
export const planBody = (body: FreezeBody, repositories: object) => ({
  name: nameFor(body.reason),
  repositories,
  ...body,
});

/** The default name of a plan: the first line of its reason, up to the 255 characters of a name. */
export const nameFor = (reason: string): string =>
  reason.trim().split(/\r?\n/)[0]!.slice(0, 255).toWellFormed() || 'Freeze';
