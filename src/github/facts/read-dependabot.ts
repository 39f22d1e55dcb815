import type { AttributeValues } from '../../conditions/attributes.ts';
import { type Fact, known, notKnown } from '../pull-requests/fact.ts';
import type { CommitAnswer } from '../queries/answers.ts';
import { dependabotMetadata } from './dependabot-metadata.ts';

/** What Dependabot updates. Pull requests of others have nothing, no matter what their commits say. */
export function readDependabot(author: string | null, commits: Fact<CommitAnswer[]>): Fact<AttributeValues> {
  if (author !== 'dependabot[bot]') return known(valuesOf({ names: [], types: [], updates: [] }));
  if (!commits.known) return commits;
  const metadata = dependabotMetadata(commits.value.map(({ message }) => message));
  return metadata ? known(valuesOf(metadata)) : notKnown('no commit of it says what Dependabot updates');
}

const valuesOf = ({ names, types, updates }: Record<'names' | 'types' | 'updates', string[]>) => ({
  'dependabot-dependency-name': names,
  'dependabot-dependency-type': types,
  'dependabot-update-type': updates,
});
