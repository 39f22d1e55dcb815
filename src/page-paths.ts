type Named = { name: string; account: { login: string } };

/** The page of all repositories of an owner. */
export const ownerPath = (login: string): string => `/repos/${login}`;

/** Where an owner's freezes are made and ended: apart from the addresses of its repositories, which may have any name. */
export const ownerFormPath = (login: string, form: 'freeze' | 'unfreeze' | 'plans/new'): string =>
  `/owners/${login}/${form}`;

/** The page that follows how GitHub comes to hold what a plan or a freeze is to hold. */
export const progressPath = (login: string, of: { plan: string } | { freeze: string }): string =>
  `/owners/${login}/progress?${new URLSearchParams(of)}`;

/** The page of a plan. */
export const planPath = (login: string, id: string): string => `/owners/${login}/plans/${id}`;

/** The page of a repository's freezes. */
export const repositoryPath = ({ account, name }: Named): string => `/repos/${account.login}/${name}`;

/** The page of one freeze. */
export const freezePath = (repository: Named, id: string): string =>
  `${repositoryPath(repository)}/freezes/${id}`;

/** The page that says what holds a pull request. */
export const pullRequestPath = (repository: Named, number: number): string =>
  `${repositoryPath(repository)}/pulls/${number}`;

/** The page that says what holds a merge group, by its head SHA. */
export const mergeGroupPath = (repository: Named, sha: string): string =>
  `${repositoryPath(repository)}/merge-groups/${sha}`;

/** Where somebody signs in, to come back to a path of ours. */
export const signInPath = (to: string): string => `/auth/sign-in?to=${encodeURIComponent(to)}`;

/** What is left to do after the installation on an owner. */
export const firstStepsPath = (login: string): string => `/owners/${login}/first-steps`;
