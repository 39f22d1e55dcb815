import { text as readAll } from 'node:stream/consumers';
import { command, type CommandSpec, type OptionSpec, ownerCommand } from '../command.ts';
import type { Schemas } from '../service/service.ts';
import { misused, unknownThing } from '../stop.ts';
import { readOwner } from '../target.ts';
import type { Cell } from '../terminal.ts';
import type { World } from '../world.ts';

type Options = {
  address?: string;
  repository?: string[];
  event?: string[];
  publicText?: true;
  description?: string;
};

const filters: OptionSpec[] = [
  ['--repository <glob>', 'only these repositories; repeat for more; "*" for all', 'many'],
  ['--event <type>', 'only these types, such as freeze.started; repeat for more; "*" for all', 'many'],
  ['--public-text', 'send public reasons only'],
  ['--description <text>', 'what it is for'],
];

const all = '*';
const orNull = (given: string[] | undefined): string[] | null | undefined =>
  given?.includes(all) ? null : given;

/** @throws Stop if there is none, as with `printenv` of a variable that is not set. */
async function addressFrom(input: World['input']): Promise<string> {
  const address = (await readAll(input)).trim();
  if (address === '')
    throw misused(
      'Standard input has no address. With `printenv CHAT_URL | …`, set and export CHAT_URL first: the address that the chat gave you.',
    );
  return address;
}

/** The fields that the options name. The address of a chat is a secret, so `-` reads it from standard input. */
const webhookOptions = async (
  { address, repository, event, publicText, description }: Options,
  { input }: World,
) => ({
  ...(address !== undefined && { url: address === '-' ? await addressFrom(input) : address }),
  repositories: orNull(repository),
  events: orNull(event) as Schemas['NewWebhook']['events'],
  public_text: publicText,
  description,
});

const listWebhooksCommand = ownerCommand<object>({
  usage: 'list <owner>',
  summary: 'list the outgoing webhooks of an owner',
  examples: [['holdfast webhooks list acme', 'See where messages are sent, and what is disabled']],
  async run({ output, owner, service }) {
    const { webhooks } = await service.get('/webhooks/{owner}', { owner });
    output.table(
      ['KIND', 'ADDRESS', 'STATE', 'REPOSITORIES', 'EVENTS', 'ID'],
      webhooks.map(({ id, kind, url, enabled, repositories, events }) => [
        ...[kind, url],
        enabled ? 'enabled' : ({ text: 'disabled', tone: 'wrong' } as const),
        ...[repositories?.join(' ') ?? 'all', events?.join(' ') ?? 'all', id],
      ]),
    );
    for (const { id, disabled_reason: why } of webhooks)
      if (why !== null) output.note(`Holdfast disabled ${id}. ${why}`);
    if (webhooks.length === 0) output.line(`${owner} has no outgoing webhooks.`);
    output.json({ webhooks });
  },
});

const create = command<Options & Pick<Schemas['NewWebhook'], 'kind'> & { address: string }, [owner: string]>({
  usage: 'create <owner>',
  summary: 'create an outgoing webhook; prints the secret of a standard one once',
  options: [
    ['--kind <kind>', 'slack, teams, discord, google_chat or standard', 'required'],
    ['--address <url>', 'where to send; - reads it from standard input', 'required'],
    ...filters,
  ],
  examples: [
    [
      'printenv CHAT_URL | holdfast webhooks create acme --kind slack --address - --repository "web-*"',
      'Tell a channel of Slack, without its address in the history of your shell',
    ],
    [
      'holdfast webhooks create acme --kind standard --address https://ops.example/holdfast --event freeze.started --event freeze.ended',
      'Tell your own service when freezes begin and end',
    ],
  ],
  async run({ output, connect, world }, { kind, ...options }, text) {
    const owner = readOwner(text);
    const fields = await webhookOptions(options, world);
    const { service } = await connect();
    const webhook = await service.post('/webhooks/{owner}', { owner }, { ...fields, kind, url: fields.url! });
    output.note(`Created webhook ${webhook.id}. To test it: holdfast webhooks test ${owner} ${webhook.id}`);
    if (webhook.secret !== undefined) output.line(webhook.secret);
    output.json(webhook);
  },
});

const update = command<Options & { enable?: true; disable?: true }, [owner: string, id: string]>({
  usage: 'update <owner> <id>',
  summary: 'change the fields of a webhook that you name, disable or enable it',
  options: [
    ['--enable', 'send messages again'],
    ['--disable', 'send no messages, also none that wait'],
    ['--address <url>', 'another address; - reads it from standard input'],
    ...filters,
    ['--all-text', 'send all reasons'],
  ],
  examples: [
    [
      'holdfast webhooks update acme 6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f --enable',
      'Enable a webhook that failed',
    ],
  ],
  async run({ output, connect, world }, { enable, disable, ...options }, text, id) {
    const owner = readOwner(text);
    if (enable && disable) throw misused('Use either --enable or --disable.');
    const { allText, ...others } = options as Options & { allText?: true };
    const fields = await webhookOptions(others, world);
    const change = {
      ...fields,
      ...(allText && { public_text: false }),
      ...((enable || disable) && { enabled: enable === true }),
    };
    if (Object.values(change).every((value) => value === undefined))
      throw misused('Name what to change. See holdfast webhooks update --help.');
    const { service } = await connect();
    const webhook = await service.patch('/webhooks/{owner}/{webhook_id}', { owner, webhook_id: id }, change);
    output.line(`Changed webhook ${id} of ${owner}. It is ${webhook.enabled ? 'enabled' : 'disabled'}.`);
    output.json(webhook);
  },
});

