import { html } from 'hono/html';
import { validate } from '../../api/read-request.ts';
import { freezeChange, freezeDeletion, readFreezeChange } from '../../api/v1/freeze-schemas.ts';
import { notFound } from '../../errors.ts';
import type { FreezeChange } from '../../freezes/check-freeze.ts';
import { type FreezeRecord, freezeRecord } from '../../freezes/list-freezes.ts';
import { phaseOf } from '../../freezes/freeze-window.ts';
import { restoreFreeze } from '../../freezes/restore-freeze.ts';
import { deleteFreeze, updateFreeze } from '../../freezes/save-freeze.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import { freezePath, repositoryPath } from '../../page-paths.ts';
import { nowOf } from '../../time/clock.ts';
import { toInstant, toLocalTime } from '../../time/local-time.ts';
import { releasedBy } from '../../words/describe-fields.ts';
import { shorten } from '../../words/event-words.ts';
import { changeRows, chosenRows } from '../bulk.ts';
import type { RepositoryChange } from '../change.ts';
import {
  environmentsBody,
  fromLines,
  heldFields,
  heldOf,
  holdsBody,
  readHeld,
  toLines,
} from '../condition-fields.ts';
import { extendForms, fieldTime, newEnd } from '../extend.ts';
import {
  badField,
  confirmation,
  type LabelledField,
  type FormProblems,
  noProblems,
  requiredText,
  textArea,
  textField,
  versionField,
} from '../form.ts';
import type { Html } from '../html.ts';
import { endingName } from '../message-page.ts';
import { spanSince, undoButton } from '../undo.ts';
import { type FreezeState, freezeStateOf } from '../repository/freeze-list.ts';
import { duplicateLink } from '../plan/plan-actions.ts';

/** What an admin can do with a freeze that is not over. Each has its own form and URL. */
export const changesOfFreeze = ['edit', 'extend', 'end', 'delete', 'restore'] as const;
export type ChangeOfFreeze = (typeof changesOfFreeze)[number];

/** A form that was refused, and why. */
export type RefusedFreezeForm = { form: URLSearchParams; change: ChangeOfFreeze; problems: FormProblems };

/** The forms that change a freeze. @param refused the form that was refused: its fields keep what was typed. */
export function changeForms(
  repository: FoundRepository,
  freeze: FreezeRecord,
  state: FreezeState,
  refused: RefusedFreezeForm | null,
): Html {
  const to = (change: ChangeOfFreeze) => `${freezePath(repository, freeze.id)}/${change}`;
  const version = versionField(String(freeze.version));
  const edit = refused?.change === 'edit' ? refused : null;
  return html`<div class="actions">
    ${extendForms(to('extend'), version, freeze)}
    ${
      state === 'ongoing'
        ? confirmation(
            'End now…',
            to('end'),
            html`${version}
              <p>The pull requests that it blocks can merge again.</p>`,
            'End freeze now',
          )
        : ''
    }
    ${confirmation('Delete…', to('delete'), html`${version}${whyDelete}`, 'Delete freeze')}
    <details class="confirm" ${edit ? html`open` : ''}>
      <summary class="button quiet">Edit…</summary>
      ${editForm(to('edit'), freeze, state, edit)}
    </details>
    ${duplicateLink(repository.account.login, freeze.id)}
  </div>`;
}

/** The button that undoes an end or a deletion. */
export const undoEnd = (repository: FoundRepository, { id, version }: FreezeRecord): Html =>
  undoButton(`${freezePath(repository, id)}/restore`, versionField(String(version)));

const whyDelete = textField({
  name: 'delete_reason',
  label: 'Reason',
  hint: 'The pull requests that it blocks can merge again. The audit log keeps who deleted the freeze and why.',
  attributes: html`required maxlength="10000"`,
});

/** How a field of the form shows a freeze, and what the API gets of its text. */
type FormField = { show: (freeze: FreezeRecord) => string; read: (text: string) => unknown };

const asItIs = (text: string): string => text;
const orNull = (text: string): string | null => text || null;

const freezeFormFields: Record<string, FormField> = {
  reason: { show: ({ reason }) => reason, read: asItIs },
  public_reason: { show: ({ publicReason }) => publicReason ?? '', read: orNull },
  start: { show: ({ start }) => fieldTime(start), read: orNull },
  timezone: { show: ({ timezone }) => timezone, read: asItIs },
  end: { show: ({ end }) => fieldTime(end), read: orNull },
  matching_conditions: { show: (freeze) => toLines(freeze.matchingConditions), read: fromLines },
  exclude_conditions: { show: (freeze) => toLines(freeze.excludeConditions), read: fromLines },
  holds: { show: (freeze) => heldOf(freeze).holds, read: holdsBody },
  environments: { show: (freeze) => heldOf(freeze).environments, read: environmentsBody },
  on_deployment: { show: (freeze) => heldOf(freeze).onDeployment, read: asItIs },
};

/** A freeze in the fields of the form. One that has begun has no start fields. */
const shownIn = (freeze: FreezeRecord, state: FreezeState): [name: string, text: string][] =>
  Object.entries(freezeFormFields)
    .filter(([name]) => state === 'scheduled' || !['start', 'timezone'].includes(name))
    .map(([name, { show }]) => [name, show(freeze)]);

