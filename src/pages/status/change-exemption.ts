import { z } from '@hono/zod-openapi';
import type { Handler } from 'hono';
import {
  givenReason,
  newDeploymentExemption,
  readDeploymentExemption,
} from '../../api/v1/exemption-schemas.ts';
import { validate } from '../../api/read-request.ts';
import { authorizeRepository } from '../../auth/authorize.ts';
import { knownAccount } from '../../installations/find-account.ts';
import { nowOf } from '../../time/clock.ts';
import { Refusal } from '../../errors.ts';
import { type Decision, decideExemption } from '../../exemptions/decide-exemption.ts';
import { type ExemptionRecord, findExemption } from '../../exemptions/exemption-store.ts';
import { requestDeploymentExemption, requestExemption } from '../../exemptions/request-exemption.ts';
import { exemptionsPath, ownerDeploymentsPath, pullRequestPath, repositoryPath } from '../../page-paths.ts';
import { changeRows, chosenRows, goneRow } from '../bulk.ts';
import { answerForm, once, type RepositoryChange, repositoryForm, type SentForm } from '../change.ts';
import { badField, type FormProblems, formProblemsOf } from '../form.ts';
import { absentPage, type PageDeps, uuidOf } from '../reader.ts';
import { approvedQuery } from '../undo.ts';
import { exemptionDurations, nameOfExemption } from './exemption-forms.ts';
import { numberOf, pullRequestPage } from './status-pages.ts';

/** Handles the form that requests an exemption. An admin's is approved at once, unless the repository requires two people. */
export const askForExemption = (deps: PageDeps): Handler =>
  repositoryForm(deps, { least: 'write' }, async (sent) => {
    const { actor, repository, notAdmin, form } = sent;
    const number = numberOf(sent);
    if (number === null) return absentPage(sent);
    return orThePage(sent, async () => {
      const headSha = form.get('head_sha');
      const fields = { reason: reasonIn(form), hours: hoursIn(form), anyHead: form.has('any_head'), headSha };
      return once(sent, fields, async (remember) => {
        const { hours, ...requested } = fields;
        const expiresAt = new Date(nowOf(sent.deps.clock).getTime() + hours * 3_600_000);
        const input = { ...requested, publicReason: null, freezeIds: null, expiresAt };
        const caller = { actor, notAdmin };
        const made = (exemption: ExemptionRecord) =>
          `${pullRequestPath(repository, Number(number))}?${askedQuery(exemption)}`;
        return made(
          await requestExemption(sent.deps, caller, repository, number, input, (tx, exemption) =>
            remember(tx, made(exemption)),
          ),
        );
      });
    });
  });

/** Handles the form that exempts a deployment. A refusal has a page of its own. */
export const askForDeployment = (deps: PageDeps): Handler =>
  repositoryForm(deps, { least: 'write' }, async (sent) => {
    const { actor, repository, notAdmin, form, context } = sent;
    const run = form.get('run_id');
    const given = {
      environment: form.get('environment') ?? '',
      ...(run === null ? { sha: form.get('sha')?.trim() ?? '' } : { run_id: Number(run) }),
      reason: reasonIn(form),
    };
    const wanted = readDeploymentExemption(validate(newDeploymentExemption, given, 'body'));
    const to = await once(sent, given, async (remember) => {
      const made = (exemption: ExemptionRecord) =>
        form.has('from_list')
          ? `${ownerDeploymentsPath(repository.account.login)}?${askedQuery(exemption)}`
          : `${repositoryPath(repository)}?${askedQuery(exemption)}#deployments`;
      const caller = { actor, notAdmin };
      return made(
        await requestDeploymentExemption(sent.deps, caller, repository, wanted, (tx, exemption) =>
          remember(tx, made(exemption)),
        ),
      );
    });
    return context.redirect(to, 303);
  });

/** What the page that follows says: that it counts, or that it waits for a decision. */
const askedQuery = ({ id, state }: ExemptionRecord): string =>
  state === 'approved' ? approvedQuery(id) : 'said=requested';

export const decisions = ['approve', 'deny', 'revoke'] as const satisfies Decision[];

