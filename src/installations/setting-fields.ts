/**
 * A team of the owner, with the slug that GitHub last gave.
 * @property teamId GitHub's id, which alone gives rights. Null: GitHub had no such team when we looked for its id.
 *   Absent if a version before the ids saved it.
 */
export type TeamHolder = { team: string; teamId?: number | null };

/** Who has a role: a person by GitHub's id, with the login that GitHub last gave, or a team. */
export type RoleHolder = { id: number; login: string } | TeamHolder;

/** The settings that admins of a repository or an owner choose. */
export type SettingValues = {
  /** Whether an exemption needs a second person. */
  twoPersonExemptions: boolean;
  /** A freeze without an end gets an end this many hours after it begins; null if it does not. */
  longestOpenEndHours: number | null;
  /** Whether people can use commands in comments on pull requests: all, or only those that request something. */
  commentCommands: boolean | 'requests';
  /** Who may freeze and unfreeze beside admins. */
  freezers: RoleHolder[];
  /** Who may decide on exemptions beside admins. */
  approvers: RoleHolder[];
  /** How a freeze holds at once, by a ruleset of the second App: not, until the statuses hold, or until its end. */
  instantHold: (typeof instantHolds)[number];
  /** Which deployments that a freeze held go out at its end: the newest of each workflow, or all in turn. */
  releaseDeployments: 'newest' | 'all';
};

export const instantHolds = ['off', 'bridge', 'lock'] as const;

type SettingName = keyof SettingValues;

/** Every setting, in the order of answers. All code that reads or writes whole settings goes by this table. */
const settingFields = {
  twoPersonExemptions: { column: 'two_person_exemptions', byDefault: false },
  longestOpenEndHours: { column: 'longest_open_end_hours', byDefault: null },
  commentCommands: { column: 'comment_commands', byDefault: true },
  freezers: { column: 'freezers', byDefault: [] },
  approvers: { column: 'approvers', byDefault: [] },
  instantHold: { column: 'instant_hold', byDefault: 'off' },
  releaseDeployments: { column: 'release_deployments', byDefault: 'newest' },
} as const satisfies Record<SettingName, { column: string; byDefault: unknown }>;

type Column<Name extends SettingName> = (typeof settingFields)[Name]['column'];

/** Settings by their names in the API. */
export type SettingsByColumn = { [Name in SettingName as Column<Name>]: SettingValues[Name] };

/** What a row has: the settings that were set, and no null. */
export type OwnSettings = Partial<SettingsByColumn>;

const settingNames = Object.keys(settingFields) as SettingName[];

export const settingColumns: readonly (keyof SettingsByColumn)[] = settingNames.map(
  (name) => settingFields[name].column,
);

/** A value for each setting, by its name in the API. */
export const eachSetting = <Values>(valueOf: (name: SettingName) => unknown): Values =>
  Object.fromEntries(settingNames.map((name) => [settingFields[name].column, valueOf(name)])) as Values;

/** The settings that count: a repository's own, else the owner's, else the built-in defaults. */
export const effectiveSettings = (own: OwnSettings, ofOwner: OwnSettings = {}): SettingValues =>
  Object.fromEntries(
    settingNames.map((name) => {
      const { column, byDefault } = settingFields[name];
      return [name, own[column] ?? ofOwner[column] ?? byDefault];
    }),
  ) as SettingValues;

/** SQL for the text of a setting that counts; null for the default. @param repository, account their tables. */
export const settingSql = (name: SettingName, repository = 'r', account = 'a'): string => {
  const { column } = settingFields[name];
  return `coalesce(${repository}.settings->>'${column}', ${account}.settings->>'${column}')`;
};