function editForm(
  action: string,
  freeze: FreezeRecord,
  state: FreezeState,
  refused: RefusedFreezeForm | null,
): Html {
  const given = Object.fromEntries(refused ? refused.form : shownIn(freeze, state));
  const problems = refused?.problems ?? noProblems;
  const field = (name: string, label: string, more: Partial<LabelledField> = {}): LabelledField => ({
    ...{ name, label, value: given[name], problems },
    ...more,
  });
  const time = { attributes: html`step="any"` };
  const inZone = `Local time in ${freeze.timezone}.`;
  const perLine = 'One condition on each line, such as label=hotfix. All of them must match.';
  return html`<form class="card form" method="post" action="${action}">
    ${versionField(String(freeze.version))}
    ${textArea(field('reason', 'Reason', { attributes: html`required` }))}
    ${textArea(field('public_reason', 'Public reason', { hint: 'Statuses and public pages show this instead of the reason. Leave empty to show the reason.' }))}
    <div class="side-by-side">
      ${
        state === 'scheduled'
          ? html`${textField(field('start', 'Start', { ...time, hint: 'Leave empty to start now.' }), 'datetime-local')}
            ${textField(field('timezone', 'Time zone', { hint: 'For example, Europe/Paris.' }))}`
          : ''
      }
      ${textField(field('end', 'End', { ...time, hint: `${state === 'scheduled' ? '' : `${inZone} `}Leave empty for no end.` }), 'datetime-local')}
    </div>
    <div class="of-merges">
      ${textArea(field('matching_conditions', 'Block pull requests that match', { hint: `${perLine} Leave empty to block every pull request.` }))}
      ${textArea(field('exclude_conditions', 'Exclude pull requests that match', { hint: perLine }))}
    </div>
    ${heldFields(readHeld(new URLSearchParams(given)), problems)}
    <button type="submit">Save changes</button>
  </form>`;
}

/** What each form does. @returns warnings in sentences. */
export const changesByForm: Record<
  ChangeOfFreeze,
  (sent: RepositoryChange, freeze: FreezeRecord) => Promise<string[]>
> = {
  edit: (sent, freeze) => saveChanged(sent, freeze, readEdit(sent, freeze)),
  extend: (sent, freeze) => saveChanged(sent, freeze, { end: newEnd(freeze, sent.form) }),
  end: (sent, freeze) => saveChanged(sent, freeze, { end: endNow(sent, freeze) }),
  async delete({ deps, actor, repository, form }, { id }) {
    requiredText(form, 'delete_reason', 'Enter a reason.');
    const given = { delete_reason: form.get('delete_reason') };
    const { delete_reason: reason } = validate(freezeDeletion, given, 'body');
    await deleteFreeze(deps, actor, repository, id, reason);
    return [];
  },
  async restore({ deps, actor, repository }, { id }) {
    await restoreFreeze(deps, actor, repository, id);
    return [];
  },
};

/** `POST /repos/{owner}/{repository}`: ends and deletes the selected freezes, each by itself. One press undoes it. */
export async function deleteFreezesByForm(change: RepositoryChange): Promise<Response> {
  const { deps, repository, form } = change;
  requiredText(form, 'delete_reason', 'Enter a reason.');
  const since = nowOf(deps.clock);
  const rows = chosenRows(form);
  const names = new Map(
    (
      await deps.db.freeze.findMany({
        where: { repositoryId: repository.id, id: { in: rows.map(({ id }) => id) } },
        select: { id: true, reason: true },
      })
    ).map(({ id, reason }) => [id, shorten(reason, 60)]),
  );
  const ended: FreezeRecord[] = [];
  const acts = rows.map(({ id, assertSame }) => ({
    name: names.get(id) ?? id,
    async act() {
      // Read at its turn: somebody may change it while others are deleted.
      const freeze = await freezeRecord(deps.db, repository.id, id);
      if (!freeze || freeze.deletion) throw notFound('There is no such freeze.');
      assertSame(String(freeze.version), 'this freeze');
      await changesByForm.delete(change, freeze);
      if (phaseOf(freeze, since) === 'ongoing') ended.push(freeze);
    },
  }));
  const said = () => {
    const what = ended.length === 0 ? 'deleted' : endingName('unfrozen', releasedBy(ended));
    return `?said=${what}&undo=${spanSince(deps, since)}`;
  };
  return changeRows(change, acts, { list: repositoryPath(repository), said });
}

const saveChanged = async (
  { deps, actor, repository }: RepositoryChange,
  { id }: FreezeRecord,
  change: FreezeChange,
): Promise<string[]> => (await updateFreeze(deps, actor, repository, id, change)).warnings;

/** The wall-clock time of now. @throws Refusal invalid if that means a later instant. */
function endNow({ deps }: RepositoryChange, { timezone }: FreezeRecord): string {
  const now = nowOf(deps.clock);
  const end = toLocalTime(now, timezone);
  if (toInstant(end, timezone, 'end') > now)
    throw badField(
      'end',
      'Clocks go back today, so this hour comes twice and the end would be an hour away. Delete the freeze to end it now.',
    );
  return end;
}

/** The fields that the person changed. Other fields keep their values, even if the form cannot express them exactly. */
function readEdit({ deps, form }: RepositoryChange, freeze: FreezeRecord): FreezeChange {
  const changed = shownIn(freeze, freezeStateOf(freeze, nowOf(deps.clock))).flatMap(([name, before]) => {
    // Browsers send lines as CRLF.
    const given = form.get(name)?.replaceAll('\r\n', '\n');
    return given === undefined || given === before ? [] : [[name, given] as const];
  });
  if (changed.some(([name, given]) => name === 'reason' && given.trim() === ''))
    throw badField('reason', 'Enter a reason for the freeze.');
  const body = Object.fromEntries(
    changed.map(([name, given]) => [name, freezeFormFields[name]!.read(given)]),
  );
  return readFreezeChange(validate(freezeChange, body, 'body'));
}
