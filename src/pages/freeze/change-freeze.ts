import type { Handler } from 'hono';
import { freezeChange, freezeDeletion, readFreezeChange } from '../../api/v1/freeze-schemas.ts';
import { validate } from '../../api/read-request.ts';
import { nowOf } from '../../time/clock.ts';
import { deleteFreeze, updateFreeze } from '../../freezes/save-freeze.ts';
import { type FreezeChange, planChange } from '../../freezes/check-freeze.ts';
import { type FreezeRecord } from '../../freezes/list-freezes.ts';
import { freezePath } from '../../installations/page-paths.ts';
import { toLocalTime } from '../../time/local-time.ts';
import { answerForm, type RepositoryChange, repositoryForm } from '../change.ts';
import { environmentsBody, fromLines, holdsBody } from '../condition-fields.ts';
import { newEnd } from '../extend.ts';
import { assertFresh, badField } from '../form.ts';
import { absentPage, type PageDeps } from '../reader.ts';
import { stateOf } from '../repository/freeze-list.ts';
import { type ChangeOfFreeze, fieldsOf, freezeOfPath, freezePage } from './show-freeze.ts';

/** Handles a form of a freeze's page, for admins of the repository. Shows the page again, or the form with its errors. */
export const changeFreeze = (deps: PageDeps, change: ChangeOfFreeze): Handler =>
  repositoryForm(deps, { role: 'freezer' }, async (sent) => {
    const { form, repository } = sent;
    const freeze = await freezeOfPath(sent);
    if (!freeze) return absentPage(sent);
    return answerForm(
      sent,
      async () => {
        assertFresh(form, String(freeze.version), 'this freeze');
        await make[change](sent, freeze);
        return `${freezePath(repository, freeze.id)}?done=${words[change]}`;
      },
      (problems) => freezePage(sent, { form, change, problems }),
    );
  });

const words: Record<ChangeOfFreeze, string> = {
  edit: 'changed',
  extend: 'extended',
  end: 'ended',
  delete: 'deleted',
};

const make: Record<ChangeOfFreeze, (sent: RepositoryChange, freeze: FreezeRecord) => Promise<void>> = {
  edit: (sent, freeze) => save(sent, freeze, readEdit(sent, freeze)),
  extend: (sent, freeze) => save(sent, freeze, { end: newEnd(freeze, sent.form) }),
  async end(sent, freeze) {
    const now = nowOf(sent.deps.clock);
    await save(sent, freeze, { end: toLocalTime(now, freeze.timezone) }, (endsAt) => endsAt <= now);
  },
  async delete({ deps, actor, repository, form }, { id }) {
    const given = { delete_reason: form.get('delete_reason') ?? '' };
    if (given.delete_reason.trim() === '') throw badField('delete_reason', 'Enter a reason.');
    const { delete_reason: reason } = validate(freezeDeletion, given, 'body');
    await deleteFreeze(deps, actor, repository, id, reason);
  },
};

/** @param isWanted whether the resulting end is the intended one. */
async function save(
  { deps, actor, repository }: RepositoryChange,
  { id }: FreezeRecord,
  change: FreezeChange,
  isWanted: (endsAt: Date) => boolean = () => true,
): Promise<void> {
  const planned = await planChange(deps, repository, id, change);
  const { endsAt } = planned.after;
  if (endsAt && !isWanted(endsAt))
    throw badField(
      'end',
      'Clocks go back today, so this hour comes twice and the end would be an hour away. Delete the freeze to end it now.',
    );
  await updateFreeze(deps, actor, repository, planned);
}

/** The fields that the person changed. Other fields keep their values, even if the form cannot express them exactly. */
function readEdit({ deps, form }: RepositoryChange, freeze: FreezeRecord): FreezeChange {
  const before = fieldsOf(freeze, stateOf(freeze, nowOf(deps.clock)));
  const given = new Map(
    Object.keys(before).flatMap((name): [string, string][] => {
      // Browsers send lines as CRLF.
      const value = form.get(name)?.replaceAll('\r\n', '\n');
      return value === undefined || value === before[name] ? [] : [[name, value]];
    }),
  );
  const lines = (name: string) => (given.has(name) ? fromLines(given.get(name)!) : undefined);
  const orNull = (name: string) => (given.has(name) ? given.get(name) || null : undefined);
  const body = {
    reason: given.get('reason'),
    public_reason: orNull('public_reason'),
    start: orNull('start'),
    end: orNull('end'),
    timezone: given.get('timezone'),
    matching_conditions: lines('matching_conditions'),
    exclude_conditions: lines('exclude_conditions'),
    holds: given.has('holds') ? holdsBody(given.get('holds')!) : undefined,
    environments: given.has('environments') ? environmentsBody(given.get('environments')!) : undefined,
    on_deployment: given.get('on_deployment'),
  };
  if (body.reason?.trim() === '') throw badField('reason', 'Enter a reason for the freeze.');
  return readFreezeChange(validate(freezeChange, body, 'body'));
}
