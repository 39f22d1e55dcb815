import type { Context } from 'hono';
import { html } from 'hono/html';
import { repositoryPath } from '../api/path-params.ts';
import type { Deps } from '../deps.ts';
import type { FoundRepository } from '../repositories/find-repository.ts';
import { layout } from './layout.ts';

/** A page's repository, and who reads it: null where nobody is signed in. */
export type Opened = { repository: FoundRepository; viewer: { login: string } | null };

/**
 * The repository that a page's path names, for people who can read it.
 * @returns else the answer to send: one and the same 404 for what is unknown and for what one may not see.
 */
export async function openRepositoryPage(deps: Deps, context: Context): Promise<Opened | Response> {
  const path = repositoryPath.safeParse(context.req.param());
  const repository = path.success ? await known(deps, path.data.owner, path.data.repository) : null;
  return repository ? { repository, viewer: null } : context.html(absent, 404);
}

async function known(deps: Deps, owner: string, name: string): Promise<FoundRepository | null> {
  const found = await deps.db.repository.findFirst({
    where: {
      nameKey: name.toLowerCase(),
      account: { loginKey: owner.toLowerCase() },
      installation: { deletedAt: null },
    },
    include: { account: true, installation: true },
    orderBy: { seenAt: 'desc' },
  });
  return found?.installation ? { ...found, installation: found.installation } : null;
}

const absent = layout({
  title: 'Not found',
  body: html`<h1>There is no such page</h1>
    <p>Or it belongs to a repository that you cannot read. Check the address.</p>`,
});
