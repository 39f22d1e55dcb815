import { z } from '@hono/zod-openapi';
import { webhooksRefusedAt } from '../../github/hooks.ts';
import { nowOf } from '../../time/clock.ts';
import { hasUnjudged } from '../../freezes/list-freezes.ts';
import type { Deps } from '../../deps.ts';
import { type HeldProgress, freezeEnforcement } from '../../explanations/enforcement/progress.ts';
import { type HeldPullRequest, reasonsNotHeld } from '../../statuses/held-pull-requests.ts';
import { checks, countRefused, states } from '../../explanations/enforcement/finding.ts';
import { lookAtEnforcement } from '../../explanations/enforcement/recent-enforcement.ts';
import { instantHolds } from '../../installations/setting-fields.ts';
import { fieldsOfSchema } from '../answers.ts';
import { endpoint } from '../endpoint.ts';
import { repositoryParams } from '../fields.ts';
import { freezeParams } from './freeze-schemas.ts';

/** Whether GitHub refuses the merge. Every answer has it. */
export const enforced = z.union([z.boolean(), z.literal('unknown')]);

export const progress = z.object({
  to_hold: z.int().nullable().openapi({
    description: 'How many should be held. null if a freeze began that is not judged yet',
  }),
  held: z.int().openapi({ description: 'How many of them are known to be held' }),
});

/** In answers that count what is held. */
export const toRefuse = z.int().nullable().openapi({
  description:
    'How many of `to_hold` merge into branches where GitHub requires the check, so that it refuses them. null if that is not known',
});

/** While statuses wait. */
export const secondsField = {
  seconds_until_held: z.int().optional().openapi({
    description:
      'About how many seconds until what waits is blocked, by the pace of statuses. 0 if a ruleset blocks it already. Absent if nothing waits',
  }),
};

export const presentSeconds = (waiting: number, seconds: number | null) =>
  waiting > 0 && seconds !== null ? { seconds_until_held: seconds } : {};

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

/** Fields that say which pull requests are blocked, and which are not. */
const heldFields = {
  pull_requests: progress.extend({ to_refuse: toRefuse }),
  leaking: z.array(z.int()).openapi({
    description: 'Pull requests that should be held but that GitHub says it would merge',
  }),
  not_held: z.array(z.object({ pull_request: z.int(), reason: z.enum(reasonsNotHeld) })).openapi({
    description:
      'Pull requests that should be held but may not be: their status waits to be written, GitHub refused it, somebody keeps overwriting it, or GitHub would merge them',
  }),
};

/** Whether a ruleset of the second App holds the repository at once. */
const instant = z
  .object({
    mode: z.enum(instantHolds).openapi({ description: 'The setting `instant_hold`' }),
    state: z.enum(['off', 'on', 'unavailable']).openapi({
      description: '`unavailable`: the ruleset is not as it should be, and `error` says why',
    }),
    since: z.iso.datetime().nullable().openapi({ description: 'Since when the ruleset is in force' }),
    error: z.string().nullable().openapi({ description: 'What is wrong, and what to do' }),
  })
  .openapi('InstantHold');

const exampleInstant = { mode: 'off', state: 'off', since: null, error: null } as const;

const exampleHeld = {
  pull_requests: { to_hold: 12, held: 11, to_refuse: 11 },
  leaking: [7],
  not_held: [{ pull_request: 7, reason: 'leaking' }],
};

const presentProgress = ({ toHold, held }: HeldProgress, isJudged: boolean) => ({
  to_hold: isJudged ? toHold : null,
  held,
});

/** @param pullRequests what should be held, as far as it is judged. @param required by branch, as far as it is known. */
function presentHeld(
  pullRequests: HeldPullRequest[],
  required: ReadonlyMap<string, boolean> | undefined,
  isJudged: boolean,
) {
  const bases = pullRequests.map(({ baseRef }) => baseRef);
  const missing = pullRequests.flatMap(({ number, notHeld }) =>
    notHeld ? [{ pull_request: number, reason: notHeld }] : [],
  );
  return {
    pull_requests: {
      ...presentProgress(
        { toHold: pullRequests.length, held: pullRequests.length - missing.length },
        isJudged,
      ),
      to_refuse: isJudged ? countRefused(required, bases) : null,
    },
    leaking: missing.filter(({ reason }) => reason === 'leaking').map(({ pull_request: number }) => number),
    not_held: missing,
  };
}

const finding = z
  .object({
    check: z.enum(checks).openapi({ description: 'What was checked' }),
    state: z
      .enum(states)
      .openapi({ description: '`unknown` means that GitHub did not show it, so it is not `ok`' }),
    branch: z.string().optional().openapi({ description: 'The branch that the finding is about' }),
    message: z.string(),
    remedy: z.string().nullable().openapi({ description: 'What to click or call' }),
  })
  .openapi('Finding');

