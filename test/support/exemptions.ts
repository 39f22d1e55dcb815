// The verbs of stories about exemptions.
import { expect } from 'vitest';
import type { Acme } from './acme.ts';
import type { Answer } from './holdfast.ts';

export type Shown = Record<string, unknown> & { id: string; state: string; expires_at: string };

/** @param as the credential that calls; the admin key where none is given. */
export function exemptionsOf({ call, quiet, admin }: Acme) {
  const base = (repository: string) => `/v1/repos/${repository}`;
  const settled = async (answer: Promise<Answer>): Promise<Answer> => {
    const settledAnswer = await answer;
    await quiet();
    return settledAnswer;
  };
  return {
    /** Asks for an exemption, and waits until that has its effect. */
    request: (repository: string, number: number, more: object = {}, as = admin): Promise<Answer> =>
      settled(
        call('POST', `${base(repository)}/pulls/${number}/exemptions`, {
          as,
          body: { reason: 'INC-4711 fix', ...more },
        }),
      ),
    /** As `request`; fails where it is refused. */
    async exempt(repository: string, number: number, more: object = {}, as = admin): Promise<Shown> {
      const answer = await this.request(repository, number, more, as);
      expect(answer.status, answer.text).toBe(201);
      return answer.body;
    },
    decide: (
      what: 'approve' | 'deny' | 'revoke',
      repository: string,
      { id }: { id: string },
      as = admin,
      body: object = { reason: 'Because' },
    ): Promise<Answer> => settled(call('POST', `${base(repository)}/exemptions/${id}/${what}`, { as, body })),
    /** Asks for an exemption of a deployment to production, and waits until that has its effect. */
    requestToDeploy: (repository: string, what: object, as = admin): Promise<Answer> =>
      settled(
        call('POST', `${base(repository)}/deployment_exemptions`, {
          as,
          body: { environment: 'production', reason: 'INC-4711 fix', ...what },
        }),
      ),
    decideToDeploy: (
      what: 'approve' | 'deny' | 'revoke',
      repository: string,
      { id }: { id: string },
      as = admin,
      body: object = { reason: 'Because' },
    ): Promise<Answer> =>
      settled(call('POST', `${base(repository)}/deployment_exemptions/${id}/${what}`, { as, body })),
    /** The exemptions of a repository, newest first. */
    async list(repository: string, query = '', as = admin): Promise<Shown[]> {
      const answer = await call('GET', `${base(repository)}/exemptions${query}`, { as });
      expect(answer.status, answer.text).toBe(200);
      return answer.body.exemptions;
    },
    /** The events about exemptions in a repository's log, the first one first, less `exemption.`. */
    async told(repository: string): Promise<string[]> {
      const { body } = await call('GET', `${base(repository)}/logs?per_page=100`, { as: admin });
      const types = body.events.map(({ type }: { type: string }) => type).toReversed();
      return types.flatMap((type: string) => /^exemption\.(.*)$/.exec(type)?.[1] ?? []);
    },
  };
}
