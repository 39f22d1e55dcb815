import { holderText } from './role-holders.ts';
import {
  eachSetting,
  type OwnSettings,
  type RoleHolder,
  settingColumns,
  type SettingValues,
  type SettingsByColumn,
} from '../installations/setting-fields.ts';

/** The form of the API: people and teams as people write them. */
export type Presented = {
  [Column in keyof SettingsByColumn]: SettingsByColumn[Column] extends RoleHolder[]
    ? string[]
    : SettingsByColumn[Column];
};

/** Settings as the API and the audit log show them. @param owner the login of the owner of the teams. */
export const presentSettings = (settings: SettingValues, owner: string): Presented =>
  eachSetting((name) =>
    name === 'freezers' || name === 'approvers'
      ? settings[name].map((holder) => holderText(holder, owner))
      : settings[name],
  );

/** The names of the settings that a repository has from its owner. @param own what it set itself. */
export const inheritedBy = (own: OwnSettings): string[] =>
  settingColumns.filter((column) => own[column] === undefined);
