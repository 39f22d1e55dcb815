/**
 * Who made a change, as the audit log shows it: an application key by its uuid, a person by GitHub's id, or a job of
 * GitHub Actions by the uuid of the rule that let it in, with the page of its run.
 */
export type Actor =
  | { type: 'application'; id: string; name: string; run?: string }
  | { type: 'user'; id: number; name: string };

/** Holdfast, for what it finds by itself. */
export const ourselves: Actor = { type: 'application', id: 'holdfast', name: 'Holdfast' };
