// Deletes what runs made, and nothing else.
import { type ProveGround, type ProveJson, provedOwner } from './ask.ts';
import { markOf } from './stage.ts';
import { needed } from './verdict.ts';

/** The run that made a repository; null if none did. Its name and its description must both say so. */
export const runOf = ({ name, description }: { name: string; description: string | null }): string | null => {
  const [, run = null] = /^(holdfast-prove-[0-9a-f]{8})(?:-[a-z-]+)?$/.exec(name) ?? [];
  return run !== null && description === markOf(run) ? run : null;
};

/** Every repository of the organization. @throws Unclear */
export async function repositoriesIn(ground: ProveGround): Promise<ProveJson[]> {
  const all: ProveJson[] = [];
  for (let page = 1; ; page++) {
    const path = `/orgs/${ground.organization}/repos?per_page=100&page=${page}`;
    const list = needed(await provedOwner(ground)('GET', path), 200);
    all.push(...list);
    if (list.length < 100) return all;
  }
}

/**
 * Deletes the repositories of runs, and with them their rulesets, environments and workflow runs.
 * @param run only those of this run. @throws Unclear if GitHub does not list them.
 * @returns their names, and what GitHub did not delete, with the reason.
 */
export async function cleanUp(
  ground: ProveGround,
  run?: string,
): Promise<{ deleted: string[]; left: string[] }> {
  const all = await repositoriesIn(ground);
  const made = all.filter((each) => (run === undefined ? runOf(each) !== null : runOf(each) === run));
  const [deleted, left]: [string[], string[]] = [[], []];
  for (const { name } of made) {
    const { status, answer } = await provedOwner(ground)('DELETE', `/repos/${ground.organization}/${name}`);
    if (status === 204) deleted.push(name);
    else left.push(`${name} (${status} ${answer?.message ?? ''})`);
  }
  return { deleted, left };
}
