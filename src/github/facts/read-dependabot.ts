import type { AttributeValues } from '../../conditions/attributes.ts';
import { type Fact, known, notKnown } from '../pull-requests/fact.ts';
import type { CommitAnswer } from '../queries/answers.ts';
import { dependabotMetadata } from './dependabot-metadata.ts';

/**
 * What Dependabot updates. Pull requests of others have nothing, no matter what their commits say. Somebody who pushes to
 * Dependabot's branch adds what its messages do not say, so every commit must be Dependabot's.
 */
export function readDependabot(author: string | null, commits: Fact<CommitAnswer[]>): Fact<AttributeValues> {
  if (author !== dependabot) return known(valuesOf({ names: [], types: [], updates: [] }));
  if (!commits.known) return commits;
  if (!commits.value.every(isOfDependabot))
    return notKnown('not every commit of it is by Dependabot and verified');
  const metadata = dependabotMetadata(commits.value.map(({ message }) => message));
  return metadata ? known(valuesOf(metadata)) : notKnown('no commit of it says what Dependabot updates');
}

const dependabot = 'dependabot[bot]';

/** Everybody can sign a commit that names Dependabot as its author. GitHub itself signs Dependabot's. */
const isOfDependabot = ({ author, signature }: CommitAnswer): boolean =>
  author?.user?.login === dependabot &&
  signature !== null &&
  signature.isValid &&
  signature.wasSignedByGitHub;

const valuesOf = ({ names, types, updates }: Record<'names' | 'types' | 'updates', string[]>) => ({
  'dependabot-dependency-name': names,
  'dependabot-dependency-type': types,
  'dependabot-update-type': updates,
});
