import type { DeliveredType, Notice } from './notice.ts';
import {
  areOrIs,
  changesOf,
  decisionOf,
  deploymentOf,
  endInNotice,
  exemptionReason,
  happened,
  hasBegun,
  held,
  holdsMergesWords,
  isOfDeployment,
  lastsWords,
  reasonOf,
  revisionOf,
  scopeOf,
  spanOf,
  timeOf,
  untilExpiry,
  untilOf,
  whoAndWhy,
  whoOf,
  noticeWordsOf,
  type FrozenPlace,
} from './notice-words.ts';

/** A notice in words. Lines that do not apply are null. */
export type NoticeText = {
  tone: 'plain' | 'frozen' | 'free' | 'wrong';
  headline: string;
  lines: (string | null | false)[];
};

/** What happened, for people who were not there. */
export function tell(notice: Notice, place: FrozenPlace): NoticeText {
  // Exemptions of deployments are told like those of pull requests.
  const type = notice.type.replace(/^deployment_exemption/, 'exemption') as keyof typeof tellers;
  const told = tellers[type](notice, place);
  if (!notice.late) return told;
  const late = `This message is late: it happened on ${timeOf(notice.at, notice)}.`;
  return { ...told, lines: [...told.lines, late] };
}

/** @param place outsiders are not told what an account pays for. */
function notEnforcedOn({ details }: Notice, { isPublic }: FrozenPlace): string {
  const context = noticeWordsOf(details['context'], 'the status check');
  const branches = noticeWordsOf(details['branches'], 'a branch');
  const why = isPublic ? undefined : details['why'];
  return typeof why === 'string'
    ? `GitHub cannot require ${context} on ${branches}: ${why}. So people can merge.`
    : `GitHub does not require ${context} on ${branches}, so people can merge.`;
}

type Tell = (notice: Notice, place: FrozenPlace) => NoticeText;

