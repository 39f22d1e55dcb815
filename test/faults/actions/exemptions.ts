import type { Random } from '../../../sandbox/http/random.ts';
import type { Answer } from '../api-client.ts';
import type { ModelExemption } from '../model.ts';
import { type Action, oneOf, openOnes, type Stage } from '../stage.ts';
import { ownLiving, say } from './freezes.ts';

const second = 1_000;
/** Of these at once; the service takes 20 of a pull request. */
const mostOpen = 8;

/** Letting pull requests through: an admin key's is approved at once, a writer's is requested. */
export const exemptionActions: Record<string, Action> = {
  exempt: {
    weight: 4,
    act(stage, random) {
      const pr = oneOf(random, openOnes(stage));
      if (!pr || openExemptions(stage).length >= mostOpen) return null;
      const freeze = random.chance(0.3) ? oneOf(random, ownLiving(stage)) : undefined;
      const now = Math.floor(stage.time.now() / second) * second;
      const isSoon = random.chance(0.7);
      const exemption = {
        number: pr.number,
        base: pr.base,
        anyHead: random.chance(0.3),
        freezeIds: freeze ? [freeze.id] : null,
        reason: `Fix ${random.between(1, 1e9)}`,
        expiresAt: now + (isSoon ? random.between(20, 900) : random.between(7_200, 80_000)) * second,
      };
      const as = random.chance(0.5) ? 'admin' : 'writer';
      stage.aside(request(stage, exemption, as));
      return `#${pr.number} to be exempt, asks the ${as}: ${JSON.stringify(exemption)}`;
    },
  },
  approve: decision(4, 'approve', 'approved', ['requested']),
  deny: decision(1, 'deny', 'denied', ['requested']),
  revoke: decision(2, 'revoke', 'revoked', ['requested', 'approved']),
};

const pathOf = ({ repository }: Stage) => `/v1/repos/${repository}`;

async function request(
  stage: Stage,
  given: Omit<ModelExemption, 'id' | 'headSha' | 'state'>,
  as: 'admin' | 'writer',
): Promise<void> {
  const { number, anyHead, freezeIds, reason, expiresAt } = given;
  await deciding(stage, number, async () => {
    const expires = new Date(expiresAt).toISOString();
    const body = { any_head: anyHead, freeze_ids: freezeIds, reason, expires_at: expires };
    const answer = await stage.api.call('POST', `${pathOf(stage)}/pulls/${number}/exemptions`, body, as);
    // One that is being deleted may be deleted already.
    const lives = (id: string) => ownLiving(stage).some((freeze) => freeze.id === id && !freeze.isChanging);
    const isTooLate = expiresAt <= stage.time.now() || (freezeIds !== null && !freezeIds.some(lives));
    const isClosed = answer.status === 409 && /is closed/.test(answer.body.detail);
    if (answer.status === 201) {
      const { id, head_sha, state } = answer.body;
      stage.model.exemptions.push({ ...given, id, headSha: head_sha, state });
      stage.log(`exemption ${id} of #${number} at ${head_sha.slice(0, 7)} is ${state}`);
    } else if (!isClosed && !(answer.status === 422 && isTooLate)) {
      stage.violate('unexpected answer', `to an exemption of #${number}: ${say(answer)}`);
    }
  });
}

/** A decision on one of those in these states. */
function decision(
  weight: number,
  what: string,
  state: ModelExemption['state'],
  of: ModelExemption['state'][],
): Action {
  return {
    weight,
    act(stage: Stage, random: Random) {
      const free = openExemptions(stage).filter(
        (each) => of.includes(each.state) && !stage.model.deciding.includes(each.number),
      );
      const exemption = oneOf(random, free);
      if (!exemption) return null;
      stage.aside(decide(stage, exemption, what, state));
      return `exemption ${exemption.id} of #${exemption.number}: ${what}`;
    },
  };
}

async function decide(stage: Stage, exemption: ModelExemption, what: string, state: ModelExemption['state']) {
  await deciding(stage, exemption.number, async () => {
    const path = `${pathOf(stage)}/exemptions/${exemption.id}/${what}`;
    const answer: Answer = await stage.api.call('POST', path, { reason: 'Because' });
    if (answer.status === 200) exemption.state = state;
    else if (answer.status !== 409 || isOpen(stage, exemption))
      stage.violate('unexpected answer', `to ${what} of ${exemption.id}: ${say(answer)}`);
    stage.log(`exemption ${exemption.id}, ${what}: ${answer.status}`);
  });
}

/** While the answer is awaited nobody can say whether the pull request is let through. */
async function deciding({ model }: Stage, number: number, work: () => Promise<void>): Promise<void> {
  model.deciding.push(number);
  try {
    await work();
  } finally {
    model.deciding.splice(model.deciding.indexOf(number), 1);
  }
}

const isOpen = ({ model, github, repository, time }: Stage, exemption: ModelExemption): boolean =>
  (exemption.state === 'requested' || exemption.state === 'approved') &&
  !model.isOver(exemption, github.pullRequest(repository, exemption.number), time.now());

const openExemptions = (stage: Stage): ModelExemption[] =>
  stage.model.exemptions.filter((exemption) => isOpen(stage, exemption));
