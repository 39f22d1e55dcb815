export function instantJson(at: Date): string;
export function instantJson(at: Date | null | undefined): string | null;
/** An instant as GitHub shows it: in whole seconds. */
export function instantJson(at: Date | null | undefined): string | null {
  return at ? `${at.toISOString().slice(0, 19)}Z` : null;
}
