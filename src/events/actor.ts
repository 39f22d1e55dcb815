/** Who made a change, as the audit log shows it: an application key by its uuid, a person by GitHub's id. */
export type Actor =
  { type: 'application'; id: string; name: string } | { type: 'user'; id: number; name: string };

/** Holdfast, for what it finds by itself. */
export const ourselves: Actor = { type: 'application', id: 'holdfast', name: 'Holdfast' };
