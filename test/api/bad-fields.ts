// Bad values of one field, for every body that has it.

export type Bad = { body: unknown; loc: (string | number)[]; says?: RegExp };
export type Row = {
  path: () => string;
  as: 'admin' | 'ci';
  good: Record<string, unknown>;
  required: string[];
  /** Whether no body is as good as an empty one. */
  isOptional?: true;
  bad: Bad[];
};

export const emoji = '🧊';
export const text = (field: string, more: object = {}): Bad[] => [
  { body: { ...more, [field]: 1 }, loc: ['body', field], says: /Send a string, not a number/ },
  { body: { ...more, [field]: true }, loc: ['body', field], says: /Send a string, not a boolean/ },
  { body: { ...more, [field]: ['x'] }, loc: ['body', field], says: /Send a string, not a list/ },
  { body: { ...more, [field]: { $ne: '' } }, loc: ['body', field], says: /Send a string, not an object/ },
  { body: { ...more, [field]: 'nul\0' }, loc: ['body', field], says: /NUL/ },
  { body: { ...more, [field]: 'half \ud83e' }, loc: ['body', field], says: /surrogate/ },
  { body: { ...more, [field]: '\udd83\ud83e' }, loc: ['body', field], says: /surrogate/ },
];
export const longText = (field: string, most: number, more: object = {}): Bad[] => [
  {
    body: { ...more, [field]: 'x'.repeat(most + 1) },
    loc: ['body', field],
    says: new RegExp(`at most ${most}`),
  },
  {
    body: { ...more, [field]: emoji.repeat(most + 1) },
    loc: ['body', field],
    says: new RegExp(`at most ${most}`),
  },
];
export const lists = (field: string, more: object = {}): Bad[] => [
  { body: { ...more, [field]: 'label=x' }, loc: ['body', field], says: /Send a list, not a string/ },
  { body: { ...more, [field]: {} }, loc: ['body', field], says: /Send a list, not an object/ },
  { body: { ...more, [field]: { length: 1, 0: 'x' } }, loc: ['body', field], says: /Send a list/ },
];
export const badConditions = (field: string, more: object = {}): Bad[] => [
  ...lists(field, more),
  { body: { ...more, [field]: ['nonsense'] }, loc: ['body', field, 0], says: /Invalid condition 'nonsense'/ },
  // The message quotes the expression, up to its limit.
  { body: { ...more, [field]: [`title~=(${emoji.repeat(150)}`] }, loc: ['body', field, 0], says: /🧊…/u },
  { body: { ...more, [field]: ['label=x', 1] }, loc: ['body', field, 1], says: /A condition is/ },
  { body: { ...more, [field]: [null] }, loc: ['body', field, 0], says: /A condition is/ },
  { body: { ...more, [field]: [{}] }, loc: ['body', field, 0], says: /exactly one/ },
  {
    body: { ...more, [field]: [{ and: ['label=x'], or: [] }] },
    loc: ['body', field, 0],
    says: /exactly one/,
  },
  { body: { ...more, [field]: [{ constructor: [] }] }, loc: ['body', field, 0], says: /exactly one/ },
  { body: { ...more, [field]: [{ and: [] }] }, loc: ['body', field, 0], says: /at least one/ },
  { body: { ...more, [field]: [{ and: { length: 1 } }] }, loc: ['body', field, 0, 'and'], says: /list/ },
  { body: { ...more, [field]: [{ not: null }] }, loc: ['body', field, 0, 'not'], says: /A condition is/ },
  { body: { ...more, [field]: Array(501).fill('label=x') }, loc: ['body', field], says: /at most 500/ },
];

export const notNull = (field: string, more: object = {}): Bad => ({
  body: { ...more, [field]: null },
  loc: ['body', field],
  says: /not null/,
});
