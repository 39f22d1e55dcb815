import type { Deps } from '../../../deps.ts';
import type { SlackRequest } from '../../../generated/prisma/client.ts';
import { setWantsMessages, unlink } from '../../../notices/slack/slack-links.ts';
import { nothingChanged } from '../slack-text.ts';

/** Changes what Holdfast keeps about a person of Slack. @returns what they read. */
export async function changePerson(
  deps: Deps,
  request: SlackRequest,
  verb: 'notify' | 'unlink',
  words: string,
): Promise<string> {
  if (verb === 'unlink') {
    await unlink(deps, request);
    return 'Your accounts are no longer linked.';
  }
  const isOn = /^on$/i.test(words);
  if (!isOn && !/^off$/i.test(words)) return nothingChanged('Write /holdfast notify on, or off.');
  await setWantsMessages(deps, request, isOn);
  return isOn
    ? 'Holdfast tells you when a freeze blocks your pull requests, and when it ends.'
    : 'Holdfast sends you no messages about your pull requests.';
}
