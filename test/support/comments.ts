// The verbs of stories about commands in comments.
import { expect } from 'vitest';
import type { Config } from '../../src/config.ts';
import { type Acme, startAcme } from './acme.ts';

/** What the App asks for where people may write commands. */
export const forComments = [{ issues: 'read', pull_requests: 'write' }, ['issue_comment']] as const;

export type Commenting = Acme & {
  /** A token of each person. */
  tokens: Record<'ada' | 'bob' | 'rita' | 'wes' | 'eve', string>;
  /** Writes a comment, and waits until all that follows is done. @returns its id. */
  write(repository: string, number: number, by: string, body: string): Promise<number>;
  /** Writes a command. @returns our one answer to it, without the link and the mark. */
  say(repository: string, number: number, by: string, command: string): Promise<string>;
  /** Our answers on a pull request, the oldest first, as they are written. */
  answers(repository: string, number: number): string[];
};

/**
 * acme, whose App takes commands: ada and rita administer, wes writes, bob and eve read.
 * @param config as for `startHoldfast`.
 */
export async function startCommenting(config: Partial<Config> = {}): Promise<Commenting> {
  const acme = await startAcme(config);
  const { github, quiet } = acme;
  for (const login of ['rita', 'wes', 'eve']) github.addUser(login);
  github.askForMore({ ...forComments[0] }, [...forComments[1]]);
  github.acceptPermissions('acme', github.app.permissions);
  await quiet();
  const token = (login: string) => github.addToken(login, { kind: 'classic', scopes: ['repo', 'admin:org'] });
  const commenting: Commenting = {
    ...acme,
    tokens: {
      ada: token('ada'),
      bob: token('bob'),
      rita: token('rita'),
      wes: token('wes'),
      eve: token('eve'),
    },
    repository: (name, pullRequests = [{}], options = {}) =>
      acme.repository(name, pullRequests, { roles: { rita: 'admin', wes: 'write' }, ...options }),
    async write(repository, number, by, body) {
      const id = github.comment(repository, number, { by, body });
      await quiet();
      return id;
    },
    async say(repository, number, by, command) {
      const before = commenting.answers(repository, number);
      const id = await commenting.write(repository, number, by, command);
      const after = commenting.answers(repository, number);
      expect(after.length, after.join('\n')).toBe(before.length + 1);
      const answer = after.at(-1)!;
      const page = `https://holdfast.example/repos/${repository}/pulls/${number}`;
      const end = `\n\n[View this pull request on Holdfast](${page})\n\n<!-- holdfast answers comment ${id} -->`;
      expect(answer.endsWith(end), answer).toBe(true);
      return answer.slice(0, -end.length);
    },
    answers: (repository, number) =>
      github
        .comments(repository, number)
        .filter(({ by }) => by === 'holdfast[bot]')
        .map(({ body }) => body),
  };
  return commenting;
}
