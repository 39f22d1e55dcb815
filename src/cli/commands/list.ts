import { command } from '../command.ts';
import type { ListedFreeze } from '../freezing/list-freezes.ts';
import { nameOf, readPlace } from '../target.ts';
import type { Cell } from '../terminal.ts';

export const list = command<{ each?: true }, [target: string]>({
  usage: 'list <target>',
  summary: 'list the ongoing and scheduled freezes of a repository or an owner, with their IDs',
  options: [['--each', 'show each freeze of a plan, instead of one line']],
  examples: [
    ['holdfast list acme', 'See what is frozen, and what comes next'],
    ["holdfast list acme/web --json | jq -r '.freezes[].freeze.id'", 'Print the IDs in a repository'],
  ],
  async run({ connect, output, world }, { each }, target) {
    const place = readPlace(target);
    const { service, memory } = await connect();
    const { byOccurrence, isOn, listFreezes } = await import('../freezing/list-freezes.ts');
    const freezes = await listFreezes(service, place);
    memory.save(
      freezes.flatMap(({ owner, repository, freeze }) => [
        { kind: 'freeze' as const, id: freeze.id, owner, repository },
        ...(freeze.plan_id === undefined
          ? []
          : [{ kind: 'plan' as const, id: freeze.plan_id, owner, repository: null }]),
      ]),
    );
    const now = world.now();
    const rows = each || place.repository !== null ? freezes.map((each) => [each]) : byOccurrence(freezes);
    const { describeInstant } = await import('../../time/local-time.ts');
    const shown = (at: number, zone: string) => describeInstant(new Date(at), zone);
    output.table(
      ['STATE', 'WHERE', 'FROM', 'UNTIL', 'REASON', 'ID'],
      rows.map((same): Cell[] => {
        const [first] = same as [ListedFreeze];
        const { owner, repository, freeze, startsAt, endsAt } = first;
        const isPlan = same.length > 1;
        return [
          isOn(first, now) ? { text: 'on', tone: 'held' } : { text: 'scheduled', tone: 'scheduled' },
          isPlan ? `${owner} (${same.length})` : nameOf({ owner, repository }),
          shown(startsAt, freeze.timezone),
          endsAt === null ? 'removed' : shown(endsAt, freeze.timezone),
          freeze.reason,
          isPlan ? freeze.plan_id! : freeze.id,
        ];
      }),
    );
    if (freezes.length === 0) output.line(`No freeze is on or planned in ${target}.`);
    output.json({
      freezes: freezes.map(({ owner, repository, freeze, startsAt, endsAt }) => ({
        repository: nameOf({ owner, repository }),
        state: startsAt <= now ? 'on' : 'scheduled',
        starts_at: new Date(startsAt).toISOString(),
        ends_at: endsAt === null ? null : new Date(endsAt).toISOString(),
        freeze,
      })),
    });
  },
});
