import { html } from 'hono/html';
import { blocksMerges, whatGitHubRefuses, whatIsSkipped } from '../../words/describe-fields.ts';
import { listedWords } from '../../words/event-words.ts';
import type { PlanPreview, PreviewedRepository } from '../../explanations/preview-plan.ts';
import { repositoryPath } from '../../page-paths.ts';
import type { Occurrence, Recurrence } from '../../plans/occurrences.ts';
import { describeRule, wordsOfRule } from '../../plans/repetition.ts';
import { clockChangeAt } from '../../time/local-time.ts';
import { deploymentsPreview, deploymentsSummary } from './deployments-preview.ts';
import { textField } from '../form.ts';
import { heldList } from '../held.ts';
import type { Html } from '../html.ts';
import { headings, instantText, type Times, warningNotices } from '../text.ts';

/** The number of rows that are not folded. */
const mostRowsShown = 12;

/** How many repositories are listed with their pull requests, and how many of those for each. */
const mostRepositoriesListed = 100;
const mostPullRequests = 20;

/**
 * What a freeze of several repositories would do: a summary, and below it a row for each repository, and the pull requests
 * that it would hold. For people who may make it, and so can read all of these repositories.
 * @param find a part of a repository's name, or of the number or title of a pull request; or empty.
 */
export function planPreview(login: string, preview: PlanPreview, find: string): { shown: Html; below: Html } {
  const { repositories, matched, notEnforced, notLookedAt, isLooking, matchesNone, warnings, timeUntilHeld } =
    preview;
  const sum = (of: (each: PreviewedRepository) => number) =>
    repositories.reduce((all, each) => all + of(each), 0);
  const [toHold, excluded] = [sum(({ toHold }) => toHold), sum(({ excluded }) => excluded)];
  const { blocked, where, notes, loose } = whatGitHubRefuses(repositories);
  const seen = new Set(repositories.map(({ name }) => `${login}/${name}`));
  const unknown =
    notLookedAt.length + repositories.filter(({ mergesEnforced: word }) => word === 'unknown').length;
  const isUnknown = repositories.some(({ enforced }) => enforced === 'unknown');
  const looseMerges = new Set(
    repositories.flatMap((each) => (each.mergesEnforced === 'no' ? [each.name] : [])),
  );
  const nameIn = (fullName: string) => fullName.slice(login.length + 1);
  const fixOf = (name: string, words = 'How to fix it') =>
    html`<a href="${repositoryPath({ name, account: { login } })}#enforcement">${words}</a>`;
  const isOfMerges = blocksMerges(preview.holding);
  // What is said of deployments names the others.
  const unnamed = notEnforced
    .map(nameIn)
    .filter((name) => !loose.has(name) && (looseMerges.has(name) || !seen.has(`${login}/${name}`))).length;
  const rows = [
    // Freezes cannot be created there: none of its products enforces freezes.
    ...notEnforced
      .filter((name) => !seen.has(name))
      .map(nameIn)
      .map((name) => row(name, null, html`${words.no}, freezes are switched off. ${fixOf(name)}`)),
    ...(isOfMerges ? repositories : [])
      .toSorted((one, other) => weights[one.mergesEnforced] - weights[other.mergesEnforced])
      .map(({ name, toHold, toRefuse, excluded, mergesEnforced: enforced }) =>
        row(
          name,
          [toRefuse === null || toRefuse === toHold ? toHold : `${toRefuse} of ${toHold}`, excluded],
          html`${words[enforced]}
          ${enforced === 'yes' ? '' : fixOf(name, enforced === 'no' ? undefined : 'Why')}`,
        ),
      ),
    ...(isLooking ? [] : notLookedAt).map((name) =>
      row(nameIn(name), null, html`Unknown: GitHub did not answer in time`),
    ),
  ];
  const isPartial = notLookedAt.length > 0;
  const isUnsaid = repositories.some(({ toRefuse, toHold }) => toRefuse === null && toHold > 0);
  const provided = `${isPartial ? 'Where Holdfast has looked: ' : ''}${isUnsaid ? 'If GitHub requires the check: ' : ''}`;
  const fills = isLooking ? html`data-fills-in` : isPartial || isUnknown ? html`data-asks-again` : '';
  const shown = html`<div class="look" ${fills}>
    ${isLooking ? stillLooking(login, notLookedAt, matched) : ''}
    ${
      isOfMerges
        ? html`<p>
            ${isPartial ? 'At least' : ''}
            <strong>${countText(blocked, 'pull request')}</strong>${where} would be
            blocked${excluded > 0 ? html`, <strong>${excluded}</strong> excluded` : ''}.
            ${notes.map((note) => html`<strong>${note}</strong> `)}
            ${unnamed > 0 ? html`<strong class="leaking">${unnamed}${loose.size > 0 ? ' more' : ''} not enforced.</strong>` : ''}
            ${unknown > 0 ? `${unknown} not known to be enforced.` : ''}
          </p>`
        : ''
    }
    ${deploymentsSummary(preview)} ${skippedNote(preview.archived)}
    ${timeUntilHeld ? html`<p>${provided}${timeUntilHeld.message}</p>` : ''}
    ${matchesNone.length > 0 ? nothingMatches(matchesNone) : ''} ${warningNotices(warnings)}
  </div>`;
  const below = html`${deploymentsPreview(login, preview)}
  ${rows.length > 0 ? table(rows.slice(0, mostRowsShown)) : ''}
  ${
    rows.length > mostRowsShown
      ? html`<details>
          <summary>${rows.length - mostRowsShown} more</summary>
          ${table(rows.slice(mostRowsShown))}
        </details>`
      : ''
  }
  ${toHold > 0 ? pullRequestsToHold(login, repositories, find) : ''}`;
  return { shown, below };
}

