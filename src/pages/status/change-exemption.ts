import { z } from '@hono/zod-openapi';
import type { Handler } from 'hono';
import * as params from '../../api/path-params.ts';
import { givenReason } from '../../api/v1/exemption-schemas.ts';
import { validate } from '../../api/validate.ts';
import { nowOf } from '../../clock.ts';
import { invalid, Refusal } from '../../errors.ts';
import { type Decision, decideExemption } from '../../exemptions/decide-exemption.ts';
import { findExemption } from '../../exemptions/exemption-store.ts';
import { requestExemption } from '../../exemptions/request-exemption.ts';
import { greatestNumber } from '../../github/greatest-number.ts';
import { pullRequestPath } from '../../installations/page-paths.ts';
import { type RepositoryChange, repositoryForm, sendOnce } from '../change.ts';
import { type FormProblems, problemsOf } from '../form.ts';
import { absentPage, type PageDeps } from '../reader.ts';
import { durations } from './exemption-forms.ts';
import { pullRequestPage } from './pull-request-page.ts';

/** Handles the form that requests an exemption. An admin's is approved at once, unless the repository requires two people. */
export const askForExemption = (deps: PageDeps): Handler =>
  repositoryForm(deps, 'write', async (sent) => {
    const { actor, repository, notAdmin, form, context, person } = sent;
    const number = numberIn(sent);
    if (number === null) return absentPage(sent.deps, context, person);
    return orThePage(sent, () => {
      const headSha = form.get('head_sha');
      const fields = { reason: reasonIn(form), hours: hoursIn(form), anyHead: form.has('any_head'), headSha };
      return sendOnce(sent, fields, async (remember) => {
        const { hours, ...asked } = fields;
        const expiresAt = new Date(nowOf(sent.deps.clock).getTime() + hours * 3_600_000);
        const input = { ...asked, publicReason: null, freezeIds: null, expiresAt };
        const to = pullRequestPath(repository, Number(number));
        await requestExemption(sent.deps, { actor, notAdmin }, repository, number, input, (tx) =>
          remember(tx, to),
        );
        return to;
      });
    });
  });

export const decisions = ['approve', 'deny', 'revoke'] as const satisfies Decision[];

/** Handles a form that decides on an exemption. The person who requested it may revoke it too. */
export const decideOnExemption = (deps: PageDeps, decision: Decision): Handler =>
  repositoryForm(deps, 'write', async (sent) => {
    const { actor, repository, notAdmin, form, context, person } = sent;
    const number = numberIn(sent);
    const id = params.uuid('id').safeParse(context.req.param('id'));
    const exemption = id.success ? await findExemption(sent.deps.db, repository.id, id.data) : null;
    if (number === null || exemption?.pullRequest !== Number(number))
      return absentPage(sent.deps, context, person);
    return orThePage(sent, async () => {
      const reason = decision === 'approve' ? null : reasonIn(form);
      const call = { actor, notAdmin, decision, reason };
      await decideExemption(sent.deps, repository, exemption.id, call, async () => {});
      return context.redirect(pullRequestPath(repository, Number(number)), 303);
    });
  });

/** The pull request of the path. */
function numberIn({ context }: RepositoryChange): bigint | null {
  const number = params.number.safeParse(context.req.param('number'));
  return number.success && number.data <= greatestNumber ? number.data : null;
}

/** Makes a change; if it is refused, shows the pull request's page with the errors next to the form. */
async function orThePage(
  { deps, context, form }: RepositoryChange,
  change: () => Promise<Response>,
): Promise<Response> {
  try {
    return await change();
  } catch (error) {
    return pullRequestPage(deps, context, { form, problems: told(error) });
  }
}

/** A person who may not decide sees that on the page, next to what they may do. */
const told = (error: unknown): FormProblems =>
  error instanceof Refusal && error.code === 'forbidden' ? new Map([['', error.message]]) : problemsOf(error);

function reasonIn(form: URLSearchParams): string {
  const reason = form.get('reason')?.trim() ?? '';
  return validate(z.object({ reason: givenReason }), { reason }, 'body').reason;
}

function hoursIn(form: URLSearchParams): number {
  const hours = form.get('hours') ?? '';
  if (Object.hasOwn(durations, hours)) return Number(hours);
  throw invalid([{ path: ['body', 'hours'], message: 'Choose a duration.', type: 'value_error' }]);
}
