import type { AttributeName, AttributeValues } from '../../conditions/attributes.ts';
import type { CheckAttribute } from '../../conditions/attributes/rows.ts';
import { didNotGive, type Fact, known, unknownFact } from '../pull-requests/pull-request.ts';
import {
  andThen,
  type AttributeGroup,
  emptyPage,
  field,
  listField,
  map,
  type FactsPage,
  pageField,
  listGroup,
} from './attribute-group.ts';
import { instantOfFact } from './own-values.ts';

export type ContextAnswer =
  | {
      __typename: 'CheckRun';
      name: string;
      status: string;
      conclusion: string | null;
      startedAt: string | null;
      completedAt: string | null;
      checkSuite: { app: { slug: string } | null };
    }
  | { __typename: 'StatusContext'; context: string; state: string; createdAt: string };

/** The state of one check run or one commit status. */
type Report = {
  name: string;
  /** Commit statuses have no App. */
  app: string | null;
  state: State;
  /** Milliseconds since the epoch; Infinity before the start. */
  startedAt: number;
  endedAt: number;
};

type State = 'success' | 'failure' | 'cancelled' | 'timed-out' | 'neutral' | 'skipped' | 'stale' | 'pending';

const attributesOf: Record<State, readonly CheckAttribute[]> = {
  success: ['check-success', 'check-success-or-neutral'],
  failure: ['check-failure'],
  cancelled: ['check-failure', 'check-cancelled'],
  'timed-out': ['check-failure', 'check-timed-out'],
  neutral: ['check-neutral', 'check-success-or-neutral'],
  skipped: ['check-skipped'],
  stale: ['check-stale'],
  pending: ['check-pending'],
};

/** The facts that need only checks; `check-pending` also needs the required ones. */
export const reportedAttributes = [...new Set(Object.values(attributesOf).flat())].filter(
  (name) => name !== 'check-pending',
) as AttributeName[];

const stateOfCheck: Readonly<Record<string, State>> = {
  SUCCESS: 'success',
  FAILURE: 'failure',
  ERROR: 'failure',
  ACTION_REQUIRED: 'failure',
  STARTUP_FAILURE: 'failure',
  CANCELLED: 'cancelled',
  TIMED_OUT: 'timed-out',
  NEUTRAL: 'neutral',
  SKIPPED: 'skipped',
  STALE: 'stale',
};

/**
 * The names of checks and commit statuses by state, and `@app/name` for those of Apps.
 * @param ownContext our commit status, which conditions must not read.
 * @param required contexts that the base branch requires; those without a report are pending. null if they are not
 *   known: then the pending ones are not known either.
 */
export function readChecks(
  contexts: ContextAnswer[],
  ownContext: string,
  required: readonly string[] | null,
): AttributeValues {
  const isOwn = (name: string) => name.toLowerCase() === ownContext.toLowerCase();
  const reports = contexts.map(reportOf).filter(({ name }) => !isOwn(name));
  const lists = listsOf(newestBy(reports, ({ name }) => name));
  const ofApps = listsOf(newestBy(reports, ({ app, name }) => app && `@${app}/${name}`));

  const { 'check-pending': begun, ...ended } = lists;
  const reported = new Set(reports.map(({ name }) => name.toLowerCase()));
  const unreported = required?.filter((name) => !isOwn(name) && !reported.has(name.toLowerCase()));
  const pending = unreported && { 'check-pending': [...new Set([...begun, ...unreported])] };

  const qualified = Object.entries(ofApps).map(([attribute, names]) => [`@${attribute}`, names]);
  return { ...ended, ...pending, ...Object.fromEntries(qualified) };
}

function reportOf(context: ContextAnswer): Report {
  if (context.__typename === 'StatusContext') {
    const at = Date.parse(context.createdAt);
    const state = stateOfCheck[context.state] ?? 'pending';
    return { name: context.context, app: null, state, startedAt: at, endedAt: at };
  }
  const { name, status, conclusion, checkSuite } = context;
  const startedAt = instantOfFact(context.startedAt);
  const endedAt = instantOfFact(context.completedAt);
  return {
    name,
    app: checkSuite.app?.slug ?? null,
    state: (status === 'COMPLETED' && stateOfCheck[conclusion ?? '']) || 'pending',
    startedAt: startedAt ?? endedAt ?? Infinity,
    endedAt: endedAt ?? startedAt ?? -Infinity,
  };
}

/** The newest report for each key. A report whose key is null is left out. */
function newestBy(reports: Report[], keyOf: (report: Report) => string | null): Map<string, State> {
  const states = new Map<string, State>();
  for (const [key, same] of Map.groupBy(reports, keyOf)) {
    if (key !== null) states.set(key, newestOf(same).state);
  }
  return states;
}

/** The report that ended last, unless another one began later and still runs. */
function newestOf(reports: Report[]): Report {
  const ended = latest(
    reports.filter(({ state }) => state !== 'pending'),
    ({ endedAt }) => endedAt,
  );
  const running = latest(
    reports.filter(({ state }) => state === 'pending'),
    ({ startedAt }) => startedAt,
  );
  if (!ended || !running) return (ended ?? running)!;
  return running.startedAt >= ended.startedAt ? running : ended;
}

