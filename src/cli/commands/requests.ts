import { atOnce } from '../at-once.ts';
import { command } from '../command.ts';
import { repositoriesOf } from '../freezing/repositories-of.ts';
import type { Exemption } from '../service/shapes.ts';
import { v1 } from '../service/service.ts';
import { exitCodes } from '../stop.ts';
import { readPlace } from '../target.ts';

export const requests = command<{ state?: string }, [target: string]>({
  usage: 'requests <target>',
  summary: 'list exemption requests',
  options: [['--state <state>', 'requested, approved, denied, revoked, expired, used or all (requested)']],
  examples: [
    ['holdfast requests acme', 'See the requests that wait for a decision'],
    ['holdfast requests acme/web --state approved', 'See the exemptions in a repository'],
  ],
  async run(call, { state = 'requested' }, target) {
    const { world, output } = call;
    const { owner, repository } = readPlace(target);
    const { service, seen } = await call.connect();
    const names = repository === null ? await repositoriesOf(service, owner) : [repository];
    const query = { state: state === 'all' ? undefined : state, per_page: '100' };
    const lists = await atOnce(names, 6, async (name) => {
      const found: Exemption[] = [];
      const path = v1('repos', owner, name, 'exemptions');
      for await (const { exemptions } of service.pages<{ exemptions: Exemption[] }>(path, query))
        found.push(...exemptions);
      return found.map((exemption) => ({ repository: name, exemption }));
    });
    const found = lists.flat();
    seen.keep(
      found.map(({ repository, exemption: { id } }) => ({ kind: 'exemption', id, owner, repository })),
    );
    const { describeInstant } = await import('../../time/local-time.ts');
    output.table(
      ['PULL REQUEST', 'STATE', 'BY', 'UNTIL', 'REASON', 'ID'],
      found.map(({ repository, exemption: each }) => [
        ...[`${owner}/${repository}#${each.pull_request}`, each.state, each.requested_by.name],
        ...[describeInstant(new Date(each.expires_at), world.zone), each.reason, each.id],
      ]),
    );
    if (found.length === 0)
      output.line(
        state === 'requested' ? `Nothing waits for a decision in ${target}.` : `There are none in ${target}.`,
      );
    output.json({
      exemptions: found.map(({ repository, exemption }) => ({
        repository: `${owner}/${repository}`,
        exemption,
      })),
    });
    return exitCodes.done;
  },
});
