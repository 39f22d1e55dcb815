import { labelJson, milestoneJson } from '../json/pull-request-json.ts';
import { ownerSender } from './sender.ts';
import type { Repository } from '../state/model.ts';
import type { World } from '../state/world.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

/** Labels and milestones. Their pull requests change with them, and send no event. */
export function namedThings(world: World, webhooks: Webhooks) {
  function emit(repository: Repository, event: string, action: string, payload: Record<string, unknown>) {
    webhooks.emit({ event, action, repository, sender: ownerSender(world, repository.owner), payload });
  }

  const withMilestone = (repository: Repository, title: string) =>
    [...repository.pullRequests.values()].filter((pr) => pr.milestone?.title === title);

  return {
    renameLabel(fullName: string, from: string, to: string) {
      const repository = world.repository(fullName);
      const label = repository.labels.get(from.toLowerCase());
      if (!label) throw new Error(`${fullName} has no label ${from}`);
      repository.labels.delete(from.toLowerCase());
      repository.labels.set(to.toLowerCase(), label);
      label.name = to;
      emit(repository, 'label', 'edited', {
        label: labelJson(world, repository, label),
        changes: { name: { from } },
      });
    },

    deleteLabel(fullName: string, name: string) {
      const repository = world.repository(fullName);
      const label = repository.labels.get(name.toLowerCase());
      if (!label) throw new Error(`${fullName} has no label ${name}`);
      repository.labels.delete(name.toLowerCase());
      for (const pr of repository.pullRequests.values())
        pr.labels = pr.labels.filter((each) => each !== label);
      emit(repository, 'label', 'deleted', { label: labelJson(world, repository, label) });
    },

    renameMilestone(fullName: string, from: string, to: string) {
      const repository = world.repository(fullName);
      const having = withMilestone(repository, from);
      for (const pr of having) pr.milestone!.title = to;
      const milestone = having[0] ? milestoneJson(having[0]) : { title: to };
      emit(repository, 'milestone', 'edited', { milestone, changes: { title: { from } } });
    },

    deleteMilestone(fullName: string, title: string) {
      const repository = world.repository(fullName);
      for (const pr of withMilestone(repository, title)) pr.milestone = null;
      emit(repository, 'milestone', 'deleted', { milestone: { title } });
    },
  };
}