const tellers: Record<Exclude<DeliveredType, `deployment_exemption.${string}`>, Tell> = {
  'freeze.scheduled': (notice, place) => ({
    tone: 'plain',
    headline: `${held(notice, place)} will be frozen ${spanOf(notice)}.`,
    lines: [whoAndWhy(notice, place, 'scheduled the freeze'), ...scopeOf(notice)],
  }),
  'freeze.updated': (notice, place) => ({
    tone: 'plain',
    headline: `${whoOf(notice, place) ?? 'Somebody'} changed a freeze of ${place.name}.`,
    lines: changesOf(notice, place),
  }),
  'freeze.deleted': (notice, place) => ({
    tone: 'free',
    headline: `${whoOf(notice, place) ?? 'Somebody'} deleted a freeze of ${place.name}.`,
    lines: [decisionOf(notice, place), reasonOf(notice, place), hasBegun(notice) && mergeAgain],
  }),
  'freeze.restored': (notice, place) => ({
    tone: hasBegun(notice) ? 'frozen' : 'plain',
    headline: `${whoOf(notice, place) ?? 'Somebody'} restored a freeze of ${place.name}.`,
    lines: [
      hasBegun(notice)
        ? `${held(notice, place)} ${areOrIs(notice, place)} frozen again ${untilOf(notice)}.`
        : `${held(notice, place)} will be frozen ${spanOf(notice)}.`,
      reasonOf(notice, place),
      ...scopeOf(notice),
    ],
  }),
  'freeze.starting_soon': (notice, place) => ({
    tone: 'plain',
    headline: `${held(notice, place)} will soon be frozen: ${spanOf(notice)}.`,
    lines: [reasonOf(notice, place), ...scopeOf(notice)],
  }),
  'freeze.ending_soon': (notice, place) => ({
    tone: 'plain',
    headline: `The freeze of ${place.name} will soon end: ${endInNotice(notice) ?? 'it has no end now'}.`,
    lines: [reasonOf(notice, place)],
  }),
  'freeze.started': (notice, place) => ({
    tone: 'frozen',
    headline: `${held(notice, place)} ${areOrIs(notice, place)} frozen ${untilOf(notice)}.`,
    lines: [
      whoAndWhy(notice, place, `froze ${place.isMany ? 'them' : 'it'}`),
      ...scopeOf(notice),
      holdsMergesWords(notice) &&
        'If a pull request cannot wait, request an exemption on the page of the pull request.',
    ],
  }),
  'freeze.ended': (notice, place) => ({
    tone: 'free',
    headline: `The freeze of ${place.name} ended.`,
    lines: [reasonOf(notice, place), holdsMergesWords(notice) && mergeAgain],
  }),
  'freeze.bypassed': (notice, place) => ({
    tone: 'wrong',
    headline: happened(notice, place, 'merged', 'past a freeze', 'was merged past a freeze'),
    lines: [
      lastsWords(notice),
      reasonOf(notice, place),
      'Check whether the branch requires the status check, and who can bypass it.',
    ],
  }),
  'freeze.leaking': (notice, place) => ({
    tone: 'wrong',
    headline: `GitHub would merge ${place.name} although a freeze blocks it.`,
    lines: [
      lastsWords(notice),
      reasonOf(notice, place),
      'Require the status check on the branch. The page shows what is missing.',
    ],
  }),
  'freeze.not_enforced': (notice, place) => ({
    tone: 'wrong',
    headline: `A freeze of ${place.name} is not enforced.`,
    lines: [
      notEnforcedOn(notice, place),
      reasonOf(notice, place),
      notice.details['why'] === undefined
        ? 'Require the status check on the branch. The page shows what is missing.'
        : 'The page shows what you can do.',
    ],
  }),
  'exemption.requested': (notice, place) => ({
    tone: 'plain',
    headline: `${whoOf(notice, place) ?? 'Somebody'} requests an exemption for ${place.name}.`,
    lines: [
      exemptionReason(notice, place),
      untilExpiry('could', notice),
      'An admin or approver of the repository can approve or deny it on the page.',
    ],
  }),
  'exemption.approved': (notice, place) => ({
    tone: 'free',
    headline: `${whoOf(notice, place) ?? 'Somebody'} approved an exemption for ${place.name}.`,
    lines: [decisionOf(notice, place), exemptionReason(notice, place), untilExpiry('can', notice)],
  }),
  'exemption.denied': (notice, place) => ({
    tone: 'frozen',
    headline: `${whoOf(notice, place) ?? 'Somebody'} denied an exemption for ${place.name}.`,
    lines: [decisionOf(notice, place), exemptionReason(notice, place)],
  }),
  'exemption.revoked': (notice, place) => ({
    tone: 'frozen',
    headline: `${whoOf(notice, place) ?? 'Somebody'} revoked the exemption for ${place.name}.`,
    lines: [decisionOf(notice, place), exemptionReason(notice, place), blockedAgain(notice)],
  }),
  'exemption.expired': (notice, place) => {
    const why = endedBy[String(notice.details['ended_by'])];
    const its = notice.details['was_approved'] === false ? 'The exemption request' : 'The exemption';
    return {
      tone: 'plain',
      headline: `${its} for ${place.name} ended${why === undefined ? '' : `: ${why}`}.`,
      lines: [
        exemptionReason(notice, place),
        notice.details['ended_by'] !== 'merged' && blockedAgain(notice),
      ],
    };
  },
  'exemption.used': (notice, place) => ({
    tone: 'plain',
    headline: isOfDeployment(notice)
      ? `Holdfast approved ${place.name} with an exemption.`
      : happened(notice, place, 'merged', 'with an exemption', 'was merged with an exemption'),
    lines: [exemptionReason(notice, place)],
  }),
  'deployment.held': (notice, place) => ({
    tone: 'frozen',
    headline: `A freeze blocks ${deploymentOf(notice, place)}.`,
    lines: [lastsWords(notice), reasonOf(notice, place), revisionOf(notice)],
  }),
  'deployment.released': (notice, place) => ({
    tone: 'free',
    headline:
      notice.details['deployment_exemption_id'] === undefined
        ? `No freeze blocks ${deploymentOf(notice, place)} any more.`
        : `An exemption let ${deploymentOf(notice, place)} past a freeze.`,
    lines: [revisionOf(notice)],
  }),
  'deployment.rejected': (notice, place) => ({
    tone: 'frozen',
    headline: `Holdfast rejected ${deploymentOf(notice, place)}.`,
    lines: [lastsWords(notice), reasonOf(notice, place), revisionOf(notice)],
  }),
  'deployment.bypassed': (notice, place) => ({
    tone: 'wrong',
    headline: `A freeze did not stop ${deploymentOf(notice, place)}: somebody approved it on GitHub.`,
    lines: [lastsWords(notice), reasonOf(notice, place), revisionOf(notice)],
  }),
  'ruleset.orphaned': ({ details }, place) => ({
    tone: 'wrong',
    headline: `A ruleset of Holdfast was active in ${place.name} without a freeze.`,
    lines: [labelled('Ruleset', details['ruleset']), 'Holdfast disabled it.'],
  }),
  'ruleset.repaired': ({ details }, place) => ({
    tone: 'wrong',
    headline: `Somebody ${noticeWordsOf(details['found'], 'changed')} a ruleset of Holdfast in ${place.name}.`,
    lines: [labelled('Ruleset', details['ruleset']), 'Holdfast repaired it.'],
  }),
  'webhook.disabled': ({ details }, place) => {
    const { url, description } = (details['webhook_attributes'] ?? {}) as Record<string, unknown>;
    return {
      tone: 'wrong',
      headline: `Holdfast disabled an outgoing webhook of ${place.name}.`,
      lines: [
        labelled('Address', url),
        !place.isPublic && labelled('Description', description),
        !place.isPublic && labelled('Reason', details['reason']),
        'It gets no messages until somebody enables it in the settings.',
      ],
    };
  },
  'webhook.test': (_, place) => ({
    tone: 'plain',
    headline: `This is a test from Holdfast for ${place.name}.`,
    lines: ['If you can read this, the outgoing webhook works.'],
  }),
};

const labelled = (label: string, value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? `${label}: ${value}` : null;

const mergeAgain = 'Pull requests can merge again, unless another freeze blocks them.';
const blockedAgain = (notice: Notice) =>
  `If a freeze is ongoing, it blocks the ${isOfDeployment(notice) ? 'deployment' : 'pull request'}.`;

const endedBy: Record<string, string> = {
  pushed: 'somebody pushed a new commit',
  retargeted: 'its base branch changed',
  time: 'its time is up',
  freezes: 'the freezes ended',
  merged: 'the pull request was merged',
};
