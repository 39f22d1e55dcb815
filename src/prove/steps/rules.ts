// Rulesets, and what names lead to after somebody changes them.
import type { ProveJson } from '../ask.ts';
import { type Asks, context, type StagePullRequest, type Stage } from '../stage.ts';
import { claimProved, claimed, needed, said } from '../verdict.ts';

/** A pull request that a ruleset of its own is about, with a failure. @returns it, and the path of the ruleset. */
async function ruled(stage: Stage, name: string, enforcement: string): Promise<[StagePullRequest, string]> {
  await stage.branch(name);
  const { id } = await stage.requireCheck(stage.repository, { include: `refs/heads/${name}`, enforcement });
  return [await stage.openWith('failure', name, name), `${stage.repository}/rulesets/${id}`];
}

/** Claims that a pull request is blocked, or merged, within seconds of a change. */
async function claimSoon(stage: Stage, is: 'blocked' | 'merged', pr: StagePullRequest, since: number) {
  await stage.claimThat(is, pr);
  const seconds = Math.round((stage.parts.world.now() - since) / 1000);
  claimProved(seconds <= 30, `It took ${seconds} seconds until it was ${is}.`);
}

export const rules: Asks = {
  async pinned(stage) {
    await stage.branch('pinned');
    await stage.requireCheck(stage.repository, { include: 'refs/heads/pinned' });
    const shown = needed(await stage.parts.bot('GET', `${stage.repository}/rules/branches/pinned`));
    const own = shown
      .flatMap((each: ProveJson) => each.parameters?.required_status_checks ?? [])
      .find((each: ProveJson) => each.context === context);
    claimProved(own?.integration_id === stage.parts.appId, `The rule requires ${JSON.stringify(own)}.`);
  },
  async flip(stage) {
    const [pr, ruleset] = await ruled(stage, 'flip', 'disabled');
    const began = stage.parts.world.now();
    const { enforcement, rules } = needed(await stage.parts.ruler('PUT', ruleset, { enforcement: 'active' }));
    claimProved(enforcement === 'active' && rules?.length === 1, `${enforcement}, ${rules?.length} rules`);
    await claimSoon(stage, 'blocked', pr, began);
  },
  async unflip(stage) {
    const [pr, ruleset] = await ruled(stage, 'unflip', 'active');
    needed(await stage.parts.ruler('PUT', ruleset, { enforcement: 'disabled' }));
    await claimSoon(stage, 'merged', pr, stage.parts.world.now());
  },
  async private(stage) {
    const repository = await stage.makeRepository('-private', true);
    const shown = await stage.parts.owner('GET', `${repository}/rules/branches/main`);
    const isWithoutRules = shown.status === 403 && /upgrade to/i.test(String(shown.answer?.message));
    claimProved(shown.status === 200 || isWithoutRules, said(shown));
  },
  async renamed(stage) {
    const { bot, run } = stage.parts;
    const repository = await stage.makeRepository('-name');
    const sha = await stage.tip(repository);
    await stage.sure('PATCH', repository, { name: `${run}-other-name` });
    const read = await bot('GET', repository);
    claimProved(
      read.status === 301 && /\/repositories\/\d+$/.test(read.headers['location'] ?? ''),
      said(read),
    );
    claimed(await bot('POST', `${repository}/statuses/${sha}`, { state: 'success', context }), 307);
  },
  async archived(stage) {
    const repository = await stage.makeRepository('-archive');
    const sha = await stage.tip(repository);
    await stage.sure('PATCH', repository, { archived: true });
    const sent = { state: 'success', context };
    const refused = await stage.parts.bot('POST', `${repository}/statuses/${sha}`, sent);
    claimProved(refused.status === 403 && /archived/i.test(String(refused.answer?.message)), said(refused));
  },
  async 'default-branch'(stage) {
    const { bot } = stage.parts;
    const repository = await stage.makeRepository('-branch');
    await stage.requireCheck(repository, { include: '~DEFAULT_BRANCH' });
    await stage.sure('POST', `${repository}/branches/main/rename`, { new_name: 'trunk' });
    claimed(await bot('GET', `${repository}/branches/main`), 301);
    const shown = needed(await bot('GET', `${repository}/rules/branches/trunk`));
    claimProved(shown.length > 0, 'No rule applies to the default branch under its new name.');
  },
};
