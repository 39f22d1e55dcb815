import { readJsonFile } from '../memory/json-file.ts';
import { misused } from '../stop.ts';
import { type PullRequest, readPullRequest } from '../target.ts';
import type { World } from '../world.ts';

/** The change of a run of GitHub Actions: from `base` to `head`, two SHAs. */
export type ChangeOfRun = {
  /** null: a merge group, which has the scopes of its pull requests. */
  pullRequest: PullRequest | null;
  base: string;
  head: string;
  /** The branch that the pull request merges into; null if it is not known. */
  branch: string | null;
};

// The payloads of events about a pull request or a merge group. Source:
// https://docs.github.com/en/webhooks/webhook-events-and-payloads
type Event = {
  repository?: { full_name?: string };
  pull_request?: { number?: number; base?: { sha?: string; ref?: string }; head?: { sha?: string } };
  merge_group?: { base_sha?: string; head_sha?: string };
};

/** Reads the event of this run. @returns null outside of GitHub Actions, and for events of another kind. */
export function changeOfRun({ env }: Pick<World, 'env'>): ChangeOfRun | null {
  const path = env.GITHUB_EVENT_PATH?.trim();
  if (!path) return null;
  const event = readJsonFile(path) as Event | null;
  if (!event) throw misused(`${path} is not there. GITHUB_EVENT_PATH names the event of a run: unset it.`);
  const { repository, pull_request: pull, merge_group: group } = event;
  if (group?.base_sha && group.head_sha)
    return { pullRequest: null, base: group.base_sha, head: group.head_sha, branch: null };
  if (!pull?.base?.sha || !pull.head?.sha) return null;
  const pullRequest = readPullRequest(`${repository?.full_name}#${pull.number}`);
  return { pullRequest, base: pull.base.sha, head: pull.head.sha, branch: pull.base.ref ?? null };
}
