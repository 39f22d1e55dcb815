import { cutText } from '../cut-text.ts';
import type { Tx } from '../database/database.ts';
import { conflict } from '../errors.ts';
import type { Actor } from '../events/actor.ts';
import { appendEvent } from '../events/append-event.ts';
import type { Account } from '../generated/prisma/client.ts';
import { lockAccount } from '../installations/find-account.ts';
import { nowOf } from '../time/clock.ts';
import type { Ground } from '../database/ground.ts';

// Templates fill in the forms that freeze. They set nothing that a person cannot see and change before the preview.

/** The fields that *Freeze now* and a new plan start with, as their forms have them. */
export type FreezeTemplate = {
  name: string;
  reason: string;
  duration: string;
  /** @property usual conditions that the forms offer. @property lines others, one in each line. */
  exceptions: { usual: string[]; lines: string };
} & Partial<Record<'holds' | 'environments' | 'onDeployment', string>>;

const hotfixes = { usual: ['label=hotfix'], lines: '' };

/** Every owner has them. A saved template with the same name replaces one. */
const builtIn: FreezeTemplate[] = [
  { name: 'Incident', reason: 'Incident', duration: 'open', exceptions: hotfixes },
  { name: 'Release', reason: 'Release', duration: '4h', exceptions: hotfixes },
  { name: 'Holiday', reason: 'Holiday', duration: 'until', exceptions: hotfixes },
];

/** The templates that an owner saved, by name. */
export async function savedTemplates(tx: Tx, accountId: bigint): Promise<FreezeTemplate[]> {
  const { templates } = await tx.account.findUniqueOrThrow({
    where: { id: accountId },
    select: { templates: true },
  });
  return templates as FreezeTemplate[];
}

/** All templates of an owner: the built-in ones first. */
export async function templatesOf(tx: Tx, accountId: bigint): Promise<FreezeTemplate[]> {
  const saved = await savedTemplates(tx, accountId);
  const names = new Set(saved.map(({ name }) => name));
  return [...builtIn.filter(({ name }) => !names.has(name)), ...saved];
}

export const longestTemplateName = 60;
const mostTemplates = 20;

/**
 * Saves a template, in the place of one with the same name. A longer name is cut.
 * @returns its name. @throws Refusal conflict if there are too many.
 */
export async function saveTemplate(
  deps: Pick<Ground, 'db' | 'clock'>,
  actor: Actor,
  account: Pick<Account, 'id' | 'login'>,
  template: FreezeTemplate,
): Promise<string> {
  const name = cutText(template.name, longestTemplateName);
  await changeTemplates(deps, actor, account, (before) => {
    const others = before.filter((each) => each.name !== name);
    if (others.length >= mostTemplates)
      throw conflict(`${account.login} has ${mostTemplates} templates. Remove one before you save another.`);
    return [...others, { ...template, name }];
  });
  return name;
}

export const removeTemplate = (
  deps: Pick<Ground, 'db' | 'clock'>,
  actor: Actor,
  account: Pick<Account, 'id'>,
  name: string,
): Promise<void> =>
  changeTemplates(deps, actor, account, (before) => before.filter((each) => each.name !== name));

async function changeTemplates(
  { db, clock }: Pick<Ground, 'db' | 'clock'>,
  actor: Actor,
  { id }: Pick<Account, 'id'>,
  change: (before: FreezeTemplate[]) => FreezeTemplate[],
): Promise<void> {
  await db.$transaction(async (tx) => {
    await lockAccount(tx, id);
    const before = await savedTemplates(tx, id);
    const after = change(before).toSorted((one, other) => one.name.localeCompare(other.name, 'en'));
    await tx.account.update({ where: { id }, data: { templates: after } });
    const metadata = { templates_before: before, templates_after: after };
    const event = { type: 'freeze_templates.update', metadata } as const;
    await appendEvent(tx, { accountId: id }, event, actor, nowOf(clock));
  });
}
