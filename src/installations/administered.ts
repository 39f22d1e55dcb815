/**
 * The repositories that the caller is an admin of, by name in lower case; null for all current and future repositories,
 * as for the owner's admins.
 */
export type Administered = ReadonlySet<string> | null;

/** Whether the caller administers all of these. @param names in any letter case; null if only the owner's admins do. */
export const administersAll = (administered: Administered, names: string[] | null): boolean =>
  administered === null || (names?.every((name) => administered.has(name.toLowerCase())) ?? false);
