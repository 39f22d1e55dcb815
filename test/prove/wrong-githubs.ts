// For each step, a GitHub that does otherwise in this one thing, wherever it is asked.
import type { Fault } from '../../sandbox/http/faults.ts';
import type { Sandbox } from '../../sandbox/github.ts';

type Distort = NonNullable<Fault['answer']>;
type Real = Parameters<Distort>[0];

const answers = (match: Fault['match'], distort: (real: Real, path: string) => ReturnType<Distort>) => ({
  install: (github: Sandbox) =>
    void github.faults.add({ kind: 'answer', match, answer: (real, { path }) => distort(real, path) }),
});

const loses = (event: string, action?: string) => ({
  install: (github: Sandbox) =>
    void github.webhookFaults.add({ kind: 'drop', event, ...(action && { action }) }),
});

const merged = { status: 200, body: { merged: true, message: 'Pull Request successfully merged' } };
const refused = { status: 405, body: { message: 'Required status check "holdfast/freeze" is expected.' } };

type Asked = {
  real: Real;
  isMerged: boolean;
  /** The states and creators of Holdfast's statuses on the head, oldest first. */
  states: string[];
  by: string | undefined;
  /** A head before a push; undefined if nobody pushed. */
  former: string | undefined;
  github: Sandbox;
  fullName: string;
  number: number;
};

/** Answers about one pull request: the path begins with it, and ends so. */
const ofPullRequest = (method: string, end: string, distort: (asked: Asked) => ReturnType<Distort>) => ({
  install(github: Sandbox) {
    const match = { method, path: new RegExp(`^/repos/[^/]+/[^/]+/pulls/\\d+${end}$`) };
    github.faults.add({
      ...{ kind: 'answer', match },
      answer(real, { path }) {
        const [, , owner, name, , text] = path.split('/');
        const [fullName, number] = [`${owner}/${name}`, Number(text)];
        const { headSha, state } = github.pullRequest(fullName, number);
        const isMerged = state === 'merged';
        const history = github.statusHistory(fullName, headSha, 'holdfast/freeze');
        const pushed = github.deliveries.find(
          ({ action, payload }) =>
            action === 'synchronize' &&
            payload.number === number &&
            payload.repository.full_name === fullName,
        );
        const states = history.map(({ state }) => state);
        const former = pushed?.payload.before as string | undefined;
        return distort({
          real,
          isMerged,
          states,
          by: history.at(-1)?.creator,
          former,
          github,
          fullName,
          number,
        });
      },
    });
  },
});

/** Answers about one run of a workflow: null for the real one. */
const ofRun = (
  distort: (asked: { real: Real; reviews: { state: string }[]; jobs: number }) => object | null,
) => ({
  install(github: Sandbox) {
    github.faults.add({
      ...{ kind: 'answer', match: { method: 'GET', path: /\/actions\/runs\/\d+$/ } },
      answer(real, { path }) {
        const [, , owner, name, , , id] = path.split('/');
        const run = github.runsOf(`${owner}/${name}`).find((each) => each.id === Number(id))!;
        const body = distort({ real, reviews: run.reviews, jobs: run.jobs.length });
        return body && { status: 200, body };
      },
    });
  },
});

const merging = (isWrong: (asked: Asked) => boolean) =>
  ofPullRequest('PUT', '/merge', (asked) => (asked.real.status === 405 && isWrong(asked) ? merged : null));
const inBackground = (distort: (asked: Asked) => ReturnType<Distort>) =>
  ofPullRequest('GET', '/merge-async/.+', distort);
const queueEntry = (distort: (real: Real) => object | null | undefined) => ({
  install: (github: Sandbox) =>
    void github.faults.add({
      kind: 'answer',
      match: ({ operationName }) => operationName === 'QueueEntry',
      answer(real) {
        const entry = distort(real);
        return entry === undefined
          ? null
          : { status: 200, body: { data: { node: { mergeQueueEntry: entry } } } };
      },
    }),
});
const posting = (distort: (real: Real) => ReturnType<Distort>) =>
  answers({ method: 'POST', path: /\/statuses\/[0-9a-f]{40}$/ }, distort);

