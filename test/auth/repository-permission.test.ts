import { expect, test } from 'vitest';
import { askPermission } from '../../src/auth/permissions.ts';

/** GitHub's answer to the question, and the question. */
async function ask(user: { id: number } | null | undefined) {
  const questions: [string, object][] = [];
  const request = async (route: string, parameters: object) => {
    questions.push([route, parameters]);
    return { data: { permission: 'admin', user } };
  };
  const deps = { github: { asInstallation: async () => ({ request }) } } as never;
  const repository = { id: 7n, installation: { id: 1n } } as never;
  return { permission: await askPermission(deps, { id: 1, login: 'ada' }, repository), questions };
}

test('is asked by the id of the repository', async () => {
  const { permission, questions } = await ask({ id: 1 });
  expect(permission).toBe('admin');
  expect(questions).toEqual([
    [
      'GET /repositories/{repository_id}/collaborators/{username}/permission',
      { repository_id: 7, username: 'ada' },
    ],
  ]);
});

test.each([undefined, null, { id: 2 }])('an answer about %j does not count', async (user) => {
  expect((await ask(user)).permission).toBe('none');
});
