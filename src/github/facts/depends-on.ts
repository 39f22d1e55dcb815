import { withoutComments } from './without-comments.ts';

/** A pull request that another pull request names. */
export type PullRequestName = { owner: string; name: string; number: number };

/** An owner and a repository, in a link or before `#`. */
const fullName = String.raw`([\w-]+)\/([\w.-]+)`;
const line = new RegExp(
  String.raw`^[ \t]*Depends-On:[ \t]*(?:(?:${fullName})?#(\d{1,10})|https?:\/\/([^\s/]+)\/${fullName}\/pull\/(\d{1,10})\/?)[ \t]*$`,
  'i',
);

/**
 * The pull requests that a description names in lines `Depends-On: #12`, `Depends-On: owner/repo#12` or
 * `Depends-On: https://host/owner/repo/pull/12`, each once.
 * @param own the pull request with this description.
 */
export function dependsOn(
  body: string,
  own: { owner: string; name: string; host: string },
): PullRequestName[] {
  const named = new Map<string, PullRequestName>();
  for (const text of withoutComments(body).split(/\r?\n/)) {
    const [, owner, name, number, host, linkedOwner, linkedName, linkedNumber] = line.exec(text) ?? [];
    if (host !== undefined && host.toLowerCase() !== own.host.toLowerCase()) continue;
    const found = {
      owner: owner ?? linkedOwner ?? own.owner,
      name: name ?? linkedName ?? own.name,
      number: Number(number ?? linkedNumber),
    };
    if (!Number.isNaN(found.number)) named.set(keyOf(found), found);
  }
  return [...named.values()];
}

/** GitHub ignores case in names. */
export const keyOf = ({ owner, name, number }: PullRequestName): string =>
  `${owner}/${name}#${number}`.toLowerCase();
