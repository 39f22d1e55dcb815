import { plainText } from '../words/event-words.ts';
import { ownerPath, planPath } from '../page-paths.ts';
import type { Notice } from './notice.ts';
import { deploymentOf, isOfDeployment, startInNotice } from './notice-words.ts';
import { tell, type NoticeText } from './tell.ts';

/** A link below a message. */
type Link = { label: string; url: string };

/** A button that sends its value back, where the chat has an app of ours. */
export type Action = { id: string; label: string; value: string; style?: 'primary' | 'danger' };

/** What a chat shows. All texts are plain text in one line: each kind of chat escapes and cuts them in its own way. */
export type NoticeMessage = {
  /** How it looks: `frozen` blocks people, `free` releases them, `wrong` needs somebody. */
  tone: NoticeText['tone'];
  /** What happened, where, until when. */
  headline: string;
  /** Who, why, and what you can do. */
  lines: string[];
  /** The page about it is the first. */
  links: [Link, ...Link[]];
  actions?: Action[];
};

/** A chat is not the place for longer texts. The page has them. */
const longestLine = 600;
const longestHeadline = 300;

/** How many names of repositories a message has. */
const mostRepositoriesInMessage = 5;

/**
 * What happened, as one message: also what one plan did to many repositories.
 * @param publicText whether people outside may read it: public reasons replace reasons, and the reasons of deletions and
 *   decisions and the names of keys are left out.
 */
export function messageOfNotice(
  notices: [Notice, ...Notice[]],
  { publicText }: { publicText: boolean },
): NoticeMessage {
  const [first] = notices;
  const repositories = [...new Set(notices.flatMap(({ repository }) => repository ?? []))];
  const isMany = repositories.length > 1;
  const name = isMany ? `${repositories.length} repositories of ${first.owner}` : placeName(first);
  const { tone, headline, lines } = tell(first, { name, isMany, isPublic: publicText });
  return {
    tone,
    headline: plainText(headline, longestHeadline),
    lines: [isMany && namesOf(repositories), ...lines, startsOf(notices)]
      .filter((line) => typeof line === 'string')
      .map((line) => plainText(line, longestLine)),
    links: linksOf(first, notices.length > 1, publicText),
  };
}

function placeName(notice: Notice): string {
  const { owner, repository, pullRequest, exemption } = notice;
  const name = `${pullRequest === null ? '' : `#${pullRequest} of `}${repository ?? owner}`;
  return isOfDeployment(notice) ? deploymentOf({ details: exemption! }, { name }) : name;
}

function namesOf(repositories: string[]): string {
  const names = repositories
    .slice(0, mostRepositoriesInMessage)
    .map((each) => each.slice(each.indexOf('/') + 1));
  const left = repositories.length - names.length;
  if (left > 0) return `${names.join(', ')} and ${left} more.`;
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}.`;
}

/** When the freezes begin that one plan makes for several dates, if there are several. */
function startsOf(notices: Notice[]): string | null {
  const withStart = notices.filter(({ freeze }) => typeof freeze?.['start'] === 'string');
  const starts = new Map(withStart.map((notice) => [notice.freeze!['start'], notice]));
  if (starts.size < 2) return null;
  const shown = [...starts.values()].slice(0, mostRepositoriesInMessage).map(startInNotice);
  const left = starts.size - shown.length;
  return `Starts: ${shown.join('; ')}${left > 0 ? `; and ${left} more` : ''}`;
}

const pageLabels: [path: RegExp, label: string][] = [
  [/\/freezes\//, 'View the freeze'],
  [/\/pulls\//, 'View the pull request'],
  [/\/plans\//, 'View the plan'],
  [/\/settings\b/, 'View the settings'],
];

function linksOf(notice: Notice, isSeveral: boolean, isPublic: boolean): NoticeMessage['links'] {
  const { owner, planId, actor, details } = notice;
  const url = isSeveral
    ? notice.url.replace(
        /\/(?:repos|owners)\/.*/,
        planId === null ? ownerPath(owner) : planPath(owner, planId),
      )
    : notice.url;
  const label = pageLabels.find(([path]) => path.test(url))?.[1] ?? 'View on Holdfast';
  const run = details['run_url'] ?? (isPublic || actor?.type !== 'application' ? undefined : actor.run);
  return [
    { label, url: plainUrl(url) },
    ...(isLink(run) ? [{ label: 'View the run', url: plainUrl(run) }] : []),
  ];
}

const isLink = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:\/\/\S+$/.test(value);

/** Without the characters that end a link in one chat or another. */
const plainUrl = (url: string): string => url.toWellFormed().replace(/[|<>"\s]/g, encodeURIComponent);
