// A Slack with one workspace: it signs what it sends, and refuses what Slack refuses.
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { problemIn } from './limits.ts';
import { acceptSocket, type Socket } from './web-socket.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into blocks of every shape
type Json = any;

export type Posted = { ts: string; text: string; blocks: Json[]; channel: string };

/** What somebody in Slack got back at once. */
export type Answered = { status: number; text: string };

/** What it does with a message. `lost`: shows it, and its answer never comes; `held`: shows it, and answers at `release`. */
type Behaviour = 'lost' | 'held' | 'limited' | 'refused';

/** How a request differs from what Slack sends. */
type Forged = { secret?: string; at?: Date; signature?: string | null };

export type Slack = Awaited<ReturnType<typeof startSlack>>;

const secretOf = (prefix: string) => `${prefix}${randomUUID().replaceAll('-', '')}`;

/** @param now the time by which triggers expire, limits count and requests are signed. */
export async function startSlack({ now }: { now: () => Date }) {
  const app = {
    botToken: secretOf('xoxb-1-'),
    signingSecret: secretOf(''),
    appToken: secretOf('xapp-1-'),
  };
  const team = { id: 'T0ACME', domain: 'acme-chat' };
  const users = new Map<string, string>();
  const channels = new Map<string, Posted[]>();
  /** What only one person sees, the oldest first. */
  const whispers: { to: string; text: string; blocks: Json[] }[] = [];
  /** The open window of each person. */
  const windows = new Map<string, { id: string; view: Json }>();
  const triggers = new Map<string, { user: string; until: number }>();
  const responses = new Map<string, { user: string; channel: string; until: number; left: number }>();
  const sockets = new Set<Socket>();
  const connecting = new Set<{ count: number; resolve: () => void }>();
  const waitingForAck = new Map<string, (payload: Json) => void>();
  /** When the last messages of each channel were posted. */
  const paces = new Map<string, number[]>();
  const planned: Behaviour[] = [];
  const held = new Set<() => void>();
  const calls: { method: string; fields: Record<string, Json> }[] = [];
  let [target, isDown, isByHttp, count, mostPerSecond] = ['', false, true, 0, 1_000];
  let last: { path: string; content: Json } | null = null;
  /** The app is installed in a whole organization: what people press names no workspace but their own. */
  let isOrganizationWide = false;

  const server = createServer((request, response) => void handle(request, response));
  server.on('upgrade', (request, stream) => {
    const socket = acceptSocket(
      request,
      stream,
      (text) => {
        const { envelope_id: id, payload } = JSON.parse(text) as { envelope_id: string; payload?: Json };
        waitingForAck.get(id)?.(payload);
      },
      () => {
        sockets.delete(socket);
        tellConnections();
      },
    );
    sockets.add(socket);
    tellConnections();
    socket.send(JSON.stringify({ type: 'hello', num_connections: sockets.size }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function tellConnections(): void {
    for (const waiting of connecting)
      if (waiting.count === sockets.size) {
        connecting.delete(waiting);
        waiting.resolve();
      }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const path = request.url ?? '';
    const behaviour = /^\/response\/|chat\.post/.test(path) && !isDown ? planned.shift() : undefined;
    const answer = (status: number, content: Json, headers: Record<string, string> = {}) => {
      const send = () =>
        response
          .writeHead(status, { 'Content-Type': 'application/json', ...headers })
          .end(JSON.stringify(content));
      if (behaviour === 'lost') request.socket.destroy();
      else if (behaviour === 'held') held.add(send);
      else send();
    };
    if (isDown) return void answer(503, { ok: false, error: 'service_unavailable' });
    if (behaviour === 'limited')
      return void answer(429, { ok: false, error: 'ratelimited' }, { 'Retry-After': '60' });
    if (behaviour === 'refused')
      return path.startsWith('/response/')
        ? void answer(404, { ok: false, error: 'expired_url' })
        : void answer(200, { ok: false, error: 'channel_not_found' });
    if (path.startsWith('/response/')) {
      const [status, error] = respondTo(path.slice('/response/'.length), JSON.parse(body));
      return void answer(status, error === null ? { ok: true } : { ok: false, error });
    }
    const method = path.replace('/api/', '');
    const token = request.headers.authorization?.replace('Bearer ', '');
    const fields = fieldsOf(body);
    calls.push({ method, fields });
    const known = method === 'apps.connections.open' ? app.appToken : app.botToken;
    if (token !== known) return void answer(200, { ok: false, error: 'invalid_auth' });
    const result = methods[method]?.(fields) ?? { ok: false, error: 'unknown_method' };
    if (result.error === 'ratelimited') return void answer(429, result, { 'Retry-After': '1' });
    answer(200, result);
  }

  const methods: Record<string, (fields: Record<string, Json>) => Json> = {
    'auth.test': () => ({
      ok: true,
      team: 'Acme Chat',
      team_id: team.id,
      user_id: 'U0BOT',
      bot_id: 'B0BOT',
      user: 'holdfast',
    }),
    'apps.connections.open': () => ({ ok: true, url: `${url.replace('http', 'ws')}/socket` }),
    'users.info': ({ user }) =>
      users.has(user)
        ? { ok: true, user: { id: user, name: users.get(user) } }
        : { ok: false, error: 'user_not_found' },
    'conversations.open': ({ users: user }) => {
      if (!users.has(user)) return { ok: false, error: 'user_not_found' };
      const id = `D${user.slice(1)}`;
      if (!channels.has(id)) channels.set(id, []);
      return { ok: true, channel: { id } };
    },
    'chat.postMessage': (fields) => {
      const messages = channels.get(fields['channel']);
      if (!messages) return { ok: false, error: 'channel_not_found' };
      const error = problemIn(fields) ?? pacing(fields['channel']);
      if (error) return { ok: false, error };
      const ts = `${Math.floor(now().getTime() / 1000)}.${String(++count).padStart(6, '0')}`;
      messages.push({ ts, text: fields['text'], blocks: fields['blocks'] ?? [], channel: fields['channel'] });
      return { ok: true, channel: fields['channel'], ts };
    },
    'chat.update': (fields) => {
      const message = channels.get(fields['channel'])?.find(({ ts }) => ts === fields['ts']);
      if (!message) return { ok: false, error: 'message_not_found' };
      const error = problemIn(fields);
      if (error) return { ok: false, error };
      Object.assign(message, { text: fields['text'], blocks: fields['blocks'] ?? [] });
      return { ok: true, channel: fields['channel'], ts: fields['ts'] };
    },
    'chat.postEphemeral': (fields) => {
      const error = channels.has(fields['channel']) ? problemIn(fields) : 'channel_not_found';
      if (error) return { ok: false, error };
      whispers.push({ to: fields['user'], text: fields['text'], blocks: fields['blocks'] ?? [] });
      return { ok: true };
    },
    'views.open': ({ trigger_id: id, view }) => {
      const trigger = triggers.get(id);
      triggers.delete(id);
      if (!trigger) return { ok: false, error: 'exchanged_trigger_id' };
      if (trigger.until < now().getTime()) return { ok: false, error: 'expired_trigger_id' };
      const error = problemIn({ view });
      if (error) return { ok: false, error };
      const window = { id: `V${++count}`, view };
      windows.set(trigger.user, window);
      return { ok: true, view: { ...view, id: window.id } };
    },
    'views.update': ({ view_id: id, view }) => {
      const window = [...windows.values()].find((each) => each.id === id);
      const error = window ? problemIn({ view }) : 'not_found';
      if (error) return { ok: false, error };
      window!.view = view;
      return { ok: true, view: { ...view, id } };
    },
  };

  /** Slack takes about a message a second in a channel. */
  function pacing(channel: string): string | null {
    const since = now().getTime() - 1_000;
    const recent = (paces.get(channel) ?? []).filter((at) => at > since);
    if (recent.length >= mostPerSecond) return 'ratelimited';
    paces.set(channel, [...recent, now().getTime()]);
    return null;
  }

  function respondTo(id: string, message: Json): [number, string | null] {
    const response = responses.get(id);
    if (!response || response.until < now().getTime()) return [404, 'expired_url'];
    if (response.left-- <= 0) return [404, 'used_url'];
    const error = problemIn(message);
    if (error) return [400, error];
    const { text, blocks = [], response_type: type } = message;
    if (type === 'in_channel') {
      const ts = `${Math.floor(now().getTime() / 1000)}.${String(++count).padStart(6, '0')}`;
      channels.get(response.channel)!.push({ ts, text, blocks, channel: response.channel });
    } else whispers.push({ to: response.user, text, blocks });
    return [200, null];
  }

  function trigger(user: string): string {
    const id = `trigger.${randomUUID()}`;
    triggers.set(id, { user, until: now().getTime() + 3_000 });
    return id;
  }

  function responseUrl(user: string, channel: string): string {
    const id = randomUUID();
    responses.set(id, { user, channel, until: now().getTime() + 30 * 60_000, left: 5 });
    return `${url}/response/${id}`;
  }

  /** Sends a request as Slack does, over HTTP or a socket. */
  async function send(path: string, content: Json, forged: Forged = {}): Promise<Answered> {
    last = { path, content };
    if (!isByHttp) return sendBySocket(path, content);
    const isCommand = path === '/slack/commands';
    const body = new URLSearchParams(isCommand ? content : { payload: JSON.stringify(content) }).toString();
    const timestamp = String(Math.floor((forged.at ?? now()).getTime() / 1000));
    const hmac = createHmac('sha256', forged.secret ?? app.signingSecret).update(`v0:${timestamp}:${body}`);
    const signature = forged.signature === undefined ? `v0=${hmac.digest('hex')}` : forged.signature;
    const answer = await fetch(target + path, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        'X-Slack-Request-Timestamp': timestamp,
        ...(signature !== null && { 'X-Slack-Signature': signature }),
      },
      body,
    });
    return shown(content, answer.status, await answer.text());
  }

  async function sendBySocket(path: string, content: Json): Promise<Answered> {
    const id = randomUUID();
    const acknowledged = new Promise<Json>((resolve) => waitingForAck.set(id, resolve));
    const [socket] = sockets;
    if (!socket) throw new Error('Nobody is connected to the socket');
    const type = path === '/slack/commands' ? 'slash_commands' : 'interactive';
    socket.send(JSON.stringify({ type, envelope_id: id, payload: content, accepts_response_payload: true }));
    const payload = await acknowledged;
    return shown(content, 200, payload?.text ? JSON.stringify(payload) : '');
  }

  /** What the answer shows to the person. A sent window closes. */
  function shown(content: Json, status: number, body: string): Answered {
    const user = content.user_id ?? content.user.id;
    if (status === 200 && content.type === 'view_submission') windows.delete(user);
    const text = body === '' ? '' : ((JSON.parse(body) as { text?: string }).text ?? body);
    if (status === 200 && text) whispers.push({ to: user, text, blocks: [] });
    return { status, text };
  }

  const whoOf = (user: string) => ({
    team: isOrganizationWide ? null : team,
    enterprise: isOrganizationWide ? { id: 'E0ACME', name: 'acme' } : null,
    user: { id: user, username: users.get(user), team_id: team.id },
    trigger_id: trigger(user),
  });

  return {
    ...app,
    team,
    apiUrl: `${url}/api/`,
    calls,
    whispers,
    installInOrganization(is = true): void {
      isOrganizationWide = is;
    },
    addUser(name: string): string {
      const id = `U0${name.toUpperCase().replace(/[^A-Z0-9]/g, '')}`;
      users.set(id, name);
      return id;
    },
    addChannel(name: string): string {
      const id = `C0${name.toUpperCase().replace(/[^A-Z0-9]/g, '')}`;
      channels.set(id, []);
      return id;
    },
    messages: (channel: string): Posted[] => channels.get(channel) ?? [],
    /** The direct messages of the app to a person. */
    messagesTo: (user: string): Posted[] => channels.get(`D${user.slice(1)}`) ?? [],
    /** The last text that only this person saw. */
    whispered: (user: string): string => whispers.findLast(({ to }) => to === user)?.text ?? '',
    window: (user: string): Json => windows.get(user)?.view ?? null,
    /** The texts of a window. */
    windowText: (user: string): string =>
      ((windows.get(user)?.view.blocks ?? []) as Json[]).map(({ text }) => text?.text ?? '').join('\n'),
    /** Writes a command. */
    command: (user: string, channel: string, text: string, forged?: Forged) =>
      send(
        '/slack/commands',
        {
          command: '/holdfast',
          text,
          team_id: team.id,
          team_domain: team.domain,
          user_id: user,
          user_name: users.get(user) ?? '',
          channel_id: channel,
          api_app_id: 'A0HOLD',
          response_url: responseUrl(user, channel),
          trigger_id: trigger(user),
        },
        forged,
      ),
    /** Presses a button of a message. @param name its `action_id`. */
    press(user: string, message: Posted, name: string, forged?: Forged) {
      const elements = message.blocks.flatMap((block) => (block.type === 'actions' ? block.elements : []));
      const button = elements.find((each: Json) => each.action_id === name);
      if (!button) throw new Error(`There is no button ${name} in ${JSON.stringify(message.blocks)}`);
      const content = {
        type: 'block_actions',
        ...whoOf(user),
        api_app_id: 'A0HOLD',
        channel: { id: message.channel },
        message: { ts: message.ts },
        response_url: responseUrl(user, message.channel),
        actions: [{ action_id: name, value: button.value, type: 'button' }],
      };
      return send('/slack/interactions', content, forged);
    },
    /** Sends the open window of a person. @param reason what they type in it. */
    submit(user: string, reason?: string, forged?: Forged) {
      const window = windows.get(user);
      if (!window) throw new Error('No window is open');
      if (!window.view.submit) throw new Error(`This window has no button: ${JSON.stringify(window.view)}`);
      const values = reason === undefined ? {} : { reason: { reason: { value: reason } } };
      const content = {
        type: 'view_submission',
        ...whoOf(user),
        api_app_id: 'A0HOLD',
        view: { id: window.id, private_metadata: window.view.private_metadata, state: { values } },
      };
      return send('/slack/interactions', content, forged);
    },
    /** Another person has the window of somebody, by a request that they made up. */
    passWindow: (from: string, to: string) => void windows.set(to, windows.get(from)!),
    /** Sends the last request once more, as Slack does when it got no answer. */
    repeat: () => send(last!.path, last!.content),
    /** How often it posts the message. */
    paceMessages: (most: number) => void (mostPerSecond = most),
    deliverTo: (base: string) => void (target = base),
    /** From now on requests come by Socket Mode. */
    useSockets: (use = true) => void (isByHttp = !use),
    /** Resolves when so many connections are open. */
    connected(count: number): Promise<void> {
      return new Promise((resolve) => {
        connecting.add({ count, resolve });
        tellConnections();
      });
    },
    /** Cuts every connection. */
    cutSockets: () => sockets.forEach((socket) => socket.close()),
    /** What it does with the next messages, one after another. */
    next: (...behaviours: Behaviour[]) => void planned.push(...behaviours),
    /** Answers what it held. */
    release(): void {
      for (const send of held) send();
      held.clear();
    },
    goDown: () => void (isDown = true),
    comeBack: () => void (isDown = false),
    async close() {
      sockets.forEach((socket) => socket.close());
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The library sends a form, with JSON in its fields. */
function fieldsOf(body: string): Record<string, Json> {
  const parsed = (text: string) => {
    if (!/^[[{]/.test(text)) return text;
    try {
      return JSON.parse(text) as Json;
    } catch {
      return text;
    }
  };
  return Object.fromEntries([...new URLSearchParams(body)].map(([name, value]) => [name, parsed(value)]));
}