const report = z
  .object({
    enforced: enforced.openapi({
      description:
        'Whether GitHub refuses to merge what a freeze holds, on every branch that a freeze can affect',
    }),
    checked_at: z.iso.datetime(),
    ...heldFields,
    instant,
    ...refusedField,
    findings: z.array(finding),
  })
  .openapi('Enforcement');

export const enforcementEndpoint = endpoint({
  method: 'get',
  path: '/repos/{owner}/{repository}/enforcement',
  tag: 'Scheduled freezes',
  summary: 'See whether freezes of a repository are enforced',
  description:
    'Asks GitHub whether each branch that a freeze can affect requires the status check, with this App as its source and for merge groups too. Also checks who can bypass it, whether the App has its permissions and events, whether webhooks arrive, whether the clock is right, and how much of the rate limit is left. Changes nothing.',
  access: { to: 'repository', scope: 'admin', role: 'freezer' },
  params: repositoryParams,
  success: {
    status: 200,
    description: 'The findings',
    schema: report,
    example: {
      enforced: false,
      checked_at: '2026-03-01T09:00:00.000Z',
      ...exampleHeld,
      instant: exampleInstant,
      findings: [
        {
          check: 'required_check',
          state: 'failed',
          branch: 'main',
          message:
            'main does not require holdfast/freeze, so pull requests can merge into it during a freeze.',
          remedy:
            'Require holdfast/freeze at https://github.com/acme/web/settings/rules/new?target=branch, or as an admin: curl …',
        },
      ],
    },
  },
  async handle({ deps, repository }) {
    const { checkedAt, held, ...found } = await lookAtEnforcement(deps, repository);
    const isJudged = !(await hasUnjudged(deps.db, repository, nowOf(deps.clock)));
    return {
      enforced: found.enforced,
      checked_at: checkedAt.toISOString(),
      ...presentHeld(held, found.required, isJudged),
      instant: fieldsOfSchema(instant, found.instant),
      ...(await presentRefused(deps)),
      findings: found.findings,
    };
  },
});

const enforcement = z
  .object({
    phase: z.enum(['scheduled', 'ongoing']),
    switched_on: z.boolean().openapi({
      description: 'Whether the repository has a product that switches freezes on',
    }),
    enforced: enforced.openapi({
      description:
        'Whether GitHub refuses to merge what this freeze holds, on every branch that it can affect. Can be up to a minute old',
    }),
    ...heldFields,
    instant,
    ...refusedField,
    merge_groups: progress,
    waiting_writes: z.int().openapi({ description: 'How many of their statuses wait to be written' }),
    waiting_since: z.iso.datetime().nullable().openapi({ description: 'Since when the oldest one waits' }),
    looked_at: z.iso
      .datetime()
      .nullable()
      .openapi({ description: 'When Holdfast last checked all open pull requests' }),
    ...secondsField,
    look_due: z.boolean().openapi({ description: 'Whether Holdfast still has to check a change since then' }),
  })
  .openapi('FreezeEnforcement');

export const freezeEnforcementEndpoint = endpoint({
  method: 'get',
  path: '/repos/{owner}/{repository}/scheduled_freeze/{freeze_id}/enforcement',
  tag: 'Scheduled freezes',
  summary: 'See how much of a freeze is enforced',
  access: { to: 'repository', scope: 'admin', role: 'freezer' },
  params: freezeParams,
  success: {
    status: 200,
    description: 'What the freeze should hold, what it holds, and which statuses wait to be written',
    schema: enforcement,
    example: {
      phase: 'ongoing',
      switched_on: true,
      enforced: false,
      ...exampleHeld,
      instant: exampleInstant,
      merge_groups: { to_hold: 2, held: 2 },
      waiting_writes: 0,
      waiting_since: null,
      looked_at: '2026-03-31T16:00:02.000Z',
      look_due: false,
    },
  },
  async handle({ deps, repository, path }) {
    const found = await freezeEnforcement(deps, repository, path.freeze_id);
    return {
      phase: found.phase,
      switched_on: found.isOn,
      enforced: found.enforced,
      ...presentHeld(found.held, found.required, found.isJudged),
      instant: fieldsOfSchema(instant, found.instant),
      ...(await presentRefused(deps)),
      merge_groups: presentProgress(found.mergeGroups, found.isJudged),
      waiting_writes: found.waitingWrites,
      waiting_since: found.waitingSince?.toISOString() ?? null,
      looked_at: found.lookedAt?.toISOString() ?? null,
      ...presentSeconds(found.waitingWrites, found.secondsUntilHeld),
      look_due: found.isLookDue,
    };
  },
});
