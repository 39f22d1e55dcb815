import { randomUUID } from 'node:crypto';
import { nowOf } from '../../time/clock.ts';
import type { Tx } from '../../database/database.ts';
import { type SqlTx, throughPrisma } from '../../database/sql.ts';
import { conflict, notFound } from '../../errors.ts';
import type { Actor } from '../../events/actor.ts';
import { appendEvent } from '../../events/append-event.ts';
import type { Account } from '../../generated/prisma/client.ts';
import { lockAccount } from '../../installations/find-account.ts';
import type { OidcRule } from './oidc-rule.ts';
import type { AuthDeps } from '../auth-deps.ts';

// Lists that are null are saved empty. A rule that a key made counts as long as that key. Otherwise a key could leave something behind after its end.
const counting = `
  SELECT r.id, r.name, nullif(r.repositories, '{}') AS repositories, nullif(r.refs, '{}') AS refs,
    nullif(r.environments, '{}') AS environments, r.may, r.created_at AS "createdAt", r.created_by AS "createdBy"
  FROM oidc_rules r LEFT JOIN application_keys k ON k.id = r.key_id
  WHERE r.account_id = $1
    AND (r.key_id IS NULL OR (k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $2::timestamptz)))
  ORDER BY r.created_at, r.id`;

/** The rules of an account that count, oldest first. */
export const rulesOf = (sql: SqlTx, accountId: bigint, now: Date): Promise<OidcRule[]> =>
  sql.query<OidcRule>('oidc-rules', counting, [accountId, now]);

/** The most rules of an owner: each is compared with a token of its jobs. */
const mostRules = 100;

export type NewOidcRule = Omit<OidcRule, 'id' | 'createdAt' | 'createdBy'>;

/** A rule in the audit log and for clients, without its id. */
const attributesOfRule = ({ name, repositories, refs, environments, may }: NewOidcRule) => ({
  name,
  repositories,
  refs,
  environments,
  may,
});

/**
 * Makes a rule for an owner. It counts from now on.
 * @param beforeAnswering runs last in the same transaction.
 * @throws Refusal conflict if the owner already has the most rules.
 */
export async function createRule(
  deps: Pick<AuthDeps, 'db' | 'clock' | 'log'>,
  actor: Actor,
  account: Account,
  wanted: NewOidcRule,
  beforeAnswering: (tx: Tx, rule: OidcRule) => Promise<void> = async () => {},
): Promise<OidcRule> {
  const now = nowOf(deps.clock);
  const rule: OidcRule = { ...wanted, id: randomUUID(), createdAt: now, createdBy: actor };
  await deps.db.$transaction(async (tx) => {
    await lockAccount(tx, account.id);
    if ((await rulesOf(throughPrisma(tx), account.id, now)).length >= mostRules)
      throw conflict(
        `${account.login} has ${mostRules} OIDC rules, the most there can be. Delete one first: GET /v1/oidc_rules/${account.login} lists them.`,
      );
    await tx.oidcRule.create({
      data: {
        ...rule,
        repositories: rule.repositories ?? [],
        refs: rule.refs ?? [],
        environments: rule.environments ?? [],
        accountId: account.id,
        keyId: actor.type === 'application' ? actor.id : null,
      },
    });
    const metadata = { oidc_rule_id: rule.id, oidc_rule_attributes: attributesOfRule(rule) };
    await appendEvent(tx, { accountId: account.id }, { type: 'oidc_rule.create', metadata }, actor, now);
    await beforeAnswering(tx, rule);
  });
  deps.log.info({ account: account.login, rule: rule.id, by: actor.name }, 'OIDC rule created');
  return rule;
}

/** Deletes a rule. From now on it lets in no job. @throws Refusal not-found if the owner has no such rule. */
export async function deleteRule(
  deps: Pick<AuthDeps, 'db' | 'clock' | 'log'>,
  actor: Actor,
  account: Account,
  id: string,
): Promise<void> {
  const now = nowOf(deps.clock);
  await deps.db.$transaction(async (tx) => {
    await lockAccount(tx, account.id);
    const rules = await rulesOf(throughPrisma(tx), account.id, now);
    const rule = rules.find((each) => each.id === id.toLowerCase());
    if (!rule) throw notFound(`${account.login} has no OIDC rule ${id}. List them to see which there are.`);
    await tx.oidcRule.delete({ where: { id: rule.id } });
    const metadata = { oidc_rule_id: rule.id, oidc_rule_attributes: attributesOfRule(rule) };
    await appendEvent(tx, { accountId: account.id }, { type: 'oidc_rule.delete', metadata }, actor, now);
  });
  deps.log.info({ account: account.login, rule: id, by: actor.name }, 'OIDC rule deleted');
}
