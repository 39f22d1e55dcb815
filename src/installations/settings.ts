import type { Tx } from '../database/database.ts';
import type { Repository } from '../generated/prisma/client.ts';

/** The settings that admins of a repository choose. */
export type Settings = {
  /** Whether an exemption needs a second person. */
  twoPersonExemptions: boolean;
  /** A freeze without an end gets an end this many hours after it begins; null if it does not. */
  longestOpenEndHours: number | null;
  /** Whether people can use commands in comments on pull requests: all, or only those that request something. */
  commentCommands: boolean | 'requests';
};

/** The settings of a repository. */
export const readSettings = async (tx: Tx, repositoryId: bigint): Promise<Settings> =>
  settingsOf(await tx.repository.findUniqueOrThrow({ where: { id: repositoryId }, select: columns }));

const columns = {
  twoPersonExemptions: true,
  longestOpenEndHours: true,
  commentCommands: true,
  commentsOnlyRequest: true,
} as const;
type Columns = Pick<Repository, keyof typeof columns>;

/** The settings in a repository's row. */
export const settingsOf = ({
  twoPersonExemptions,
  longestOpenEndHours,
  commentCommands,
  commentsOnlyRequest,
}: Columns): Settings => ({
  twoPersonExemptions,
  longestOpenEndHours,
  commentCommands: commentCommands && commentsOnlyRequest ? 'requests' : commentCommands,
});

/** A change of settings as a change of the row. */
export const columnsOf = ({ commentCommands, ...others }: SettingsChange): Partial<Columns> => ({
  ...others,
  ...(commentCommands !== undefined && {
    commentCommands: commentCommands !== false,
    commentsOnlyRequest: commentCommands === 'requests',
  }),
});

/** @property each what to set it to; `undefined` keeps it. */
export type SettingsChange = { [Name in keyof Settings]: Settings[Name] | undefined };

/** The settings in the form of the API and the audit log. */
export const presentSettings = (settings: Settings) => ({
  two_person_exemptions: settings.twoPersonExemptions,
  longest_open_end_hours: settings.longestOpenEndHours,
  comment_commands: settings.commentCommands,
});
