import { beforeAll, expect, test } from 'vitest';
import { type Library, readLibrary } from '../../../src/pages/help/help-routes.ts';

// Questions of people, and the section that answers each: the first or the second result, or one of the first three for
// those in a sentence.

let library: Library;
beforeAll(async () => {
  library = await readLibrary();
});

const first = (most: number, question: string) =>
  library
    .search(question)
    .slice(0, most)
    .map(({ name, anchor }) => `${name}#${anchor}`);

test.each([
  ['whole organization', 'freeze#freeze-a-whole-organization'],

  ['Docker', 'install-container#compose'],
  ['monitor', 'monitor#monitor'],
  ['prometheus', 'monitor#let-prometheus-scrape'],
  ['metrics', 'monitor#metrics'],
  ['alert', 'monitor#alerts'],
  ['grafana', 'monitor#a-dashboard-for-grafana'],
  ['slack', 'slack#freeze-and-decide-in-slack'],
  ['webhook', 'notices#create-a-webhook'],
  ['signature', 'notices#verify-a-signature'],
  ['back up', 'backup#back-up-and-restore'],
  ['upgrade', 'upgrading#upgrade'],
  ['phone', 'freeze#use-it-on-a-phone'],
  ['merge queue', 'freeze#freeze-githubs-merge-queue'],
  ['Terraform', 'clients#terraform-and-the-mergify-command-line'],
  ['what if Holdfast is down', 'when-down#what-if-holdfast-is-down'],
])('“%s” finds %s', (question, section) => expect(first(2, question)).toContain(section));

test.each([
  ['emergency unfreeze when holdfast is down', 'when-down#let-something-merge-while-holdfast-is-down'],
  ['who can freeze', 'roles#who-can-freeze-and-who-can-approve'],
  ['uninstall', 'operating#uninstall-holdfast'],
  ['remove holdfast', 'operating#uninstall-holdfast'],
  ['undo', 'freeze#undo'],
  ['bring back a deleted freeze', 'freeze#undo'],
  ['slack invalid signature', 'slack#if-slack-doesnt-work'],
  ['slack not working invalid signature', 'slack#if-slack-doesnt-work'],
  ['let one pull request thru', 'exemptions#exemptions'],
  ['keyboard shortcuts', 'pages#use-the-keyboard'],
  ['delete audit log retention', 'pages#retention-how-long-the-audit-log-keeps-events'],
  ['freez whole organisation', 'freeze#freeze-a-whole-organization'],
  ['exemtion two persons', 'exemptions#two-people'],
  ['back up the databse', 'backup#back-up-and-restore'],
  ['upgrade verison', 'upgrading#upgrade'],
])('“%s” finds %s within the first three', (question, section) =>
  expect(first(3, question)).toContain(section),
);