/** Names the archived repositories that a plan matches. */
export function skippedNote(archived: string[]): Html | '' {
  const skipped = whatIsSkipped(archived);
  return skipped === null ? '' : html`<p class="muted">${skipped}</p>`;
}

/** Says what was not looked at yet. It fills itself in, or shows more when the button is pressed. */
const stillLooking = (login: string, left: string[], all: number): Html =>
  html`<div class="notice" role="status">
    <div class="headline">
      <span>
        Holdfast has looked at ${all - left.length} of ${countText(all, 'repository', 'repositories')} so far.
      </span>
      <button type="submit" name="step" value="preview" class="quiet" data-only-without-scripts>
        Show more
      </button>
    </div>
    <details>
      <summary>Not looked at yet: ${left.length}</summary>
      <p>
        ${listedWords(
          left.map((name) => name.slice(login.length + 1)),
          mostRepositoriesListed,
        )}
      </p>
    </details>
  </div>`;

/** Also those that GitHub would not refuse, which say so. */
function pullRequestsToHold(login: string, repositories: PreviewedRepository[], find: string): Html {
  const isFound = (text: string) => text.toLowerCase().includes(find.toLowerCase());
  const found = repositories
    .map(({ name, pullRequests, unrequired }) => {
      const all = pullRequests
        .filter(({ held }) => held)
        .map((each) => ({ ...each, notHeld: unrequired.has(each.number) ? ('unrequired' as const) : null }));
      const some = all.filter(({ number, title }) => isFound(`#${number} ${title ?? ''}`));
      return { name, pullRequests: isFound(name) ? all : some };
    })
    .filter(({ pullRequests }) => pullRequests.length > 0);
  const isShort = find !== '' || found.length === 1;
  return html`<h3>Pull requests that the freeze applies to</h3>
    <div class="find">
      ${textField({ name: 'find', label: 'Find a repository or pull request', value: find })}
      <button type="submit" name="step" value="preview" class="quiet">Show</button>
    </div>
    ${found.length === 0 ? html`<p>None with “${find}” in its repository, number or title.</p>` : ''}
    ${found.slice(0, mostRepositoriesListed).map(
      ({ name, pullRequests }) =>
        html`<details ${isShort ? html`open` : ''}>
          <summary>${name}: ${countText(pullRequests.length, 'pull request')}</summary>
          ${heldList({ name, account: { login } }, pullRequests.slice(0, mostPullRequests))}
          ${pullRequests.length > mostPullRequests ? html`<p>and ${pullRequests.length - mostPullRequests} more</p>` : ''}
        </details>`,
    )}
    ${found.length > mostRepositoriesListed ? html`<p>and ${countText(found.length - mostRepositoriesListed, 'more repository', 'more repositories')}</p>` : ''}`;
}

