import type { Freeze as FreezeRow } from '../generated/prisma/client.ts';
import {
  eachField,
  type FieldRule,
  type Freeze,
  type FreezeField,
  freezeFields,
  type FreezeFields,
  type StoredFreeze,
} from './freeze.ts';
import { needsOf, parseFreeze } from './judge-freeze.ts';

// Freezes in the database: as rows of Prisma, as JSON of statements, and as SQL.

type FreezeColumnsRow = Pick<
  FreezeRow,
  FreezeField | 'id' | 'startsAt' | 'endsAt' | 'isPause' | 'planId' | 'version'
>;

/** `hasPublicReason`: the name in Prisma of the flag of a field. */
const flagOf = (name: FreezeField): string => `has${name[0]!.toUpperCase()}${name.slice(1)}`;

const rules = Object.entries<FieldRule>(freezeFields) as [FreezeField, FieldRule][];
const flagged = rules.flatMap(([name, { unset }]) => (unset === 'flag' ? [name] : []));
const flags = Object.fromEntries(flagged.map((name) => [name, flagOf(name)]));

function isSet(row: Record<string, unknown>, name: FreezeField, { unset }: FieldRule): boolean {
  if (unset === 'flag') return row[flags[name]!] === true;
  if (unset === 'empty') return (row[name] as unknown[]).length > 0;
  return unset !== 'null' || row[name] !== null;
}

/** The freeze in a row of Prisma. */
export const fromRow = (row: FreezeColumnsRow & Pick<FreezeRow, 'repositoryId'>): StoredFreeze => ({
  ...eachField<FreezeFields>((name, rule) => (isSet(row, name, rule) ? row[name] : undefined)),
  id: row.id,
  repositoryId: row.repositoryId,
  startsAt: row.startsAt,
  endsAt: row.endsAt,
  isPause: row.isPause,
  ...(row.planId !== null && { planId: row.planId }),
  version: row.version,
});

/** When somebody deleted a freeze or ended it early; null for any other, and for one that its plan's change ended. */
export const endedEarlyAt = ({
  deletedAt,
  restores,
  updatedAt,
}: Pick<FreezeRow, 'deletedAt' | 'restores' | 'updatedAt'>): Date | null =>
  deletedAt ?? (restores === null ? null : updatedAt);

/** The columns of a freeze that a change can save, for Prisma. */
export const toRow = (freeze: Freeze) => ({
  ...eachField<Required<FreezeFields>>((name, { unset }) => freeze[name] ?? (unset === 'empty' ? [] : null)),
  ...Object.fromEntries(flagged.map((name) => [flagOf(name), freeze[name] !== undefined])),
  startsAt: freeze.startsAt,
  endsAt: freeze.endsAt,
  reads: [...needsOf([parseFreeze(freeze)]).facts],
  isPause: freeze.isPause ?? false,
});

const isUnset = (row: string, { column, unset }: FieldRule): string =>
  unset === 'flag'
    ? `NOT ${row}.has_${column}`
    : `${row}."${column}" ${unset === 'empty' ? "= '{}'" : 'IS NULL'}`;

/**
 * A freeze as one JSON column, because drivers parse every column of every row. It is a list, because PostgreSQL and
 * `JSON.parse` pay for each name: with names, lists of freezes miss their budgets (`npm run bench -- api`).
 */
export type FreezeJson = [...values: unknown[], seldom: unknown[] | null];

const always = [
  ...rules.flatMap(([name, { column, unset }]) => (unset ? [] : [[name, column] as const])),
  ...([
    ['id', 'id'],
    ['startsAt', 'starts_at'],
    ['endsAt', 'ends_at'],
    ['version', 'version'],
  ] as const),
];
/** What most freezes do not have. */
const seldom = rules.filter(([, { unset }]) => unset);

/** Copying it is quicker than adding one property after another. */
const blank: Record<string, unknown> = Object.fromEntries(
  [...rules, ...always, ['repositoryId'], ['isPause'], ['planId']].map(([name]) => [name, undefined]),
);

/** SQL for a `FreezeJson`. @param row the name of the table. */
export function freezeJson(row: string): string {
  const values = always.map(([, column]) => `${row}."${column}"`);
  const unset = seldom.map(([, rule]) => isUnset(row, rule));
  const rare = seldom.map(
    ([, { column }], index) =>
      `CASE WHEN NOT (${unset[index]}) THEN json_build_array(${row}."${column}") END`,
  );
  const hasNone = [...unset, `NOT ${row}.is_pause`, `${row}.plan_id IS NULL`].join(' AND ');
  return `json_build_array(${values},
    CASE WHEN NOT (${hasNone}) THEN json_build_array(${rare}, ${row}.is_pause, ${row}.plan_id) END)`;
}

export function fromJson(json: FreezeJson, repositoryId: bigint): StoredFreeze {
  const freeze = { ...blank };
  for (let index = 0; index < always.length; index++) freeze[always[index]![0]] = json[index];
  freeze['repositoryId'] = repositoryId;
  freeze['startsAt'] = new Date(freeze['startsAt'] as string);
  if (freeze['endsAt'] !== null) freeze['endsAt'] = new Date(freeze['endsAt'] as string);
  const rare = json[always.length] as unknown[] | null;
  freeze['isPause'] = rare !== null && rare[seldom.length];
  if (rare) {
    seldom.forEach(([name], index) => (freeze[name] = (rare[index] as [unknown] | null)?.[0]));
    freeze['planId'] = rare[seldom.length + 1] ?? undefined;
  }
  return freeze as StoredFreeze;
}

/** SQL for what `attributesOf` gives. @param row the name of the table. */
export function attributesJson(row: string): string {
  const pairs = rules.map(([, { column }]) => `'${column}', ${row}."${column}"`);
  const absent = rules.flatMap(([, rule]) =>
    rule.unset ? [`CASE WHEN ${isUnset(row, rule)} THEN '${rule.column}' END`] : [],
  );
  return `(jsonb_build_object(${pairs}) - array_remove(ARRAY[${absent}], NULL))`;
}
