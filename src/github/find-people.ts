import { askGitHub } from './ask-github.ts';
import type { GitHubDeps } from './github-deps.ts';
import { askInPart } from './pull-requests/ask-in-part.ts';
import { pictureOriginsOf } from './web-url.ts';

// People and teams as GitHub shows them, for pages that ask for some. GitHub says again who they are when they are saved.

/**
 * A person or a team.
 * @property handle as people write it: `ada`, or `@acme/release`.
 * @property name what a person calls themselves, or the name of the team.
 * @property picture where GitHub has it; null if that is no place of pictures of this GitHub.
 */
export type Face = { handle: string; name: string | null; picture: string | null };

/**
 * @property repository one of the owner's: who has access to it is found before the rest of GitHub. Null if there is none.
 */
export type PeoplePlace = {
  account: { login: string; type: string };
  installation: { id: bigint };
  repository: string | null;
};

/** How many matches a search gives. */
const mostMatches = 8;
/** How many teams are among them, so that people have room. */
const mostTeams = 3;
const longestSearch = 60;

type Person = { login?: string; name?: string | null; avatarUrl?: string };
type Team = { slug: string; name: string; avatarUrl: string };
type Nodes<Node> = { nodes: (Node | null)[] | null } | null;
type PeopleAnswer = {
  organization?: ({ teams?: Nodes<Team> } & Record<`t${number}`, Team | null>) | null;
  search?: Nodes<Person>;
  repository?: { mentionableUsers: Nodes<Person> } | null;
} & Record<`p${number}`, Person | null>;

/**
 * Who some handles are, and who matches what somebody typed, in one question that the installation pays and that counts for
 * the caller. What GitHub does not know or show is left out.
 * @param typed a part of a login, a name or a team; empty: nothing is searched.
 * @throws Refusal unavailable while GitHub does not answer; too-many-requests.
 */
export async function findPeople(
  deps: GitHubDeps,
  place: PeoplePlace,
  handles: readonly string[],
  typed: string,
): Promise<{ faces: Map<string, Face>; matches: Face[] }> {
  const { query, variables } = questionOf(place, handles, typed);
  if (query === null) return { faces: new Map(), matches: [] };
  const answer = await askGitHub(deps, place.installation.id, 'who these people and teams are', async () => {
    const client = await deps.github.asInstallation(place.installation.id);
    // A person who is gone, or teams that the App may not see, do not hide the others.
    return (await askInPart<PeopleAnswer>(client, query, variables)).answer;
  });
  const { login } = place.account;
  const origins = pictureOriginsOf(deps.config.githubApiUrl);
  const picture = (url: string | undefined) =>
    url && URL.canParse(url) && origins.includes(new URL(url).origin) ? url : null;
  const personFace = (each: Person | null | undefined): Face[] =>
    each?.login ? [{ handle: each.login, name: each.name || null, picture: picture(each.avatarUrl) }] : [];
  const teamFace = (each: Team | null | undefined): Face[] =>
    each ? [{ handle: `@${login}/${each.slug}`, name: each.name, picture: picture(each.avatarUrl) }] : [];
  const { organization } = answer;
  const faces = handles.flatMap((handle, at) =>
    [...personFace(answer[`p${at}`]), ...teamFace(organization?.[`t${at}`])].map(
      (face) => [handle.toLowerCase(), face] as const,
    ),
  );
  const found = [
    ...(organization?.teams?.nodes ?? []).flatMap(teamFace).slice(0, mostTeams),
    ...[...(answer.repository?.mentionableUsers?.nodes ?? []), ...(answer.search?.nodes ?? [])].flatMap(
      personFace,
    ),
  ];
  const known = new Set(handles.map((each) => each.toLowerCase()));
  const matches = new Map(found.map((face) => [face.handle.toLowerCase(), face]));
  for (const handle of known) matches.delete(handle);
  return { faces: new Map(faces), matches: [...matches.values()].slice(0, mostMatches) };
}

const ofPerson = '{ login name avatarUrl(size: 48) }';
const ofTeam = '{ slug name avatarUrl(size: 48) }';

/** The question in GraphQL, with the variables that it declares. Null: there is nothing to ask. */
function questionOf({ account, repository }: PeoplePlace, handles: readonly string[], typed: string) {
  const variables: Record<string, string> = {};
  const declare = (name: string, value: string): string => {
    variables[name] = value;
    return `$${name}`;
  };
  const people: string[] = [];
  const teams: string[] = [];
  for (const [at, handle] of handles.entries()) {
    const [, owner, slug] = /^@([^/]+)\/(.+)$/.exec(handle) ?? [];
    if (slug === undefined) people.push(`p${at}: user(login: ${declare(`p${at}`, handle)}) ${ofPerson}`);
    else if (owner!.toLowerCase() === account.login.toLowerCase())
      teams.push(`t${at}: team(slug: ${declare(`t${at}`, slug)}) ${ofTeam}`);
  }
  // `@acme/rel` looks for teams. What GitHub's search would take for a qualifier is none.
  const text = typed
    .replace(/^@?([^/]*\/)?/, '')
    .replace(/[^\p{L}\p{N}\s_-]+/gu, ' ')
    .trim()
    .slice(0, longestSearch);
  if (text !== '') {
    const first = `first: ${mostMatches}`;
    teams.push(`teams(query: ${declare('text', text)}, ${first}) { nodes ${ofTeam} }`);
    if (repository !== null)
      people.push(
        `repository(owner: ${declare('owner', account.login)}, name: ${declare('repository', repository)}) {
          mentionableUsers(query: ${declare('text', text)}, ${first}) { nodes ${ofPerson} }
        }`,
      );
    const search = declare('search', `${text} type:user in:login in:name`);
    people.push(`search(type: USER, query: ${search}, ${first}) { nodes { ... on User ${ofPerson} } }`);
  }
  if (account.type === 'Organization' && teams.length > 0)
    people.push(`organization(login: ${declare('owner', account.login)}) { ${teams.join(' ')} }`);
  if (people.length === 0) return { query: null, variables };
  const declared = Object.keys(variables).map((name) => `$${name}: String!`);
  return { query: `query people(${declared.join(', ')}) { ${people.join(' ')} }`, variables };
}
