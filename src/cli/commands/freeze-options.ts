import type { OptionSpec } from '../command.ts';
import type { Schemas } from '../service/service.ts';
import { misused } from '../stop.ts';

/** The end of a freeze, in one of two forms. */
export const endOptions: OptionSpec[] = [
  ['--for <length>', 'how long: 30m, 2h, 3d, 1w'],
  ['--until <time>', 'when it ends: 18:00, "tomorrow 08:00", "mon 08:00", YYYY-MM-DDThh:mm'],
];

export const windowOptions: OptionSpec[] = [
  ['--from <time>', 'when it begins, such as "fri 18:00" (now)'],
  ...endOptions,
  ['--zone <zone>', 'the time zone of these times, such as Europe/Paris (that of this machine)'],
];

export const publicReasonOption: OptionSpec = [
  '--public-reason <reason>',
  'statuses and public pages show this instead of the reason',
];

export const conditionOptions: OptionSpec[] = [
  ['--match <condition>', 'only block pull requests that match, such as base=main; repeat for more', 'many'],
  [
    '--exclude <condition>',
    'exclude pull requests that match, such as label=hotfix; repeat to exclude what matches any',
    'many',
  ],
  ['--exclude-all <condition>', 'exclude pull requests that match all of these; repeat for more', 'many'],
];

export type ConditionOptions = { match?: string[]; exclude?: string[]; excludeAll?: string[] };

/** What the freeze holds. */
export const holdOptions: OptionSpec[] = [
  ['--holds <what>', 'what it blocks: merges, deployments or both (merges)'],
  ['--environment <glob>', 'only deployments to these environments, such as prod-*; repeat for more', 'many'],
  ['--on-deployment <what>', 'what happens to a deployment: wait until the end, or reject (wait)'],
];

export type HoldOptions = { holds?: string; environment?: string[]; onDeployment?: string };

const held = {
  merges: ['merges'],
  deployments: ['deployments'],
  both: ['merges', 'deployments'],
} satisfies Record<string, Schemas['NewScheduledFreeze']['holds']>;

const onDeployment = { wait: 'wait', reject: 'reject' } as const;

/** What the freeze holds, as the API takes it. @throws Stop for other words. */
export function holdsIn({ holds, environment, ...options }: HoldOptions) {
  const chosen = (text: string, words: object, option: string) => {
    if (!Object.hasOwn(words, text))
      throw misused(`${option} is "${text}". Write one of ${Object.keys(words).join(', ')}.`);
  };
  if (holds !== undefined) chosen(holds, held, '--holds');
  if (options.onDeployment !== undefined) chosen(options.onDeployment, onDeployment, '--on-deployment');
  return {
    ...(holds !== undefined && { holds: held[holds as keyof typeof held] }),
    ...(environment && { environments: environment }),
    ...(options.onDeployment !== undefined && {
      on_deployment: onDeployment[options.onDeployment as keyof typeof onDeployment],
    }),
  };
}

type Condition = string | Schemas['MatchingConditionsDict'];

/**
 * The conditions as the API takes them: texts, and groups written as JSON. A pull request is excluded if it matches any
 * `--exclude`, or every `--exclude-all`.
 */
export function conditionsIn({ match = [], exclude = [], excludeAll = [] }: ConditionOptions) {
  const excluded = anyOf(exclude.map(readCondition), excludeAll.map(readCondition));
  return {
    ...(match.length > 0 && { matching_conditions: match.map(readCondition) }),
    ...(excluded.length > 0 && { exclude_conditions: excluded }),
  };
}

/** A list that matches what matches one of `any`, or each of `all`. */
function anyOf(any: Condition[], all: Condition[]): Condition[] {
  if (any.length === 0) return all;
  const ways = [...any, ...(all.length > 1 ? [{ and: all }] : all)];
  return ways.length > 1 ? [{ or: ways }] : ways;
}

function readCondition(text: string): Condition {
  if (!text.trimStart().startsWith('{')) return text;
  try {
    return JSON.parse(text) as Condition;
  } catch {
    throw misused(
      `${text} looks like a group but is not JSON. Write one such as {"or": ["label=a", "label=b"]}.`,
    );
  }
}
