import type { Freeze as FreezeRow } from '../generated/prisma/client.ts';
import {
  eachField,
  type FieldRule,
  type Freeze,
  type FreezeField,
  freezeFields,
  type FreezeFields,
} from './freeze.ts';
import { needsOf, parseFreeze } from './judge-freeze.ts';

// Freezes in the database: as rows of Prisma, as JSON of statements, and as SQL.

/** A freeze with its version, to check that nobody changed it meanwhile. */
export type StoredFreeze = Freeze & { version: number };

type Row = Pick<FreezeRow, FreezeField | 'id' | 'startsAt' | 'endsAt' | 'isPause' | 'planId' | 'version'>;

/** `hasPublicReason`: the name in Prisma of the flag of a field. */
const flagOf = (name: FreezeField): string => `has${name[0]!.toUpperCase()}${name.slice(1)}`;

const rules = Object.entries<FieldRule>(freezeFields) as [FreezeField, FieldRule][];
const flagged = rules.flatMap(([name, { unset }]) => (unset === 'flag' ? [name] : []));

function isSet(row: Record<string, unknown>, name: FreezeField, { unset }: FieldRule): boolean {
  if (unset === 'flag') return row[flagOf(name)] === true;
  if (unset === 'empty') return (row[name] as unknown[]).length > 0;
  return unset !== 'null' || row[name] !== null;
}

/** The freeze in a row of Prisma. */
export const fromRow = (row: Row & Pick<FreezeRow, 'repositoryId'>): StoredFreeze => ({
  ...eachField<FreezeFields>((name, rule) => (isSet(row, name, rule) ? row[name] : undefined)),
  id: row.id,
  repositoryId: row.repositoryId,
  startsAt: row.startsAt,
  endsAt: row.endsAt,
  isPause: row.isPause,
  ...(row.planId !== null && { planId: row.planId }),
  version: row.version,
});

/** The columns of a freeze that a change can save, for Prisma. */
export const toRow = (freeze: Freeze) => ({
  ...eachField<Required<FreezeFields>>((name, { unset }) => freeze[name] ?? (unset === 'empty' ? [] : null)),
  ...Object.fromEntries(flagged.map((name) => [flagOf(name), freeze[name] !== undefined])),
  startsAt: freeze.startsAt,
  endsAt: freeze.endsAt,
  reads: [...needsOf([parseFreeze(freeze)]).facts],
  isPause: freeze.isPause ?? false,
});

/** A freeze as one JSON column, because drivers parse every column of every row. */
export type FreezeJson = Omit<Row, 'startsAt' | 'endsAt'> & { startsAt: string; endsAt: string | null };

const jsonColumns = {
  ...Object.fromEntries(rules.map(([name, { column }]) => [name, column])),
  ...Object.fromEntries(flagged.map((name) => [flagOf(name), `has_${freezeFields[name].column}`])),
  ...{ id: 'id', startsAt: 'starts_at', endsAt: 'ends_at' },
  ...{ isPause: 'is_pause', planId: 'plan_id', version: 'version' },
};

/** SQL for a `FreezeJson`. @param row the name of the table. */
export const freezeJson = (row: string): string =>
  `json_build_object(${Object.entries(jsonColumns).map(([name, column]) => `'${name}', ${row}."${column}"`)})`;

export const fromJson = (json: FreezeJson, repositoryId: bigint): StoredFreeze =>
  fromRow({
    ...json,
    repositoryId,
    startsAt: new Date(json.startsAt),
    endsAt: json.endsAt === null ? null : new Date(json.endsAt),
  });

const isUnset = (row: string, { column, unset }: FieldRule): string =>
  unset === 'flag'
    ? `NOT ${row}.has_${column}`
    : `${row}."${column}" ${unset === 'empty' ? "= '{}'" : 'IS NULL'}`;

/** SQL for what `attributesOf` gives. @param row the name of the table. */
export function attributesJson(row: string): string {
  const pairs = rules.map(([, { column }]) => `'${column}', ${row}."${column}"`);
  const absent = rules.flatMap(([, rule]) =>
    rule.unset ? [`CASE WHEN ${isUnset(row, rule)} THEN '${rule.column}' END`] : [],
  );
  return `(jsonb_build_object(${pairs}) - array_remove(ARRAY[${absent}], NULL))`;
}
