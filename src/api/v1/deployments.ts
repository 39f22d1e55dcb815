import { z } from '@hono/zod-openapi';
import { type Deployment, deploymentStates } from '../../deployments/deployment.ts';
import { listDeployments } from '../../deployments/deployment-store.ts';
import { webUrlOf } from '../../github/web-url.ts';
import { fieldsOfSchema, pageAnswer, pagingHeaders, pagesAreLinked, pagingQuery } from '../answers.ts';
import { endpoint } from '../endpoint.ts';
import { repositoryParams } from '../fields.ts';

const deploymentSchema = z
  .object({
    run_id: z.int(),
    attempt: z.int(),
    environment: z.string(),
    workflow: z.string(),
    ref: z.string(),
    sha: z.string(),
    requested_at: z.iso.datetime(),
    state: z.enum(deploymentStates).openapi({
      description:
        '`superseded`: rejected, because a newer run went out. `bypassed`: somebody started it past a freeze. `gone`: cancelled, deleted, or forgotten by GitHub after 30 days',
    }),
    freeze_ids: z.array(z.uuid()).openapi({ description: 'The freezes that hold it, or did' }),
    decided_at: z.iso.datetime().nullable(),
    url: z.url().openapi({ description: 'The page of the run on GitHub' }),
  })
  .openapi('Deployment');

const exampleDeployment = {
  run_id: 9_000_000_001,
  attempt: 1,
  environment: 'production',
  workflow: 'Deploy',
  ref: 'main',
  sha: '6dcb09b5b57875f334f61aebed695e2e4193db5e',
  requested_at: '2026-12-30T18:00:00.000Z',
  state: 'waiting' as const,
  freeze_ids: ['6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f'],
  decided_at: null,
  url: 'https://github.com/acme/web/actions/runs/9000000001',
};

const presentDeployment = (deployment: Deployment, repositoryUrl: string) =>
  fieldsOfSchema(deploymentSchema, {
    ...deployment,
    url: `${repositoryUrl}/actions/runs/${deployment.runId}`,
  });

export const listDeploymentsEndpoint = endpoint({
  method: 'get',
  path: '/repos/{owner}/{repository}/deployments',
  tag: 'Deployments',
  summary: 'List the deployments that GitHub asked about, newest first',
  description: pagesAreLinked,
  access: { to: 'repository', scope: 'admin', least: 'write' },
  params: repositoryParams,
  query: z.object({ state: z.enum(deploymentStates).optional(), ...pagingQuery(30) }),
  success: {
    status: 200,
    description: 'A page of deployments, including those that were decided in the last 90 days',
    headers: pagingHeaders,
    schema: z.object({ deployments: z.array(deploymentSchema) }).openapi('Deployments'),
    example: { deployments: [exampleDeployment] },
  },
  async handle({ deps, repository, query: { state, per_page: size, cursor }, url }) {
    const { rows, older, newer } = await listDeployments(deps.db, repository.id, state, { size, cursor });
    const repositoryUrl = `${webUrlOf(deps.config.githubApiUrl)}/${repository.account.login}/${repository.name}`;
    const deployments = rows.map((each) => presentDeployment(each, repositoryUrl));
    return pageAnswer(url, { deployments }, { next: older, prev: newer });
  },
});
