import { html } from 'hono/html';
import type { ConditionInput } from '../conditions/ast.ts';
import type { FreezeFields } from '../freezes/freeze.ts';
import { chips, type FormProblems, textArea, trimmedField } from './form.ts';
import type { Html } from './html.ts';

// Conditions in a form field: one on each line. A line is a condition, such as `label=hotfix`, or nested JSON, such as
// `{"or": ["base=main", "base=next"]}`.

/** The lines of a text that are not empty. */
export const linesOf = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

export const toLines = (conditions: ConditionInput[]): string =>
  conditions.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join('\n');

/** Reads the lines. A line that is not valid JSON stays text: as a condition it is refused, with its position. */
export const fromLines = (text: string): unknown[] =>
  linesOf(text).map((line) => (line.startsWith('{') ? parse(line) : line));

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}

// What a freeze excludes: common conditions to tap, and others as text, one on each line. A pull request that matches
// one of them is excluded, so the API gets them in an `or`.

const usualNames: Record<string, string> = {
  'label=hotfix': 'Label hotfix',
  'label=security': 'Label security',
  '#dependabot-dependency-name>0': 'Dependabot updates',
  draft: 'Drafts',
};
const usual = Object.keys(usualNames);

/** The exceptions of a form: the common ones that are selected, and lines of text. */
export type Exceptions = { usual: string[]; lines: string };

export const readExceptions = (form: URLSearchParams): Exceptions => ({
  usual: usual.filter((each) => form.getAll('exception').includes(each)),
  lines: form.get('exceptions') ?? '',
});

/** As `exclude_conditions` of the API. */
export function excludeConditions({ usual, lines }: Exceptions): unknown[] {
  const all = [...usual, ...fromLines(lines)];
  return all.length > 1 ? [{ or: all }] : all;
}

/** Conditions are about pull requests: a form of deployments alone says none, whatever was typed before. */
export const conditionsBody = <Conditions>(
  { holds }: Pick<HeldFields, 'holds'>,
  conditions: Conditions[],
): Conditions[] => (holds === 'deployments' ? [] : conditions);

/** Shows API conditions, which must all match, in the fields of the form. */
export function exceptionsOf(conditions: ConditionInput[]): Exceptions {
  const [only, ...others] = conditions;
  const one: ConditionInput[] = others.length > 0 ? [{ and: conditions }] : conditions;
  const all = others.length === 0 && typeof only === 'object' && 'or' in only ? only.or : one;
  const isUsual = (each: ConditionInput): each is string => typeof each === 'string' && usual.includes(each);
  return { usual: all.filter(isUsual), lines: toLines(all.filter((each) => !isUsual(each))) };
}

/** The style sheet hides it where the freeze holds deployments alone: conditions say nothing about them. */
export const exceptionFields = ({ usual: chosen, lines }: Exceptions, problems: FormProblems): Html =>
  html`<div class="of-merges">
    ${chips(
      'checkbox',
      { name: 'exception', label: 'Exclude' },
      usual.map((value) => ({ value, label: html`<span title="${value}">${usualNames[value]!}</span>` })),
      chosen,
    )}
    <details ${lines || problems.has('exceptions') ? html`open` : ''}>
      <summary>Other exceptions</summary>
      ${textArea({
        name: 'exceptions',
        label: 'Other exceptions',
        value: lines,
        hint: html`One condition on each line, such as <code>base=release</code>. The freeze excludes pull
          requests that match any of them.`,
        problems,
      })}
    </details>
  </div>`;

// What a freeze holds, in a form.

/** What a freeze holds, as people choose it. */
const held = {
  merges: 'Merges',
  deployments: 'Deployments',
  both: 'Merges and deployments',
} as const;

/** What happens to the deployments that it holds. */
const onDeployment = { wait: 'Wait until the freeze ends', reject: 'Are rejected' } as const;

/** @property environments globs of names, one on each line; empty for all environments. */
export type HeldFields = {
  holds: keyof typeof held;
  environments: string;
  onDeployment: keyof typeof onDeployment;
};

export const heldLabels: Record<keyof HeldFields, string> = {
  holds: 'Blocks',
  environments: 'Environments',
  onDeployment: 'Deployments',
};

export function readHeld(form: URLSearchParams): HeldFields {
  const holds = trimmedField(form, 'holds');
  return {
    holds: Object.hasOwn(held, holds) ? (holds as HeldFields['holds']) : 'merges',
    environments: trimmedField(form, 'environments'),
    onDeployment: trimmedField(form, 'on_deployment') === 'reject' ? 'reject' : 'wait',
  };
}

/** Shows the fields of a freeze or plan in those of the form. */
export const heldOf = ({
  holds = [],
  environments = [],
  onDeployment,
}: Partial<FreezeFields>): HeldFields => ({
  holds: holds.length > 1 ? 'both' : (holds[0] ?? 'merges'),
  environments: environments.join('\n') === '*' ? '' : environments.join('\n'),
  onDeployment: onDeployment ?? 'wait',
});

/** As `holds` of the API. */
export const holdsBody = (holds: string): string[] =>
  holds === 'both' ? ['merges', 'deployments'] : [holds];

/** As `environments` of the API. */
export function environmentsBody(lines: string): string[] {
  const names = linesOf(lines);
  return names.length > 0 ? names : ['*'];
}

/** As the API takes them. */
export const heldBody = ({ holds, environments, onDeployment }: HeldFields) => ({
  holds: holdsBody(holds),
  environments: environmentsBody(environments),
  on_deployment: onDeployment,
});

/** Whether they say something else than that merges are held. */
export const isHeldGiven = ({ holds, environments, onDeployment }: HeldFields): boolean =>
  holds !== 'merges' || environments !== '' || onDeployment !== 'wait';

const choices = (words: Record<string, string>) =>
  Object.entries(words).map(([value, label]) => ({ value, label }));

/** Asks what it blocks. */
export const whatField = ({ holds }: HeldFields, problems: FormProblems, hasFocus = false): Html =>
  chips('radio', { name: 'holds', label: heldLabels.holds, problems, hasFocus }, choices(held), [holds]);

/** Asks which deployments it blocks, and how. The style sheet hides it where it blocks merges alone. */
export const deploymentFields = (
  { environments, onDeployment: chosen }: HeldFields,
  problems: FormProblems,
): Html =>
  html`<div class="of-deployments">
    ${textArea({
      name: 'environments',
      label: heldLabels.environments,
      value: environments,
      hint: html`One name or pattern on each line, such as <code>prod-*</code>. Leave empty for every
        environment. GitHub must wait for Holdfast there.`,
      problems,
      attributes: html`spellcheck="false" autocapitalize="none"`,
    })}
    ${chips('radio', { name: 'on_deployment', label: heldLabels.onDeployment, problems }, choices(onDeployment), [chosen])}
  </div>`;

export const heldFields = (fields: HeldFields, problems: FormProblems): Html =>
  html`${whatField(fields, problems)} ${deploymentFields(fields, problems)}`;
