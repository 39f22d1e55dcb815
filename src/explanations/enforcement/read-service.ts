import pLimit from 'p-limit';
import { datedBack, githubTimeOf, jobNow } from '../../database/queue/queue.ts';
import type { Deps } from '../../deps.ts';
import type { Grants } from '../../github/app-manifest.ts';
import { isGitHubStatus } from '../../github/github-error.ts';
import { webUrlOf } from '../../github/web-url.ts';
import { type Fact, known, unknownFact } from '../../github/pull-requests/pull-request.ts';
import { readGitHubNetworks, unnamedProxy } from '../../github/hooks.ts';
import { type Asking, askInTime, rejectedBy } from './ask.ts';
import { askRoleHolder, holderText } from '../../settings/role-holders.ts';
import { readSettings } from '../../settings/settings.ts';
import type { Finding } from './finding.ts';
import {
  type AppFacts,
  type ClockFacts,
  judgeWork,
  type RateBudget,
  type WebhookAttempt,
  type WebhookFacts,
  type Work,
} from './judge-service.ts';
import type { RoleFact } from './judge-repository.ts';

/** What the App requests, what was granted, and where to change it. */
export async function readApp(asking: Asking): Promise<AppFacts> {
  const { deps, repository } = asking;
  const web = webUrlOf(deps.config.githubApiUrl);
  const id = Number(repository.installation.id);
  const [app, installation] = await Promise.all([
    askInTime(asking, 'app', async ({ rest }, { request }) => {
      const { data } = await rest.apps.getAuthenticated({ request });
      return { ...grantsOf(data!), settings: settingsOf(web, data!) };
    }),
    askInTime(asking, 'app', async ({ rest }, { request }) => {
      const { data } = await rest.apps.getInstallation({ installation_id: id, request });
      return { ...grantsOf(data), url: data.html_url };
    }),
  ]);
  const { account } = repository;
  const owner = account.type === 'Organization' ? `organizations/${account.login}/` : '';
  return {
    requested: app,
    grants: installation,
    settings: app.known ? app.value.settings : `${web}/settings/apps`,
    installation: installation.known ? installation.value.url : `${web}/${owner}settings/installations/${id}`,
  };
}

const grantsOf = ({ permissions, events }: { permissions: object; events: string[] }): Grants => ({
  permissions: permissions as Grants['permissions'],
  events,
});

/** The settings page of the App, for its owner. */
export function settingsOf(web: string, { slug, owner }: { slug?: string; owner: object | null }): string {
  const { login, type } = (owner ?? {}) as { login?: string; type?: string };
  const owned = type === 'Organization' ? `organizations/${login}/` : '';
  return `${web}/${owned}settings/apps/${slug}`;
}

/** What GitHub and our tables say about webhooks. @param settings the settings page of the App. */
export async function readWebhooks(asking: Asking, settings: string): Promise<WebhookFacts> {
  const [attempts, hook, last] = await Promise.all([
    askInTime(asking, 'app', async (app, { request }): Promise<WebhookAttempt[]> => {
      const { data } = await app.request('GET /app/hook/deliveries', { per_page: 100, request });
      const known = await asking.deps.db.webhookDelivery.findMany({
        where: { guid: { in: data.map(({ guid }) => guid) }, isLost: true },
        select: { guid: true },
      });
      const madeGood = new Set(known.map(({ guid }) => guid));
      return data.map(({ guid, delivered_at: at, status, status_code: code }) => ({
        guid,
        at: new Date(at),
        status,
        isDelivered: code >= 200 && code < 400,
        isMadeGood: madeGood.has(guid),
      }));
    }),
    askInTime(asking, 'app', async ({ rest }, { request }) => {
      const { data } = await rest.apps.getWebhookConfigForApp({ request });
      return { url: withoutQuery(data.url ?? ''), contentType: data.content_type ?? 'form' };
    }),
    asking.deps.db.webhookDelivery.aggregate({ _max: { receivedAt: true }, where: { isLost: false } }),
    Promise.race([readGitHubNetworks(asking.deps), rejectedBy(asking.signal)]).catch(() => {}),
  ]);
  const lastReceived = last._max.receivedAt;
  return { attempts, hook, lastReceived, settings, unnamedProxy: unnamedProxy(asking.deps) };
}

