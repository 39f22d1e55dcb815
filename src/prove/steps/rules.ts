// Rulesets, and what names lead to after somebody changes them.
import { context, type Steps } from '../stage.ts';
import { claim, needed, said } from '../verdict.ts';
import type { Json } from '../ask.ts';

export const rules: Steps = {
  pinned: {
    proves: 'A ruleset requires the check from the App, although the App only posts statuses.',
    otherwise: 'A person with write access can forge the status, as Holdfast then says.',
    async run(stage) {
      await stage.branch('pinned');
      await stage.requireCheck(stage.repository, { include: 'refs/heads/pinned' });
      const shown = needed(await stage.parts.bot('GET', `${stage.repository}/rules/branches/pinned`), 200);
      const own = shown
        .flatMap((each: Json) => each.parameters?.required_status_checks ?? [])
        .find((each: Json) => each.context === context);
      claim(own?.integration_id === stage.parts.appId, `The rule requires ${JSON.stringify(own)}.`);
    },
  },
  flip: {
    proves: 'A ruleset that is switched on by its enforcement alone keeps its rules, and blocks in seconds.',
    otherwise: 'Instant hold holds nothing, or not at once.',
    async run(stage) {
      const { world, ruler } = stage.parts;
      await stage.branch('flip');
      const rule = { include: 'refs/heads/flip', enforcement: 'disabled' };
      const { id } = await stage.requireCheck(stage.repository, rule);
      const pr = await stage.openWith('failure', 'flip', 'flip');
      const began = world.now();
      const flipped = await ruler('PUT', `${stage.repository}/rulesets/${id}`, { enforcement: 'active' });
      const { enforcement, rules: kept } = needed(flipped, 200);
      claim(enforcement === 'active' && kept?.length === 1, `${enforcement}, ${kept?.length} rules`);
      await stage.claimThat('blocked', pr);
      const seconds = Math.round((world.now() - began) / 1000);
      claim(seconds <= 30, `It took ${seconds} seconds until GitHub blocked.`);
    },
  },
  private: {
    proves: 'GitHub shows the rules of a private repository, or says that the plan has none, in known words.',
    otherwise: 'Holdfast does not warn that nothing enforces a freeze in such a repository.',
    async run(stage) {
      const shown = await stage.parts.owner(
        'GET',
        `${await stage.makeRepository('-private', true)}/rules/branches/main`,
      );
      const isWithoutRules = shown.status === 403 && /upgrade to/i.test(String(shown.answer?.message));
      claim(shown.status === 200 || isWithoutRules, said(shown));
    },
  },
  renamed: {
    proves: 'The former name of a repository leads to it: reads by a 301, writes by a 307.',
    otherwise: 'Pull requests get no status after somebody renames a repository.',
    async run(stage) {
      const { bot, owner, run } = stage.parts;
      const repository = await stage.makeRepository('-name');
      const { sha } = needed(await bot('GET', `${repository}/branches/main`), 200).commit;
      needed(await owner('PATCH', repository, { name: `${run}-other-name` }), 200);
      const read = await bot('GET', repository);
      claim(read.status === 301 && /\/repositories\/\d+$/.test(read.headers['location'] ?? ''), said(read));
      const written = await bot('POST', `${repository}/statuses/${sha}`, { state: 'success', context });
      claim(written.status === 307, said(written));
    },
  },
  archived: {
    proves: 'An archived repository refuses statuses in the words that Holdfast knows.',
    otherwise: 'Holdfast tries again and again to write into archived repositories.',
    async run(stage) {
      const { bot, owner } = stage.parts;
      const repository = await stage.makeRepository('-archive');
      const { sha } = needed(await bot('GET', `${repository}/branches/main`), 200).commit;
      needed(await owner('PATCH', repository, { archived: true }), 200);
      const refused = await bot('POST', `${repository}/statuses/${sha}`, { state: 'success', context });
      claim(refused.status === 403 && /archived/i.test(String(refused.answer?.message)), said(refused));
    },
  },
  'default-branch': {
    proves: 'A rule for the default branch follows when that is renamed, and the former name leads there.',
    otherwise: 'Freezes hold nothing on a default branch that was renamed.',
    async run(stage) {
      const { bot, owner } = stage.parts;
      const repository = await stage.makeRepository('-branch');
      await stage.requireCheck(repository, { include: '~DEFAULT_BRANCH' });
      needed(await owner('POST', `${repository}/branches/main/rename`, { new_name: 'trunk' }), 201);
      const former = await bot('GET', `${repository}/branches/main`);
      claim(former.status === 301, said(former));
      const shown = needed(await bot('GET', `${repository}/rules/branches/trunk`), 200);
      claim(shown.length > 0, 'No rule applies to the default branch under its new name.');
    },
  },
};
