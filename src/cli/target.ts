import { misused } from './stop.ts';

/** What a command is about: an owner, a repository, or a pull request. */
export type CommandTarget = OwnerOrRepository & { number: number | null };
export type OwnerOrRepository = { owner: string; repository: string | null };
export type RepositoryTarget = { owner: string; repository: string };
export type PullRequestTarget = RepositoryTarget & { number: number };

const targetShape =
  /^(?<owner>[A-Za-z0-9-]{1,40})(?:\/(?<repository>[\w.-]{1,100})(?:#(?<number>\d{1,15}))?)?$/;
const pullRequestUrl =
  /^https?:\/\/[^/]+\/(?:repos\/)?(?<path>[^/]+(?:\/[^/]+)?)(?:\/pulls?\/(?<number>\d+))?(?:[/?#].*)?$/;

/** Reads `acme`, `acme/web` or `acme/web#5`, or the address of its page. @throws Stop for anything else. */
export function readCommandTarget(text: string): CommandTarget {
  const address = pullRequestUrl.exec(text)?.groups;
  const name = address ? address['path']! + (address['number'] ? `#${address['number']}` : '') : text;
  const found = targetShape.exec(name)?.groups;
  if (!found) throw misused(`"${text}" is not a repository. Write acme, acme/web or acme/web#5.`);
  const { owner, repository, number } = found;
  return { owner: owner!, repository: repository ?? null, number: number ? Number(number) : null };
}

/** Reads `acme`. @throws Stop for anything else. */
export function readOwner(text: string): string {
  const { owner, repository } = readCommandTarget(text);
  if (repository !== null) throw misused(`"${text}" is a repository. Write only the owner: ${owner}.`);
  return owner;
}

/** Reads `acme` or `acme/web`. @throws Stop for a pull request. */
export function readPlace(text: string): OwnerOrRepository {
  const { owner, repository, number } = readCommandTarget(text);
  if (number !== null) throw misused(`"${text}" is a pull request. Write ${owner}/${repository}.`);
  return { owner, repository };
}

/** Whether this is a pattern of names, such as `api-*`. */
export const isGlob = (name: string): boolean => /[*?[{]/.test(name);

/** Reads `acme`, `acme/web` or a pattern of names, such as `acme/api-*`. @throws Stop for anything else. */
export function readGlob(text: string): OwnerOrRepository {
  const [owner = '', name = '', ...more] = text.split('/');
  return isGlob(name) && more.length === 0 ? { ...readPlace(owner), repository: name } : readPlace(text);
}

/** Reads `acme/web`. @throws Stop for anything else. */
export function readRepository(text: string): RepositoryTarget {
  const { owner, repository } = readPlace(text);
  if (repository === null) throw misused(`"${text}" is an owner. Write a repository, such as ${owner}/web.`);
  return { owner, repository };
}

/** Reads `acme/web#5`. @throws Stop for anything else. */
export function readPullRequestTarget(text: string): PullRequestTarget {
  const { owner, repository, number } = readCommandTarget(text);
  if (repository === null || number === null)
    throw misused(`"${text}" is not a pull request. Write one such as ${owner}/${repository ?? 'web'}#5.`);
  return { owner, repository, number };
}

export const nameOfTarget = ({ owner, repository }: OwnerOrRepository): string =>
  repository === null ? owner : `${owner}/${repository}`;

export const nameOfPullRequest = ({ number, ...repository }: PullRequestTarget): string =>
  `${nameOfTarget(repository)}#${number}`;

/** Whether this is the form of an id. */
export const isId = (text: string): boolean => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text);
