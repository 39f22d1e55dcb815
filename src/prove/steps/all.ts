import type { Asks, ProveStep } from '../stage.ts';
import { app } from './app.ts';
import { background } from './background.ts';
import { deploymentSteps } from './deployments.ts';
import { merging } from './merging.ts';
import { rules } from './rules.ts';

/** How each step asks. */
export const asks: Asks = { ...merging, ...background, ...rules, ...deploymentSteps, ...app };

const rowsOf = (table: string): string[][] => table.match(/\S.*/g)!.map((row) => row.split(/\s+\| /));

const table = `
  missing             | A pull request without the status of Holdfast cannot be merged. | During a freeze, new pull requests can be merged until Holdfast has judged them.
  pending             | A pull request whose status is pending cannot be merged. | Freezes hold nothing.
  released            | A pull request that a label or an exemption lets through can be merged within a minute. | Exempted pull requests stay blocked, and after a freeze nothing can be merged.
  push                | After a push, the success of the commit before does not count. | A push after an exemption takes other changes through a freeze.
  forged              | A success that somebody else posts in the name of Holdfast does not count. | Everybody who can push can take a pull request through a freeze.
  shared-head         | One status counts for all pull requests with the same head commit. | Of several pull requests from one branch, some stay blocked after a freeze.
  test-merge          | A failed status on the test merge commit blocks a pull request whose head succeeds. | Holdfast explains wrongly why GitHub blocks such pull requests.
  auto-merge          | Auto-merge waits for the status of Holdfast, and merges when it succeeds. | Pull requests with auto-merge stay open after a freeze, or merge during one.
  texts               | A description has at most 140 characters, without emoji. | GitHub refuses statuses with long reasons, or Holdfast cuts reasons too early.
  async               | A merge in the background obeys the status of Holdfast. | The way to merge that GitHub recommends since October 2026 leads past freezes.
  bypass              | A person who may bypass the rule merges past it, and the App is told of the merge. | Holdfast tells nobody that somebody merged past a freeze.
  stack               | The top of a stack cannot be merged while Holdfast blocks one below it. | One exempted pull request takes a whole stack through a freeze.
  stack-key           | A pull request has the key stack while it is in a stack, and only then. | Holdfast misses stacks, or judges pull requests by stacks that they are not in.
  queue-webhook       | GitHub asks for checks of each merge group, and names its commit and its pull request. | Every pull request in a merge queue waits until it times out.
  queue-failed        | A pull request whose merge group fails leaves the queue without being merged. | What is in a merge queue when a freeze begins is merged during it.
  queue-passed        | A pull request whose merge group succeeds is merged. | During a freeze, exempted pull requests do not get through the merge queue.
  queue-head          | A head that fails while its pull request is queued does not take it out of the queue. | Pull requests leave the queue before Holdfast fails their groups. Nothing is merged.
  pinned              | A ruleset requires the check from the App, although the App only posts statuses. | A person with write access can forge the status, as Holdfast then says.
  flip                | A ruleset that is switched on by its enforcement alone keeps its rules, and blocks in seconds. | Instant hold holds nothing, or not at once.
  unflip              | A ruleset that is switched off blocks nothing any more, within seconds. | After an instant hold, pull requests stay blocked.
  private             | GitHub shows the rules of a private repository, or says that the plan has none, in known words. | Holdfast does not warn that nothing enforces a freeze in such a repository.
  renamed             | The former name of a repository leads to it: reads by a 301, writes by a 307. | Pull requests get no status after somebody renames a repository.
  archived            | An archived repository refuses statuses in the words that Holdfast knows. | Holdfast tries again and again to write into archived repositories.
  default-branch      | A rule for the default branch follows when that is renamed, and the former name leads there. | Freezes hold nothing on a default branch that was renamed.
  deployment-webhook  | GitHub asks the App about each job that deploys to an environment with its rule. | Deployments wait until Holdfast looks for them by itself.
  deployment-report   | The App can say why a deployment waits, and the deployment goes on waiting. | People do not see at GitHub which freeze holds their deployment.
  deployment-approved | A deployment goes out when the App approves it. A second decision is refused in known words. | Deployments wait after a freeze, or Holdfast decides again and again.
  deployment-rejected | A deployment that the App rejects does not go out. | After a freeze, older runs are deployed as well as newer ones.
  deployment-matrix   | One approval lets go all jobs of a matrix that wait for the environment. | After a freeze, some jobs of a matrix go on waiting.
  deployment-again    | A run that is run again waits for the App again, as another attempt. | What was decided about a run counts for ever, or Holdfast does not decide about its next attempt.
  deployment-careless | A job that says deployment: false fails at once in an environment with the rule of the App. | Such jobs deploy during a freeze, and Holdfast says that they fail.
  environment         | GitHub shows whether its admins can go past the rules of an environment. | Holdfast does not warn of environments whose rule admins can go past.
  app                 | An App that is created from the manifest has all permissions and events that it asks for. | The App that the setup page creates does not work until somebody corrects it.
  hint                | A token without a permission is refused, and GitHub names the permission. | Holdfast cannot say which permission somebody has to grant.
  seconds             | Times of statuses are whole seconds in UTC. | Holdfast orders statuses of the same second wrongly.
  label               | The App is told when a pull request gets a label. | A label lets a pull request through only at the hourly check.
  comment             | The App is told of a comment on a pull request, and can answer it. | Commands in comments have no effect.
  pace                | GitHub takes 180 statuses in a minute, or refuses in words that Holdfast knows. | GitHub blocks the App for a time when many pull requests are frozen. | takes two minutes, and GitHub may refuse statuses of the App for some minutes more
`;

/** Every step, in the order in which they run: its name, what GitHub does, and what it means for users if not. */
export const steps = rowsOf(table).map(
  ([name, proves, otherwise, costs]) => ({ name, proves, otherwise, costs, run: asks[name!] }) as ProveStep,
);

/** What Holdfast relies on and no step asks, with the reason. */
export const notProven: Record<string, string> = Object.fromEntries(
  rowsOf(`
    a second person, such as one who is no admin        | it takes a second account
    an admin who goes past the rules of an environment  | it takes a person, because GitHub has no API for it
    a renamed organization                              | it takes a person
    a transferred repository                            | it takes a second owner, where nothing would clean up
    signing in, and permissions that are accepted later | they take a person
    former stacks                                       | a stack is listed as former only after its pull requests were merged
    a stack that is merged as a whole                   | no step asks for it yet
    a merge group that is under way when a ruleset is switched on | no step asks for it yet
    auto-merge after a ruleset is switched off          | no step asks for it yet
    the limits of GraphQL                               | a run would use up an hour of the App`),
);
