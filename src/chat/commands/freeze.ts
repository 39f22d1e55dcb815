import { validate } from '../../api/read-request.ts';
import { newFreeze, readNewFreeze } from '../../api/v1/freeze-schemas.ts';
import { newPlan, readNewPlan } from '../../api/v1/plan-schemas.ts';
import type { Selection } from '../../auth/authorize-owner-or.ts';
import { notFound } from '../../errors.ts';
import {
  blocksMerges,
  whatDeploymentsWait,
  whatGitHubRefuses,
  whatIsBlocked,
  whatIsSkipped,
} from '../../words/describe-fields.ts';
import { type PlanPreview, previewPlanSoon } from '../../explanations/preview-plan.ts';
import type { SavedFreeze } from '../../freezes/check-freeze.ts';
import { holdsMerges } from '../../freezes/freeze.ts';
import { createFreeze } from '../../freezes/save-freeze.ts';
import { asCode } from '../../github/markdown.ts';
import { fullName, repositoriesOfIds } from '../../installations/find-repository.ts';
import { freezePath, planPath, pullRequestPath } from '../../page-paths.ts';
import { createPlan } from '../../plans/change-plan.ts';
import { plainNames, repositoriesOfOwner } from '../../plans/matched-repositories.ts';
import { nameFromReasons } from '../../plans/plan-name.ts';
import { describeInstant } from '../../time/local-time.ts';
import { authorizeFreezer, type WindowPreview, selectionOf, type SlackOrder } from '../slack/slack-order.ts';
import { countWords, link, plain } from '../../notices/slack/slack-words.ts';
import { warned } from '../slack/slack-text.ts';
import { readFreezeWords } from './freeze-words.ts';
import {
  assertRole,
  type CommentOrder,
  type RunCommand,
  sentenceInComment,
  zoneOfRepository,
} from './order.ts';

const mostPullRequests = 15;

/** The only repository of a selection; null for several and for patterns. */
function onlyOf({ include }: Selection): string | null {
  const names = plainNames(include);
  return names?.length === 1 ? names[0]! : null;
}

/** The words of a command, and what they say as the API takes it. */
function readWords(words: string, now: number, zone: string) {
  const read = readFreezeWords(words, { now, zone });
  const { end, reason, holding } = read;
  return { ...read, body: { reason, start: null, end: end.local, timezone: read.zone, ...holding } };
}

/** Freezes the whole repository from now on. */
const freezeInComment: RunCommand = async (order) => {
  await assertRole(order, 'freezer');
  const { deps, repository, words } = order;
  const zone = await zoneOfRepository(deps.db, repository.id);
  const { body } = readWords(words, deps.clock.now(), zone);
  const input = readNewFreeze(validate(newFreeze, body, 'body'));
  await createFreeze(deps, order.actor, repository, input, (tx, saved) =>
    order.saveAnswer(tx, textOfFreeze(order, saved)),
  );
};

function textOfFreeze({ deps, repository }: CommentOrder, { freeze: made, warnings }: SavedFreeze): string {
  const page = deps.config.publicUrl + freezePath(repository, made.id);
  const until = describeInstant(made.endsAt!, made.timezone);
  const blocked = whatIsBlocked(made, (name) => asCode(name));
  return [
    // Whether GitHub then refuses to merge them, the warnings say.
    ...(holdsMerges(made)
      ? [
          `**Frozen until ${until}.** The check ${asCode(deps.config.statusContext)} is pending on pull requests of ${asCode(fullName(repository))} until then, unless they are exempt.`,
        ]
      : [`**Deployments are frozen until ${until}.**`]),
    ...(blocked === null ? [] : [blocked]),
    `To end it earlier, write ${asCode('/holdfast unfreeze <reason>')}, or open [the freeze](${page}).`,
    ...warnings.map((warning) => `- ${sentenceInComment(warning)}`),
  ].join('\n\n');
}

