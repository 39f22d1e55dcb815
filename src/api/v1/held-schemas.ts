import { z } from '@hono/zod-openapi';
import { nowOf } from '../../clock.ts';
import type { Deps } from '../../deps.ts';
import { webhooksRefusedAt } from '../../github/hooks/refused-hooks.ts';
import type { Progress } from '../../explanations/enforcement/progress.ts';
import { type HeldPullRequest, reasonsNotHeld } from '../../statuses/held-pull-requests.ts';

/** Whether GitHub refuses the merge. Every answer has it. */
export const enforced = z.union([z.boolean(), z.literal('unknown')]);

export const progress = z.object({
  to_hold: z.int().nullable().openapi({
    description: 'How many should be held. null if a freeze began that is not judged yet',
  }),
  held: z.int().openapi({ description: 'How many of them are known to be held' }),
});

/** In every answer of enforcement, for a minute after it happened. */
export const refusedField = {
  webhooks_refused_at: z.iso.datetime().optional().openapi({
    description:
      'When webhooks were turned away because too many arrived at once, if that was within a minute. What they were about is checked within seconds',
  }),
};

/** @returns nothing if none were turned away within a minute. */
export async function presentRefused({ db, clock }: Pick<Deps, 'db' | 'clock'>) {
  const at = await webhooksRefusedAt(db, nowOf(clock));
  return at && { webhooks_refused_at: at.toISOString() };
}

/** Fields that say which pull requests are held, and which are not. */
export const heldFields = {
  pull_requests: progress,
  leaking: z.array(z.int()).openapi({
    description: 'Pull requests that should be held but that GitHub says it would merge',
  }),
  not_held: z.array(z.object({ pull_request: z.int(), reason: z.enum(reasonsNotHeld) })).openapi({
    description:
      'Pull requests that should be held but may not be: their status waits to be written, GitHub refused it, somebody keeps overwriting it, or GitHub would merge them',
  }),
};

export const exampleHeld = {
  pull_requests: { to_hold: 12, held: 11 },
  leaking: [7],
  not_held: [{ pull_request: 7, reason: 'leaking' }],
};

export const presentProgress = ({ toHold, held }: Progress, isJudged: boolean) => ({
  to_hold: isJudged ? toHold : null,
  held,
});

/** @param pullRequests what should be held, as far as it is judged. */
export function presentHeld(pullRequests: HeldPullRequest[], isJudged: boolean) {
  const missing = pullRequests.flatMap(({ number, notHeld }) =>
    notHeld ? [{ pull_request: number, reason: notHeld }] : [],
  );
  return {
    pull_requests: presentProgress(
      { toHold: pullRequests.length, held: pullRequests.length - missing.length },
      isJudged,
    ),
    leaking: missing.filter(({ reason }) => reason === 'leaking').map(({ pull_request: number }) => number),
    not_held: missing,
  };
}
