/** The settings of a unit, each with its values in their order. */
export function readUnit(text: string): Map<string, string[]> {
  const lines = text.split('\n').filter((line) => /^\w+=/.test(line));
  const settings = lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);
  return new Map(
    [...Map.groupBy(settings, ([name]) => name!)].map(([name, all]) => [
      name,
      all.map(([, value]) => value!),
    ]),
  );
}

/** The variables of `Environment=`, or of a line each in an `EnvironmentFile=`. Quotes are not read. */
export const variablesIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split(/\s+/)
      .filter(Boolean)
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
