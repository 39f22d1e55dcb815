import { z } from '@hono/zod-openapi';
import { exemptionStates } from '../../freezes/exemptions/exemption.ts';
import { listExemptions } from '../../freezes/exemptions/exemption-store.ts';
import {
  type NewDeploymentExemption,
  requestDeploymentExemption,
} from '../../freezes/exemptions/request-exemption.ts';
import { endpoint, HandlerAnswer } from '../endpoint.ts';
import { repositoryPath, text } from '../fields.ts';
import { linkHeader, linkHeaderDescription, pagingQuery } from '../paging.ts';
import {
  commit,
  deploymentExemptionSchema,
  exampleDeploymentExemption,
  presentDeploymentExemption,
  readWish,
  wish,
} from './exemption-schemas.ts';
import { decisionEndpoints } from './exemptions.ts';

const path = '/repos/{owner}/{repository}/deployment_exemptions';
const tag = 'Deployments';

export const newDeploymentExemption = z
  .object({
    environment: text(255, 'An environment').min(1, 'Send the name of an environment, such as production.'),
    sha: commit.openapi({ description: 'The commit that may be deployed. Send this or `run_id`' }),
    run_id: z.int().positive().nullish().openapi({
      description: 'The run of a workflow that may deploy, as in its address on GitHub. Send this or `sha`',
    }),
    ...wish,
  })
  .refine(({ sha, run_id }) => ((sha ?? null) === null) !== ((run_id ?? null) === null), {
    path: ['sha'],
    error: 'Send either sha or run_id: the commit or the run that may deploy.',
  })
  .openapi('NewDeploymentExemption');

export const readDeploymentExemption = ({
  environment,
  sha = null,
  run_id,
  ...given
}: z.output<typeof newDeploymentExemption>): NewDeploymentExemption => ({
  ...{ environment, sha, runId: typeof run_id === 'number' ? BigInt(run_id) : null },
  ...readWish(given),
});

export const requestDeploymentExemptionEndpoint = endpoint({
  method: 'post',
  path,
  tag,
  summary: 'Exempt a deployment from freezes, or request an exemption',
  description:
    'For one environment, and one commit or one run, which may not exist yet. One deployment goes out with it: the first run of that commit, or the newest if several wait. The exemption of a repository admin is approved at once, unless the repository requires two people. The exemption of anybody else with write access is `requested`.',
  access: { to: 'repository', scope: 'admin', least: 'write', isLive: true },
  params: repositoryPath,
  body: {
    schema: newDeploymentExemption,
    example: {
      environment: 'production',
      sha: exampleDeploymentExemption.sha,
      reason: 'INC-4711 fix',
    },
  },
  success: {
    status: 201,
    description: 'The exemption',
    schema: deploymentExemptionSchema,
    example: exampleDeploymentExemption,
  },
  async handle({ deps, actor, repository, notAdmin, body, remember }) {
    const { publicUrl } = deps.config;
    const made = await requestDeploymentExemption(
      deps,
      { actor, notAdmin },
      repository,
      readDeploymentExemption(body),
      (tx, exemption) =>
        remember(tx, { status: 201, body: presentDeploymentExemption(exemption, repository, publicUrl) }),
    );
    return presentDeploymentExemption(made, repository, publicUrl);
  },
});

export const listDeploymentExemptionsEndpoint = endpoint({
  method: 'get',
  path,
  tag,
  summary: "List a repository's exemptions of deployments, newest first",
  description: 'Pages are linked by the `Link` header (`next`, `prev`).',
  access: { to: 'repository', scope: 'admin', least: 'write', role: 'approver' },
  params: repositoryPath,
  query: z.object({ state: z.enum(exemptionStates).optional(), ...pagingQuery(30) }),
  success: {
    status: 200,
    description: 'A page of exemptions, including those that are over',
    headers: { Link: linkHeaderDescription },
    schema: z
      .object({ deployment_exemptions: z.array(deploymentExemptionSchema) })
      .openapi('DeploymentExemptions'),
    example: { deployment_exemptions: [exampleDeploymentExemption] },
  },
  async handle({ deps, repository, query: { state, per_page: size, cursor }, url }) {
    const place = { repositoryId: repository.id };
    const filter = { of: 'deployment' as const, state };
    const { rows, older, newer } = await listExemptions(deps.db, place, filter, { size, cursor });
    const all = rows.map((each) => presentDeploymentExemption(each, repository, deps.config.publicUrl));
    return new HandlerAnswer(
      200,
      { deployment_exemptions: all },
      linkHeader(url, { next: older, prev: newer }),
    );
  },
});

export const deploymentExemptionDecisionEndpoints = decisionEndpoints({
  of: 'deployment',
  ...{ path, tag, schema: deploymentExemptionSchema, example: exampleDeploymentExemption },
  present: presentDeploymentExemption,
});
