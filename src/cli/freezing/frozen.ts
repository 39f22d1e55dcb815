/** What is to be frozen: one repository by a freeze, more by a plan. */
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

/** The body for the route that makes a plan. Its name is the first line of the reason. */
export const planBody = (body: FreezeBody, repositories: object) => ({
  name: body.reason.split('\n')[0]!.slice(0, 255) || 'Freeze',
  ...{ repositories, ...body },
});
