import { beforeAll, expect, test } from 'vitest';
import { type Library, readLibrary } from '../../../src/pages/help/help-routes.ts';

// Questions of people, and the section that answers each: the first or the second result.

let library: Library;
beforeAll(async () => {
  library = await readLibrary();
});

const firstTwo = (question: string) =>
  library
    .search(question)
    .slice(0, 2)
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
])('“%s” finds %s', (question, section) => expect(firstTwo(question)).toContain(section));