/** By the name of the step that must catch it. */
export const wrongGitHubs: Record<string, { install(github: Sandbox): void }> = {
  missing: merging(({ states, former }) => states.length === 0 && former === undefined),
  pending: merging(({ states }) => states.at(-1) === 'pending'),
  released: ofPullRequest('PUT', '/merge', ({ isMerged, states }) =>
    isMerged && states.at(-1) === 'success' ? refused : null,
  ),
  push: merging(({ states, former }) => states.length === 0 && former !== undefined),
  forged: merging(({ by }) => by === 'olga'),
  'shared-head': ofPullRequest('PUT', '/merge', ({ isMerged, github, fullName, number }) => {
    const { headSha } = github.pullRequest(fullName, number);
    const isOther = github.deliveries.some(
      ({ action, payload }) =>
        action === 'closed' && payload.pull_request.head.sha === headSha && payload.number !== number,
    );
    return isMerged && isOther ? refused : null;
  }),
  'test-merge': merging(({ states, by }) => states.at(-1) === 'success' && by !== 'olga'),
  'auto-merge': ofPullRequest('GET', '', ({ real, states }) =>
    real.body.merged && states.join() === 'error,success'
      ? { status: 200, body: { ...real.body, merged: false } }
      : null,
  ),
  texts: posting(({ status, body }) =>
    status === 422 && JSON.stringify(body).includes('too long') ? { status: 201, body } : null,
  ),
  async: inBackground(({ real, states }) =>
    real.body.status === 'failed' && states.at(-1) === 'failure'
      ? { status: 200, body: { status: 'merged' } }
      : null,
  ),
  bypass: inBackground(({ real }) =>
    real.body.status === 'merged' ? { status: 200, body: { status: 'failed' } } : null,
  ),
  stack: inBackground(({ real, states }) =>
    real.body.status === 'failed' && states.at(-1) === 'success'
      ? { status: 200, body: { status: 'merged' } }
      : null,
  ),
  'stack-key': ofPullRequest('GET', '', ({ real, github, number }) => {
    const was = github.deliveries.some(
      ({ action, payload }) => action === 'stacked' && payload.number === number,
    );
    return was && !real.body.stack ? { status: 200, body: { ...real.body, stack: { number: 1 } } } : null;
  }),
  'queue-webhook': loses('merge_group'),
  'queue-failed': queueEntry(({ body }) =>
    body.data.node.mergeQueueEntry === null ? { state: 'UNMERGEABLE' } : undefined,
  ),
  'queue-passed': ofPullRequest('GET', '', ({ real, states }) =>
    real.body.merged && states.join() === 'success'
      ? { status: 200, body: { ...real.body, merged: false } }
      : null,
  ),
  'queue-head': queueEntry(({ body }) => (body.data.node.mergeQueueEntry === null ? undefined : null)),
  pinned: answers({ path: /\/rules\/branches\// }, ({ status, body }) => ({
    status,
    body: JSON.parse(JSON.stringify(body).replaceAll(/,"integration_id":\d+/g, '')) as unknown,
  })),
  flip: {
    install(github) {
      github.rulesetFaults.ignoredUpdates = 1;
    },
  },
  unflip: ofPullRequest('PUT', '/merge', ({ isMerged, states }) =>
    isMerged && states.at(-1) === 'failure' ? refused : null,
  ),
  private: answers({ path: /\/rules\/branches\/main$/ }, () => ({ status: 403, body: { message: 'No.' } })),
  renamed: answers({ method: 'GET', path: /^\/repos\/[^/]+\/[^/]+$/ }, ({ status }) =>
    status === 301 ? { status: 404, body: { message: 'Not Found' } } : null,
  ),
  archived: posting(({ status, body }) =>
    status === 403 && /archived/.test(body.message) ? { status: 201, body: {} } : null,
  ),
  'default-branch': answers({ path: /\/branches\/main$/ }, ({ status }) =>
    status === 301 ? { status: 404, body: { message: 'Branch not found' } } : null,
  ),
  'deployment-webhook': loses('deployment_protection_rule'),
  'deployment-report': {
    install: (github) =>
      void github.faults.add({
        kind: 'answer',
        match: { method: 'POST', path: /\/deployment_protection_rule$/ },
        answer(_real, { path }) {
          const [, , owner, name, , , run] = path.split('/');
          const { state } = github.reviewsOf(`${owner}/${name}`, Number(run)).at(-1)!;
          return state === 'pending' ? { status: 422, body: { message: 'State is required' } } : null;
        },
      }),
  },
  'deployment-approved': answers({ method: 'POST', path: /\/deployment_protection_rule$/ }, ({ status }) =>
    status === 422 ? { status: 204, body: null } : null,
  ),
  'deployment-rejected': ofRun(({ real: { body }, reviews }) =>
    body.status === 'completed' && reviews.at(-1)?.state === 'rejected'
      ? { ...body, status: 'in_progress' }
      : null,
  ),
  'deployment-matrix': ofRun(({ real: { body }, jobs }) =>
    jobs === 20 && body.status !== 'waiting' ? { ...body, status: 'waiting' } : null,
  ),
  'deployment-again': ofRun(({ real: { body } }) =>
    body.run_attempt === 2 ? { ...body, run_attempt: 1 } : null,
  ),
  'deployment-careless': ofRun(({ real: { body }, jobs }) =>
    jobs === 0 ? { ...body, conclusion: 'success' } : null,
  ),
  environment: answers({ path: /\/environments$/ }, ({ status, body: { environments } }) => ({
    status,
    body: {
      environments: environments.map(
        ({ can_admins_bypass: _, ...each }: object & { can_admins_bypass: unknown }) => each,
      ),
    },
  })),
  app: answers({ path: /^\/app$/ }, ({ body }) => ({ status: 200, body: { ...body, events: [] } })),
  hint: posting(({ status, body }) =>
    status === 403 && /not accessible/.test(body.message) ? { status: 403, body } : null,
  ),
  seconds: posting(({ status, body }) =>
    status === 201 ? { status, body: { ...body, created_at: '2026-11-26T09:00:00.123Z' } } : null,
  ),
  label: loses('pull_request', 'labeled'),
  comment: loses('issue_comment'),
  pace: {
    install(github) {
      let posted = 0;
      posting(() => (++posted > 200 ? { status: 503, body: { message: 'Overloaded' } } : null)).install(
        github,
      );
    },
  },
};
