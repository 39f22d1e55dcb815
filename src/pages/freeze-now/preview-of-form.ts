import { html } from 'hono/html';
import type { PlanPreview } from '../../explanations/preview-plan.ts';
import { toLocalTime } from '../../time/local-time.ts';
import type { Html } from '../html.ts';
import type { OwnerVisit } from '../owner/open-owner.ts';
import { readerTimes } from '../reader.ts';
import { otherFreezes } from './overlaps.ts';
import { countText, planPreview } from './plan-preview.ts';
import { sentenceOf } from './plan-sentence.ts';

/**
 * What the form of a freeze or a plan would do: a sentence, what else freezes the same, and what it would block.
 * @param more `isNow`: whether it begins when it is made. `own`: the plan that the form changes. `find`: as for `planPreview`.
 */
export async function previewOfForm(
  visit: Pick<OwnerVisit, 'deps' | 'context' | 'account'>,
  preview: PlanPreview,
  { isNow, own, find }: { isNow: boolean; own: string | null; find: string },
): Promise<{ shown: Html; below: Html }> {
  const { deps, account } = visit;
  const times = readerTimes(visit);
  const { plan, matched, nextOccurrences } = preview;
  const { include, exclude } = plan.repositories;
  const [only] = include;
  const where =
    matched === 1 && include.length === 1 && exclude.length === 0 && only !== '*'
      ? `${account.login}/${only}`
      : countText(matched, 'repository', 'repositories');
  const today = toLocalTime(times.now, plan.timezone);
  const { shown, below } = planPreview(account.login, preview, find);
  return {
    shown: html`<p class="sentence">${sentenceOf(plan, where, nextOccurrences[0], today, isNow)}</p>
      ${await otherFreezes(deps, preview, times, own)} ${shown}`,
    below,
  };
}
