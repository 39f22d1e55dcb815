import { field, fieldGroup, list, listGroup, page } from './attribute-group.ts';

const labels = list<{ name: string }>('labels', 'labels', (which) => `labels(${which}) ${page('name')}`);
export const ofLabels = listGroup(
  'labels',
  ['label'],
  labels,
  (items) => ({ label: items.map(({ name }) => name) }),
  ['label'],
);

const assignees = list<{ login: string }>(
  'assignees',
  'assignees',
  (which) => `assignees(${which}) ${page('login')}`,
);
export const ofAssignees = listGroup('assignees', ['assignee'], assignees, (people) => ({
  assignee: people.map(({ login }) => login),
}));

const milestone = field<{ title: string }>('milestone', 'milestone', 'milestone { title }');
export const ofMilestone = fieldGroup(
  ['milestone'],
  ['milestone'],
  milestone,
  (value) => ({ milestone: value?.title ?? null }),
  ['milestone'],
);
