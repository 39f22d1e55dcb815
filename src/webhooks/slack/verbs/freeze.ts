import { validate } from '../../../api/read-request.ts';
import { newFreeze, readNewFreeze } from '../../../api/v1/freeze-schemas.ts';
import { newPlan, readNewPlan } from '../../../api/v1/plan-schemas.ts';
import type { Selection } from '../../../auth/authorize-owner-or.ts';
import { notFound } from '../../../errors.ts';
import { type PlanPreview, previewPlanSoon } from '../../../explanations/preview-plan.ts';
import { whatIsBlocked } from '../../../events/describe-fields.ts';
import { createFreeze } from '../../../freezes/create-freeze.ts';
import { freezePath, planPath, pullRequestPath } from '../../../installations/page-paths.ts';
import { repositoriesOfIds } from '../../../installations/find-repository.ts';
import { createPlan } from '../../../plans/create-plan.ts';
import { plainNames, repositoriesOfOwner } from '../../../plans/matched-repositories.ts';
import { describeInstant } from '../../../time/local-time.ts';
import { readFreezeWords } from '../../comments/freeze-words.ts';
import { zoneOfRepository } from '../../comments/order.ts';
import { authorizeFreezer, type Preview, selectionOf, type SlackOrder } from '../slack-order.ts';
import { count, link, plain } from '../slack-text.ts';

const mostPullRequests = 15;

/** The only repository of a selection; null for several and for patterns. */
function onlyOf({ include }: Selection): string | null {
  const names = plainNames(include);
  return names?.length === 1 ? names[0]! : null;
}

/** What to freeze, until when and why, as the API takes it. The time of the command counts, also in its window. */
async function readFreeze({ deps, account, target, words, begun }: SlackOrder) {
  const repositories = selectionOf(target!);
  const name = onlyOf(repositories);
  const zone = await zoneOf(deps, account.id, name);
  const read = readFreezeWords(words, { now: begun.receivedAt.getTime(), zone });
  const { reason, holding } = read;
  const shared = { reason, start: null, end: read.end.local, timezone: read.zone, ...holding };
  const until = describeInstant(new Date(read.end.at), read.zone);
  const plan = { ...shared, name: Array.from(reason).slice(0, 80).join(''), repositories };
  const blocked = whatIsBlocked(holding);
  return {
    repositories,
    name,
    shared,
    plan,
    until,
    reason,
    blocked: blocked === null ? [] : [plain(blocked)],
  };
}

/** The zone for times without a zone: that of the newest freeze there, else UTC. */
export async function zoneOf(
  deps: SlackOrder['deps'],
  accountId: bigint,
  name: string | null,
): Promise<string> {
  if (name !== null) {
    const named = await deps.db.repository.findFirst({ where: { accountId, nameKey: name.toLowerCase() } });
    if (named) return zoneOfRepository(deps.db, named.id);
  }
  const last = await deps.db.freezePlan.findFirst({ where: { accountId }, orderBy: { createdAt: 'desc' } });
  return last?.timezone ?? 'UTC';
}

/** What a freeze would hold, and until when. */
export async function previewFreeze(order: SlackOrder): Promise<Preview> {
  const { deps, account } = order;
  const { repositories, until, plan, reason, blocked } = await readFreeze(order);
  await authorizeFreezer(order, repositories, true);
  const preview = await previewPlanSoon(deps, account, readNewPlan(validate(newPlan, plan, 'body')));
  if (preview.matched === 0) throw notFound(`${account.login} has no repository with this name.`);
  return {
    window: {
      title: 'Freeze',
      act: 'Freeze',
      paragraphs: [
        `*${where(account.login, repositories)}* will be frozen from now until *${until}*.`,
        ...blocked,
        `Reason: ${plain(reason)}`,
        ...whatHolds(order, preview),
      ],
    },
  };
}

export const where = (login: string, { include }: Selection): string =>
  include.length === 1 && include[0] === '*'
    ? `all repositories of ${plain(login)}`
    : include.map((glob) => plain(`${login}/${glob}`)).join(', ');

function whatHolds({ deps, account }: SlackOrder, preview: PlanPreview): string[] {
  const { repositories, matched, notLookedAt, notEnforced, warnings, timeUntilHeld } = preview;
  const held = repositories.flatMap(({ name, pullRequests }) =>
    pullRequests.filter((each) => each.held).map((each) => ({ name, ...each })),
  );
  const excluded = repositories.reduce((sum, each) => sum + each.excluded, 0);
  const lines = held.slice(0, mostPullRequests).map(({ name, number, title }) => {
    const url = deps.config.publicUrl + pullRequestPath({ name, account }, number);
    return `• ${link(url, `${name}#${number}`)} ${plain(title ?? '', 100)}`;
  });
  if (held.length > lines.length) lines.push(`• and ${held.length - lines.length} more`);
  const atLeast = notLookedAt.length > 0 ? 'At least ' : '';
  const others = excluded > 0 ? `, ${excluded} excluded` : '';
  return [
    `${atLeast}*${count(held.length, 'pull request')}* in ${count(matched, 'repository', 'repositories')} would be blocked${others}.`,
    ...(lines.length > 0 ? [lines.join('\n')] : []),
    ...(timeUntilHeld ? [plain(timeUntilHeld.message, 1_000)] : []),
    ...(notEnforced.length > 0
      ? [
          `:warning: Not enforced in ${notEnforced
            .slice(0, 10)
            .map((name) => plain(name))
            .join(', ')}.`,
        ]
      : []),
    ...warnings.slice(0, 5).map((warning) => `:warning: ${plain(warning, 1_000)}`),
  ];
}

/** Freezes: one repository by a freeze, several by a plan. */
export async function freeze(order: SlackOrder): Promise<void> {
  const { deps, actor, account, who } = order;
  const { repositories, name, shared, plan, until, reason, blocked } = await readFreeze(order);
  await authorizeFreezer(order, repositories, true);
  const told = (path: string, warnings: string[]) =>
    [
      `${who} froze *${where(account.login, repositories)}* until *${until}*: ${plain(reason)}`,
      ...blocked,
      ...warnings.map((warning) => `:warning: ${plain(warning, 1_000)}`),
      link(deps.config.publicUrl + path, 'Show the freeze'),
    ].join('\n');
  const only = name === null ? null : await repositoryNamed(order, name);
  if (only) {
    const input = readNewFreeze(validate(newFreeze, shared, 'body'));
    await createFreeze(deps, actor, only, input, (tx, saved) =>
      order.saveAnswer(tx, told(freezePath(only, saved.freeze.id), saved.warnings)),
    );
    return;
  }
  await createPlan(deps, actor, account, readNewPlan(validate(newPlan, plan, 'body')), (tx, saved) =>
    order.saveAnswer(tx, told(planPath(account.login, saved.plan.id), saved.warnings)),
  );
}

async function repositoryNamed({ deps, account }: SlackOrder, name: string) {
  const all = await repositoriesOfOwner(deps.sql, account.id);
  const found = all.find((each) => each.name.toLowerCase() === name.toLowerCase());
  return (await repositoriesOfIds(deps.sql, found ? [found.id] : []))[0] ?? null;
}
