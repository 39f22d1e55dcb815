import type { Random } from '../../../sandbox/http/random.ts';
import { type InstantHold, type Mode, rulesetName, rulesetsInForce } from '../instant-hold.ts';
import { type Action, oneOf, type Stage } from '../stage.ts';
import { createFreeze, ownLiving, say, someEnd } from './freezes.ts';

const owner = 'acme';
const second = { second: true } as const;
const administration = { metadata: 'read', administration: 'write' } as const;
const mostRulesets = 75;

/** What happens to instant holds: their setting, their ruleset, GitHub's answers about it, and the second App. */
export const instantHoldActions: Record<string, Action> = {
  freezeAll: whereHeld(4, (stage, _, random) => {
    if (ownLiving(stage).length > 3) return null;
    const now = Math.floor(stage.time.now() / 1000) * 1000;
    const freeze = { reason: `All ${random.between(1, 1e9)}`, endsAt: someEnd(random, now) };
    stage.aside(createFreeze(stage, null, { ...freeze, matching: [], exclude: [] }));
    return 'a freeze of everything asked for';
  }),
  mode: whereHeld(1, (stage, hold, random) => {
    if (hold.isChanging) return null;
    const mode = oneOf<Mode>(random, ['off', 'bridge', 'lock', 'lock'])!;
    stage.aside(setMode(stage, hold, mode));
    return `instant_hold to be ${mode}`;
  }),
  deleteRuleset: onRuleset(1, ({ github }, id) => {
    github.deleteRuleset(id);
    return 'deleted';
  }),
  disableRuleset: onRuleset(1, ({ github }, id) => {
    github.setEnforcement(id, 'disabled');
    return 'disabled';
  }),
  editRuleset: onRuleset(1, ({ github }, id, random) => {
    const change = oneOf(random, [
      { refs: { include: ['refs/heads/elsewhere'], exclude: [] } },
      { checks: [{ context: 'by hand', appId: null }] },
      { refs: { include: ['~ALL'], exclude: ['refs/heads/main'] } },
    ])!;
    github.editRuleset(id, change);
    return `edited: ${JSON.stringify(change)}`;
  }),
  rulesetByHand: whereHeld(1, ({ github, repository }) => {
    if (github.rulesetsOf(repository).length > mostRulesets) return null;
    const { id } = github.addRuleset(repository, { name: rulesetName, checks: ['by hand'] });
    return `ruleset ${id} made by hand, with our name`;
  }),
  lie: whereHeld(2, ({ github }, _, random) => {
    const lie = oneOf(random, ['ignoredUpdates', 'oldAnswers'] as const)!;
    github.rulesetFaults[lie] = random.between(1, 3);
    return `answers about rulesets are wrong: ${lie}`;
  }),
  breakSecondApp: whereHeld(2, (stage, hold, random) => {
    if (hold.broken) return null;
    const why = oneOf(random, Object.keys(breakages))!;
    hold.broken = { why, mend: breakages[why]!(stage) };
    return `the second App is ${why}`;
  }),
  mendSecondApp: whereHeld(2, (_, hold) => {
    if (!hold.broken) return null;
    const { why, mend } = hold.broken;
    mend();
    hold.broken = null;
    return `the second App is no longer ${why}`;
  }),
};

/** How the second App can do nothing. Each returns what ends it. */
const breakages: Record<string, (stage: Stage) => () => void> = {
  uninstalled({ github }) {
    github.uninstall(owner, second);
    return () => void github.install(owner, second);
  },
  'without its permission'({ github }) {
    github.acceptPermissions(owner, { metadata: 'read' }, second);
    return () => github.acceptPermissions(owner, administration, second);
  },
  'without room for a ruleset'({ github, repository }) {
    for (const { id, name } of github.rulesetsOf(repository))
      if (name === rulesetName) github.deleteRuleset(id);
    const left = mostRulesets - github.rulesetsOf(repository).length;
    const made = Array.from({ length: left }, () =>
      github.addRuleset(repository, { enforcement: 'disabled' }),
    );
    return () => made.forEach(({ id }) => github.deleteRuleset(id));
  },
};

export async function setMode(stage: Stage, hold: InstantHold, mode: Mode): Promise<void> {
  hold.isChanging = true;
  try {
    const path = `/v1/repos/${stage.repository}/settings`;
    const answer = await stage.api.call('PATCH', path, { instant_hold: mode });
    if (answer.status === 200) hold.mode = mode;
    else stage.violate('unexpected answer', `to instant_hold ${mode}: ${say(answer)}`);
    stage.log(`instant_hold is ${hold.mode}`);
  } finally {
    hold.isChanging = false;
  }
}

function whereHeld(
  weight: number,
  act: (stage: Stage, hold: InstantHold, random: Random) => string | null,
): Action {
  return {
    weight,
    act: (stage, random) => (stage.instantHold ? act(stage, stage.instantHold, random) : null),
  };
}

/** A step on our ruleset, if it is in force. */
function onRuleset(weight: number, act: (stage: Stage, id: number, random: Random) => string): Action {
  return whereHeld(weight, (stage, _, random) => {
    const ruleset = oneOf(random, rulesetsInForce(stage));
    return ruleset ? `ruleset ${ruleset.id} ${act(stage, ruleset.id, random)}` : null;
  });
}