const nothingMatches = (globs: string[]): Html =>
  html`<p class="notice">
    ${globs.slice(0, mostRowsShown).map((glob, index) => html`${index > 0 ? ', ' : ''}<code>${glob}</code>`)}
    ${globs.length > mostRowsShown ? `and ${globs.length - mostRowsShown} more` : ''}
    ${globs.length === 1 ? 'matches' : 'match'} no repository now. The plan freezes matching repositories when
    they appear.
  </p>`;

export const countText = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

const weights = { no: 0, unknown: 1, yes: 2 };

const table = (rows: Html[]): Html =>
  html`<table>
    ${headings(['Repository', 'Blocked', 'Excluded', 'Enforced'], ['Blocked', 'Excluded'])}
    <tbody>
      ${rows}
    </tbody>
  </table>`;

/** @param counts how many pull requests it would hold and exclude, if that is known. */
const row = (
  name: string,
  counts: [blocked: number | string, excluded: number] | null,
  enforced: Html,
): Html =>
  html`<tr>
    <th scope="row">${name}</th>
    <td class="number">${counts?.[0] ?? '–'}</td>
    <td class="number">${counts?.[1] ?? '–'}</td>
    <td>${enforced}</td>
  </tr>`;

const words = { yes: 'Yes', no: html`<strong class="leaking">No</strong>`, unknown: 'Unknown' };

/** A rule in words, or as it is where words are missing. */
export const ruleWords = (rule: string, start: string): Html =>
  html`${describeRule(rule, start) ?? html`<code>${rule}</code>`}`;

/** The same, with the last date and the dates that are skipped. */
export function repetition({ rule, until, except }: Recurrence, start: string): Html {
  const { often, only } = wordsOfRule(rule, start) ?? { often: html`<code>${rule}</code>`, only: null };
  return html`${often}${until === null ? '' : html` until ${until}`}${only ? `, ${only}` : ''}${except.length > 0 ? html`, except on ${except.join(', ')}` : ''}`;
}

/**
 * The occurrences of a plan. @param zone its own zone. @param changeOf where the reader changes one alone.
 * @param names the titles of the events that they follow, by their keys.
 */
export const occurrenceTable = (
  occurrences: Occurrence[],
  zone: string,
  times: Times,
  changeOf: (occurrence: Occurrence) => string | null = () => null,
  names: ReadonlyMap<string, string> = new Map(),
): Html =>
  html`<table class="occurrences">
    ${headings([
      ...['Start', 'End'],
      ...(names.size > 0 ? ['Event'] : []),
      ...(occurrences.some(changeOf) ? [html`<span class="said">Change</span>`] : []),
    ])}
    <tbody>
      ${occurrences.map((each) => {
        const { start, end, startsAt, endsAt } = each;
        const change = changeOf(each);
        return html`<tr>
          <td>${instantText(startsAt, times, zone)} ${clockNote(start, zone, 'start')}</td>
          <td>
            ${endsAt && end !== null ? html`${instantText(endsAt, times, zone)} ${clockNote(end, zone, 'end')}` : 'None'}
          </td>
          ${names.size > 0 ? html`<td><bdi>${names.get(each.key) ?? ''}</bdi></td>` : ''}
          ${change ? html`<td class="number"><a href="${change}">Skip or move</a></td>` : ''}
        </tr>`;
      })}
    </tbody>
  </table>`;

/** Explains what happens to a time that a clock change skips or repeats. */
function clockNote(local: string, zone: string, edge: 'start' | 'end'): Html {
  const time = local.slice(11, 16);
  switch (clockChangeAt(local, zone)) {
    case 'skipped':
      return html`<span class="clock-note"
        >Clocks go forward: ${time} does not exist that day, so it ${edge}s after the gap.</span
      >`;
    case 'doubled':
      return html`<span class="clock-note"
        >Clocks go back: ${time} comes twice that day. It ${edge}s at the
        ${edge === 'start' ? 'first' : 'second'}.</span
      >`;
    case null:
      return html``;
  }
}