/** Handles a form that decides on an exemption. The person who requested it may revoke it too. */
export const decideOnExemption = (deps: PageDeps, decision: Decision): Handler =>
  repositoryForm(deps, { least: 'write', role: 'approver' }, async (sent) => {
    const { actor, repository, notAdmin, form, context } = sent;
    const id = uuidOf(sent, 'id');
    const exemption = id && (await findExemption(sent.deps.db, repository.id, id));
    const number = context.req.param('number') === undefined ? 0 : Number(numberOf(sent) ?? -1);
    if (!exemption || exemption.pullRequest !== number) return absentPage(sent);
    const decide = async () => {
      const reason = decision === 'approve' ? null : reasonIn(form);
      const call = { actor, notAdmin, decision, reason };
      await decideExemption(sent.deps, repository, exemption.id, call, async () => {});
      const said = decision === 'approve' ? `?${approvedQuery(exemption.id)}` : '';
      if (form.has('from_list'))
        return exemptionsPath(repository.account.login) + (decision === 'deny' ? '?said=denied' : said);
      return exemption.deployment
        ? `${repositoryPath(repository)}${said}#deployments`
        : pullRequestPath(repository, number) + said;
    };
    return exemption.deployment ? context.redirect(await decide(), 303) : orThePage(sent, decide);
  });

/** `POST /owners/{owner}/exemptions`: approves the selected requests, or takes approvals back (`revoke`), each by itself. */
export async function decideOnSeveral(sent: SentForm): Promise<Response> {
  const { deps, context, caller, actor, form } = sent;
  const account = await knownAccount(deps, context.req.param('owner') ?? '');
  if (!account) return absentPage(sent);
  const decision = form.has('reason') ? 'revoke' : 'approve';
  const reason = decision === 'approve' ? null : reasonIn(form);
  const ids = chosenRows(form).map(({ id }) => id);
  const rows = await deps.db.exemption.findMany({
    where: { id: { in: ids }, repository: { accountId: account.id } },
    select: { id: true, number: true, environment: true, repository: { select: { name: true } } },
    orderBy: { serial: 'asc' },
  });
  const audience = {
    scope: 'admin',
    isLive: true,
    releases: true,
    least: 'write',
    role: 'approver',
  } as const;
  const authorize = (repository: string) =>
    authorizeRepository(deps, caller, audience, { owner: account.login, repository });
  // GitHub is asked once for each repository.
  const asked = new Map<string, ReturnType<typeof authorize>>();
  const done: string[] = [];
  const acts = rows.map(({ id, number, environment, repository: { name } }) => ({
    name: nameOfExemption(`${account.login}/${name}`, number, environment),
    unseen: id,
    async act() {
      if (!asked.has(name)) asked.set(name, authorize(name));
      const { repository, notAdmin } = await asked.get(name)!;
      await decideExemption(deps, repository, id, { actor, notAdmin, decision, reason }, async () => {});
      done.push(id);
    },
  }));
  const said = () => (decision === 'approve' ? `?${approvedQuery(done.join(' '))}` : '');
  const known = new Set(rows.map(({ id }) => id));
  const missing = ids.filter((id) => !known.has(id)).map(goneRow);
  return changeRows(sent, [...acts, ...missing], { list: exemptionsPath(account.login), said });
}

/** Makes a change; if it is refused, shows the pull request's page with the errors next to the form. */
const orThePage = (sent: RepositoryChange, change: () => Promise<string>): Promise<Response> =>
  answerForm(
    sent,
    change,
    (problems) => pullRequestPage(sent, { form: sent.form, problems }),
    problemsToShow,
  );

/** A person who may not decide sees that on the page, next to what they may do. */
const problemsToShow = (error: unknown): FormProblems =>
  error instanceof Refusal && error.code === 'forbidden'
    ? new Map([['', error.message]])
    : formProblemsOf(error);

function reasonIn(form: URLSearchParams): string {
  const reason = form.get('reason')?.trim() ?? '';
  return validate(z.object({ reason: givenReason }), { reason }, 'body').reason;
}

function hoursIn(form: URLSearchParams): number {
  const hours = form.get('hours') ?? '';
  if (Object.hasOwn(exemptionDurations, hours)) return Number(hours);
  throw badField('hours', 'Choose a duration.');
}