const removeWebhookCommand = ownerCommand<object, [id: string]>({
  usage: 'delete <owner> <id>',
  summary: 'delete a webhook and its deliveries',
  examples: [['holdfast webhooks delete acme 6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f', 'Delete a webhook']],
  async run({ output, owner, service }, _options, id) {
    await service.delete('/webhooks/{owner}/{webhook_id}', { owner, webhook_id: id });
    output.line(`Deleted webhook ${id} of ${owner}.`);
    output.json({ deleted: id });
  },
});

const test = ownerCommand<object, [id: string]>({
  usage: 'test <owner> <id>',
  summary: 'send a test message',
  examples: [['holdfast webhooks test acme 6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f', 'See whether it arrives']],
  async run({ output, owner, service }, _options, id) {
    const delivery = await service.post(
      '/webhooks/{owner}/{webhook_id}/test',
      { owner, webhook_id: id },
      undefined,
    );
    output.line(`Sending a test. To see its result: holdfast webhooks deliveries ${owner} ${id}`);
    output.json(delivery);
  },
});

type Delivery = Schemas['WebhookDelivery'];

/** What became of a delivery: its state and the last answer. */
const webhookState = ({ state }: Delivery): Cell =>
  state === 'failed'
    ? { text: state, tone: 'wrong' }
    : state === 'delivered'
      ? { text: state, tone: 'free' }
      : state;

const deliveries = ownerCommand<object, [id: string]>({
  usage: 'deliveries <owner> <id>',
  summary: 'list the last deliveries of a webhook, newest first',
  examples: [
    [
      'holdfast webhooks deliveries acme 6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f',
      'See what arrived, and what failed',
    ],
  ],
  async run({ output, owner, service }, _options, id) {
    const path = '/webhooks/{owner}/{webhook_id}/deliveries';
    const found = await service.get(path, { owner, webhook_id: id });
    output.table(
      ['EVENT', 'STATE', 'ATTEMPTS', 'ANSWER', 'LAST ATTEMPT', 'NEXT ATTEMPT', 'ID'],
      found.deliveries.map((each) => [
        ...[
          each.type,
          webhookState(each),
          String(each.attempts),
          each.error ?? String(each.status ?? 'none'),
        ],
        ...[each.last_attempt_at ?? 'none', each.next_attempt_at ?? 'none', each.id],
      ]),
    );
    if (found.deliveries.length === 0) output.line('There are no deliveries of the last 30 days.');
    output.json(found);
  },
});

const replay = ownerCommand<object, [id: string, delivery: string]>({
  usage: 'replay <owner> <id> <delivery>',
  summary: 'send a delivery again',
  examples: [
    [
      'holdfast webhooks replay acme 6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f 0b9d1e5e-7a3f-4f0e-9f49-2f2f9a2b8c11',
      'Send a message again that failed',
    ],
  ],
  async run({ output, owner, service }, _options, id, delivery) {
    const path = '/webhooks/{owner}/{webhook_id}/deliveries/{delivery_id}/replay';
    const again = await service.post(path, { owner, webhook_id: id, delivery_id: delivery }, undefined);
    output.line(`Sending delivery ${delivery} again.`);
    output.json(again);
  },
});

const rotateSecret = ownerCommand<object, [id: string]>({
  usage: 'rotate-secret <owner> <id>',
  summary: 'give a standard webhook another secret, and print it once; both sign for 24 hours',
  examples: [
    [
      'secret=$(holdfast webhooks rotate-secret acme 6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f --json | jq -er .secret) && printf %s "$secret" | gh secret set WEBHOOK_SECRET',
      'Pass the secret on without showing it',
    ],
  ],
  async run({ output, owner, service }, _options, id) {
    const path = '/webhooks/{owner}/{webhook_id}/rotate_secret';
    const webhook = await service.post(path, { owner, webhook_id: id }, undefined);
    if (webhook.secret === undefined) throw unknownThing('The answer has no secret. Rotate it again.');
    output.note(
      'This is the only time that the new secret is shown. The former one signs for 24 hours more:',
    );
    output.line(webhook.secret);
    output.json(webhook);
  },
});

export const webhooks: CommandSpec = {
  usage: 'webhooks',
  summary: 'manage the outgoing webhooks of an owner, which tell chats and services what happens',
  below: [listWebhooksCommand, create, update, removeWebhookCommand, test, deliveries, replay, rotateSecret],
};
