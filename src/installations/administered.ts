/**
 * The repositories of an owner that a caller is known to administer, by name in lower case; null: all there are and
 * will be, as for the owner's admins.
 */
export type Administered = ReadonlySet<string> | null;

/** Whether these are all that something names. @param names in any case of letters; null: it is for the owner's admins. */
export const administersAll = (administered: Administered, names: string[] | null): boolean =>
  administered === null || (names?.every((name) => administered.has(name.toLowerCase())) ?? false);
