import { type Service, v1 } from '../service/service.ts';
import type { PullRequest } from '../target.ts';

/** What a pull request touches, as the API takes it. */
export type Pushed = { scopes: string[]; all_scopes: boolean };

/** Replaces the scopes of a pull request. @throws Stop */
export const pushScopes = (service: Service, { owner, repository, number }: PullRequest, pushed: Pushed) =>
  service.put<null>(v1('repos', owner, repository, 'pulls', number, 'scopes'), pushed);