/** What to freeze, until when and why, as the API takes it. The time of the command counts, also in its window. */
async function readFreeze({ deps, account, target, words, begun }: SlackOrder) {
  const repositories = selectionOf(target!);
  const name = onlyOf(repositories);
  const read = readWords(words, begun.receivedAt.getTime(), await zoneOf(deps, account.id, name));
  const { reason, body } = read;
  const blocked = whatIsBlocked(read.holding);
  return {
    ...{ repositories, name, reason, body },
    plan: { ...body, name: nameFromReasons({ reason }), repositories },
    until: describeInstant(new Date(read.end.at), read.zone),
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
async function preview(order: SlackOrder): Promise<WindowPreview> {
  const { deps, account } = order;
  const { repositories, until, plan, reason, blocked } = await readFreeze(order);
  await authorizeFreezer(order, repositories, true);
  const seen = await previewPlanSoon(deps, account, readNewPlan(validate(newPlan, plan, 'body')));
  if (seen.matched + seen.archived.length === 0)
    throw notFound(`${account.login} has no repository with this name.`);
  return {
    window: {
      title: 'Freeze',
      act: 'Freeze',
      paragraphs: [
        `*${where(account.login, repositories)}* will be frozen from now until *${until}*.`,
        ...blocked,
        `Reason: ${plain(reason)}`,
        ...whatHolds(order, seen),
      ],
    },
  };
}

export const where = (login: string, { include }: Selection): string =>
  include.length === 1 && include[0] === '*'
    ? `all repositories of ${plain(login)}`
    : include.map((glob) => plain(`${login}/${glob}`)).join(', ');

function whatHolds({ deps, account }: SlackOrder, preview: PlanPreview): string[] {
  const { repositories, notLookedAt, notEnforced, warnings, timeUntilHeld } = preview;
  const held = repositories.flatMap(({ name, pullRequests }) =>
    pullRequests.filter((each) => each.held).map((each) => ({ name, ...each })),
  );
  const excluded = repositories.reduce((sum, each) => sum + each.excluded, 0);
  const lines = held.slice(0, mostPullRequests).map(({ name, number, title }) => {
    const url = deps.config.publicUrl + pullRequestPath({ name, account }, number);
    return `• ${link(url, `${name}#${number}`)} ${plain(title ?? '', 100)}`;
  });
  if (held.length > lines.length) lines.push(`• and ${held.length - lines.length} more`);
  const { blocked, where, notes, loose } = whatGitHubRefuses(repositories);
  const skipped = whatIsSkipped(preview.archived);
  const [atLeast, looked] = notLookedAt.length > 0 ? ['At least ', 'Where Holdfast has looked: '] : ['', ''];
  const others = excluded > 0 ? `, ${excluded} excluded` : '';
  const found = preview.deployments;
  const deployments = found && whatDeploymentsWait(found.places, found.unknown, 'would be');
  const seen = new Map(repositories.map((each) => [each.name, each]));
  // What is said of deployments names the others.
  const unnamed = notEnforced.filter((fullName) => {
    const name = fullName.slice(account.login.length + 1);
    return !loose.has(name) && (seen.get(name)?.mergesEnforced ?? 'no') === 'no';
  });
  return [
    ...(blocksMerges(preview.holding)
      ? [`${atLeast}*${countWords(blocked, 'pull request')}*${where} would be blocked${others}.`]
      : []),
    ...(deployments?.held ? [`${looked}*${plain(deployments.held)}*`] : []),
    ...warned([...notes, ...(deployments ? [...deployments.leaks, ...deployments.notes] : [])]),
    ...(skipped === null ? [] : [plain(skipped, 1_000)]),
    ...(lines.length > 0 ? [lines.join('\n')] : []),
    ...(timeUntilHeld ? [plain(timeUntilHeld.message, 1_000)] : []),
    ...(unnamed.length > 0
      ? [
          `:warning: Not enforced in ${unnamed
            .slice(0, 10)
            .map((name) => plain(name))
            .join(', ')}.`,
        ]
      : []),
    ...warned(warnings.slice(0, 5)),
  ];
}

/** Freezes: one repository by a freeze, several by a plan. */
async function carryOut(order: SlackOrder): Promise<void> {
  const { deps, actor, account, who } = order;
  const { repositories, name, body, plan, until, reason, blocked } = await readFreeze(order);
  await authorizeFreezer(order, repositories, true);
  const told = (path: string, warnings: string[]) =>
    [
      `${who} froze *${where(account.login, repositories)}* until *${until}*: ${plain(reason)}`,
      ...blocked,
      ...warned(warnings),
      link(deps.config.publicUrl + path, 'Show the freeze'),
    ].join('\n');
  const only = name === null ? null : await ownRepositoryNamed(order, name);
  if (only) {
    const input = readNewFreeze(validate(newFreeze, body, 'body'));
    await createFreeze(deps, actor, only, input, (tx, saved) =>
      order.saveAnswer(tx, told(freezePath(only, saved.freeze.id), saved.warnings)),
    );
    return;
  }
  await createPlan(order, readNewPlan(validate(newPlan, plan, 'body')), (tx, saved) =>
    order.saveAnswer(tx, told(planPath(account.login, saved.plan.id), saved.warnings)),
  );
}

async function ownRepositoryNamed({ deps, account }: SlackOrder, name: string) {
  const all = await repositoriesOfOwner(deps.sql, account.id);
  const found = all.find((each) => each.name.toLowerCase() === name.toLowerCase());
  return (await repositoriesOfIds(deps.sql, found ? [found.id] : []))[0] ?? null;
}

export const freeze = { comment: freezeInComment, preview, carryOut };
