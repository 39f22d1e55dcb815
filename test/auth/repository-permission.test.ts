import { expect, test } from 'vitest';
import { askPermission } from '../../src/auth/permissions.ts';

type User = { id: number } | null | undefined;

/**
 * GitHub's answer to the question, and the question.
 * @param users whom GitHub answers about, by login. @param login the one that the person has today.
 */
async function ask(users: Record<string, User>, login = 'ada') {
  const questions: [string, object][] = [];
  const request = async (route: string, parameters: { username?: string }) => {
    questions.push([route, parameters]);
    const { username } = parameters;
    return { data: username ? { permission: 'admin', user: users[username] } : { id: 1, login } };
  };
  const deps = { github: { asInstallation: async () => ({ request }) } } as never;
  const repository = { id: 7n, installation: { id: 1n } } as never;
  return { permission: await askPermission(deps, { id: 1, login: 'ada' }, repository), questions };
}

test('is asked by the id of the repository', async () => {
  const { permission, questions } = await ask({ ada: { id: 1 } });
  expect(permission).toBe('admin');
  expect(questions).toEqual([
    [
      'GET /repositories/{repository_id}/collaborators/{username}/permission',
      { repository_id: 7, username: 'ada' },
    ],
  ]);
});

test.each([undefined, null, { id: 2 }])('an answer about %j does not count', async (user) => {
  expect((await ask({ ada: user })).permission).toBe('none');
});

test('a person with another login today is asked about under it', async () => {
  const { permission, questions } = await ask({ ada: { id: 2 }, lovelace: { id: 1 } }, 'lovelace');
  expect(permission).toBe('admin');
  expect(questions[1]).toEqual(['GET /user/{account_id}', { account_id: 1 }]);
  expect(questions).toHaveLength(3);
});
