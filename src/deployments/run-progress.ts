import { readRun, type RepositoryClient, type Run } from './ask-github.ts';
import type { Deployment } from './deployment.ts';

// How far GitHub has come with what a run deploys. GitHub makes a deployment for each job when the job begins to wait, and
// notes in its statuses what becomes of it: `waiting` for rules, `queued` for a runner, `in_progress`, and how it ended.

/** How many deployments of a commit to an environment we list. Each job of a matrix has one. */
const mostDeploymentsListed = 1000;

type Shown = { id: number; createdAt: number };

/** What GitHub has made of a commit in an environment, the newest first. @param since a time; null: all. */
async function shownSince(
  { client, owner, repo }: RepositoryClient,
  { environment, sha }: { environment: string; sha: string },
  since: Date | null,
): Promise<Shown[]> {
  const about = { owner, repo, environment, sha, per_page: 100 };
  const shown: Shown[] = [];
  const isBefore = ({ createdAt }: Shown) => since !== null && createdAt < since.getTime();
  for await (const { data } of client.paginate.iterator(client.rest.repos.listDeployments, about)) {
    shown.push(...data.map(({ id, created_at: at }) => ({ id, createdAt: Date.parse(at) })));
    const oldest = shown.at(-1);
    if (shown.length >= mostDeploymentsListed || (oldest && isBefore(oldest))) break;
  }
  return shown.filter((each) => !isBefore(each));
}

/** The states that GitHub noted of a deployment; none if it belongs to another run. */
async function statesIn(
  { client, owner, repo }: RepositoryClient,
  deploymentId: number,
  runId: bigint,
): Promise<string[]> {
  const of = { owner, repo, deployment_id: deploymentId, per_page: 100 };
  const { data } = await client.rest.repos.listDeploymentStatuses(of);
  const isOfRun = new RegExp(`/actions/runs/${runId}(/|$)`);
  const links = data.flatMap(({ log_url, target_url }) => [log_url ?? '', target_url ?? '']);
  return links.some((link) => isOfRun.test(link)) ? data.map(({ state }) => state) : [];
}

/** How many deployments we look at to find when a run asked. Other runs of the commit have some, too. */
const mostAsking = 20;

/** When GitHub made the request of a run for an environment. Null if it shows none. @throws GitHub's error. */
export async function requestedByGitHub(
  remote: RepositoryClient,
  { id, sha, startedAt }: Run,
  environment: string,
): Promise<Date | null> {
  const shown = (await shownSince(remote, { environment, sha }, startedAt)).toReversed();
  const isAlone = new Set(shown.map(({ createdAt }) => createdAt)).size <= 1;
  let found = shown[0];
  if (!isAlone)
    for (const each of shown.slice(0, mostAsking))
      if ((await statesIn(remote, each.id, id)).length > 0) {
        found = each;
        break;
      }
  return found ? new Date(found.createdAt) : null;
}

type Asked = Pick<Deployment, 'runId' | 'attempt' | 'environment' | 'sha' | 'requestedAt'>;

/** What GitHub shows of a run in an environment, nearest to its request first: the states of each deployment. */
async function* statesOf(
  remote: RepositoryClient,
  { runId, requestedAt, ...named }: Asked,
  run: Run | null,
  most: number,
): AsyncGenerator<string[]> {
  const distance = ({ createdAt }: Shown) => Math.abs(createdAt - requestedAt.getTime());
  // Those of an earlier attempt lead to the same run, and other runs of the commit may have hundreds.
  const shown = await shownSince(remote, named, run?.startedAt ?? null);
  for (const { id } of shown.toSorted((one, other) => distance(one) - distance(other)).slice(0, most)) {
    const states = await statesIn(remote, id, runId);
    if (states.length > 0) yield states;
  }
}

const mostLetThrough = 100;

/** Whether GitHub let a job of a run deploy to an environment: it is queued, or further. */
export async function wasLetThrough(remote: RepositoryClient, asked: Asked): Promise<boolean> {
  const run = await readRun(remote, asked.runId);
  for await (const states of statesOf(remote, asked, run, mostLetThrough))
    if (states.some((state) => ['queued', 'in_progress', 'success'].includes(state))) return true;
  return false;
}

/** Of a matrix, the first jobs begin first. */
const mostBeginning = 5;
const stillWaiting = ['waiting', 'queued', 'pending'];

/** Whether a run waits for rules, or for a runner, or a runner has taken a job, which may have ended. */
export type DeploymentProgress = 'waiting' | 'queued' | 'begun';

/** How far the jobs of a run have come that deploy to an environment. */
export async function progressOf(remote: RepositoryClient, asked: Asked): Promise<DeploymentProgress> {
  const run = await readRun(remote, asked.runId);
  // GitHub makes another attempt only when the one before it is over.
  if (run === null || run.isOver || run.attempt !== asked.attempt) return 'begun';
  let isQueued = false;
  for await (const states of statesOf(remote, asked, run, mostBeginning)) {
    if (states.some((state) => !stillWaiting.includes(state))) return 'begun';
    isQueued ||= states.includes('queued');
  }
  return isQueued ? 'queued' : 'waiting';
}
