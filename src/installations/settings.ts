import type { Tx } from '../database/database.ts';

/** What admins of a repository choose for it. */
export type Settings = {
  /** Whether an exemption takes a second person. */
  twoPersonExemptions: boolean;
  /** A freeze without an end is given one so many hours after it begins; null: it is not. */
  longestOpenEndHours: number | null;
  /** Whether comments on pull requests may be commands. */
  commentCommands: boolean;
};

/** The settings of a repository. */
export const readSettings = (tx: Tx, repositoryId: bigint): Promise<Settings> =>
  tx.repository.findUniqueOrThrow({
    where: { id: repositoryId },
    select: { twoPersonExemptions: true, longestOpenEndHours: true, commentCommands: true },
  });

/** The settings as the interface and the audit log show them. */
export const presentSettings = (settings: Settings) => ({
  two_person_exemptions: settings.twoPersonExemptions,
  longest_open_end_hours: settings.longestOpenEndHours,
  comment_commands: settings.commentCommands,
});
