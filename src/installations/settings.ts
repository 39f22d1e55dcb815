import type { Tx } from '../database/database.ts';

/** The settings that admins of a repository choose. */
export type Settings = {
  /** Whether an exemption needs a second person. */
  twoPersonExemptions: boolean;
  /** A freeze without an end gets an end this many hours after it begins; null if it does not. */
  longestOpenEndHours: number | null;
  /** Whether people can use commands in comments on pull requests. */
  commentCommands: boolean;
};

/** The settings of a repository. */
export const readSettings = (tx: Tx, repositoryId: bigint): Promise<Settings> =>
  tx.repository.findUniqueOrThrow({
    where: { id: repositoryId },
    select: { twoPersonExemptions: true, longestOpenEndHours: true, commentCommands: true },
  });

/** The settings in the form of the API and the audit log. */
export const presentSettings = (settings: Settings) => ({
  two_person_exemptions: settings.twoPersonExemptions,
  longest_open_end_hours: settings.longestOpenEndHours,
  comment_commands: settings.commentCommands,
});