const latest = (reports: Report[], at: (report: Report) => number): Report | undefined =>
  reports.reduce<Report | undefined>((one, other) => (one && at(one) > at(other) ? one : other), undefined);

function listsOf(states: Map<string, State>): Record<CheckAttribute, string[]> {
  const names = Object.values(attributesOf).flat();
  const lists = Object.fromEntries(names.map((name) => [name, [] as string[]])) as Record<
    CheckAttribute,
    string[]
  >;
  for (const [key, state] of states) {
    for (const attribute of attributesOf[state]) lists[attribute].push(key);
  }
  return lists;
}

const context = /* GraphQL */ `
  __typename
  ... on CheckRun { name status conclusion startedAt completedAt checkSuite { app { slug } } }
  ... on StatusContext { context state createdAt }
`;
type Rollup = { contexts: FactsPage<ContextAnswer> | null };
const checks = listField<ContextAnswer>(
  'checks',
  'checks',
  (which) => `checks: statusCheckRollup { contexts(${which}) ${pageField(context)} }`,
  // A commit without checks has no rollup.
  { ofHead: true, unwrap: (rollup) => (rollup === null ? emptyPage : (rollup as Rollup).contexts) },
);

export const ofChecks: AttributeGroup = {
  needs: ['checks', 'required-checks'],
  attributes: reportedAttributes,
  fields: [checks],
  changedBy: ['check_run'],
  read: async ({ list, statusContext }) =>
    map(await list(checks), (contexts) => readChecks(contexts, statusContext, null)),
};

type BaseRefAnswer = {
  refUpdateRule: { requiredStatusCheckContexts: (string | null)[] | null } | null;
  rules: FactsPage<{
    type: string;
    parameters: { requiredStatusChecks?: { context: string }[] } | null;
  }> | null;
};
const rule = /* GraphQL */ `
  type
  parameters { ... on RequiredStatusChecksParameters { requiredStatusChecks { context } } }
`;
const baseRef = field<BaseRefAnswer>(
  'baseRef',
  'required checks',
  `baseRef { refUpdateRule { requiredStatusCheckContexts } rules(first: 100) ${pageField(rule)} }`,
);

/** The contexts that the base branch requires, by its protection and by rulesets. */
export function readRequiredChecks(baseRef: BaseRefAnswer | null): Fact<string[]> {
  const rules = baseRef?.rules;
  // Reads one page: nobody has more than a hundred rules for one branch.
  if (!rules?.nodes || rules.nodes.includes(null) || rules.pageInfo.hasNextPage) {
    return unknownFact(didNotGive('required checks'));
  }
  const ofProtection = baseRef?.refUpdateRule?.requiredStatusCheckContexts ?? [];
  const ofRules = rules.nodes.flatMap((rule) => rule?.parameters?.requiredStatusChecks ?? []);
  const contexts = [...ofProtection, ...ofRules.map(({ context }) => context)];
  return known([...new Set(contexts.filter((context) => context !== null))]);
}

export const ofRequiredChecks: AttributeGroup = {
  needs: ['required-checks'],
  attributes: ['check-pending'],
  fields: [baseRef, checks],
  read: async ({ value, list, statusContext }) => {
    const required = andThen(await value(baseRef), readRequiredChecks);
    if (!required.known) return required;
    return map(await list(checks), (contexts) => readChecks(contexts, statusContext, required.value));
  },
};

type DeploymentAnswer = {
  environment: string | null;
  createdAt: string;
  latestStatus: { state: string } | null;
};

/** The environments where the newest deployment of the head commit succeeded, or failed. */
export function readDeployments(deployments: DeploymentAnswer[]): AttributeValues {
  const newest = new Map<string, DeploymentAnswer>();
  for (const deployment of deployments) {
    const { environment, createdAt } = deployment;
    if (environment === null) continue;
    const other = newest.get(environment);
    if (!other || Date.parse(createdAt) > Date.parse(other.createdAt)) newest.set(environment, deployment);
  }
  const ended = (...states: string[]) =>
    [...newest]
      .filter(([, { latestStatus }]) => states.includes(latestStatus?.state ?? ''))
      .map(([name]) => name);
  return { 'deployment-success': ended('SUCCESS'), 'deployment-failure': ended('FAILURE', 'ERROR') };
}

const order = 'orderBy: { field: CREATED_AT, direction: DESC }';
const deployments = listField<DeploymentAnswer>(
  'deployments',
  'deployments',
  (which) => `deployments(${which}, ${order}) ${pageField('environment createdAt latestStatus { state }')}`,
  { ofHead: true },
);
// The former deployment of an environment becomes inactive without an event.
export const deploymentChecks = listGroup(
  'deployments',
  ['deployment-success', 'deployment-failure'],
  deployments,
  readDeployments,
  ['deployment_status'],
);