/** Leaves out the rest of the URL, which may contain secrets of relays. */
function withoutQuery(text: string): string {
  const url = URL.parse(text);
  return url ? url.origin + url.pathname : '';
}

/** Whether GitHub still has the people and teams to whom the settings of the repository give a role. */
export async function readRoles(asking: Asking): Promise<RoleFact[]> {
  const { deps, repository } = asking;
  const { freezers, approvers } = await readSettings(deps.db, repository.id);
  const { account } = repository;
  return pLimit(holdersAtOnce).map([...freezers, ...approvers], async (holder) => ({
    text: holderText(holder, account.login),
    isThere: await askInTime(
      asking,
      'installation',
      async (client) => (await askRoleHolder(client, account, holder)) !== null,
    ),
  }));
}

/** How many people and teams we ask about in parallel. */
const holdersAtOnce = 4;

/** What is left of the hourly rate limits. The answer also tells the time. */
export const readLimits = (asking: Asking): Promise<Fact<RateBudget[] | null>> =>
  askInTime(asking, 'installation', async ({ rest }, { request }) => {
    const { data } = await rest.rateLimit.get({ request }).catch((error: unknown) => {
      // GitHub Enterprise Server has no limits by default.
      if (!isGitHubStatus(error, 404)) throw error;
      return { data: null };
    });
    return data && budgetsOf(data.resources);
  });

/** How far the clock of this process is ahead of others. @param answered whether GitHub answers now. */
export function readClock({ witnesses }: Pick<Deps, 'witnesses'>, answered: Fact<unknown>): ClockFacts {
  const ahead = witnesses.ahead('github');
  const github = ahead === null ? unknownFact('GitHub sent no time') : known(ahead);
  return { github: answered.known ? github : answered, database: witnesses.ahead('database') };
}

/** Milliseconds. Longer than a worker needs that takes jobs over from one that died. */
const takenOverWithin = 60_000;

/** Whether workers do what is due, by our tables. */
export async function readWork({
  sql,
  clock,
  witnesses,
}: Pick<Deps, 'sql' | 'clock' | 'witnesses'>): Promise<Work> {
  const [row] = await sql.read<{ since: Date | null; areTaken: boolean }>(
    'read-work',
    `SELECT min(due_at) FILTER (WHERE due_at <= ${jobNow('$1')}) AS since,
      coalesce(bool_or(is_taken AND due_at > ${jobNow('$1')}), false) AS "areTaken"
    FROM jobs WHERE due_at <= ${jobNow('$1')} + interval '1 minute'`,
    [githubTimeOf(witnesses)],
  );
  const { since, areTaken } = row!;
  const isOverdue = since !== null && since.getTime() + datedBack < clock.now() - takenOverWithin;
  return { overdueSince: isOverdue ? new Date(since.getTime() + datedBack) : null, areTaken };
}

/** Whether workers do what is due, apart from any repository; nothing if they do. */
export const findOverdue = async (deps: Parameters<typeof readWork>[0]): Promise<Finding[]> =>
  judgeWork(await readWork(deps), false);

type Limit = { limit: number; remaining: number; reset: number };

const budgetsOf = ({ core, graphql }: { core?: Limit; graphql?: Limit }): RateBudget[] =>
  Object.entries({ requests: core, 'GraphQL points': graphql }).flatMap(([name, budget]) =>
    budget
      ? {
          name,
          limit: budget.limit,
          remaining: budget.remaining,
          resetAt: new Date(budget.reset * 1000),
        }
      : [],
  );
