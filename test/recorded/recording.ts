// A recorded conversation with GitHub, as README.md describes it, and the same conversation with the sandbox.
import { readdirSync, readFileSync } from 'node:fs';
import type { Sandbox } from '../../sandbox/github.ts';
import { appJwt, installationToken } from '../sandbox/acme.ts';

/** A JSON value. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export type RecordedAnswer = { status: number; headers?: Record<string, string | null>; body?: Json };

export type Exchange = {
  as?: string;
  request: { method: string; path: string; headers?: Record<string, string>; body?: Json };
  response: RecordedAnswer;
  partial?: boolean;
  absent?: string[];
  keep?: Record<string, string>;
};

export type Recording = { name: string; source: string; setup?: string[]; exchanges: Exchange[] };

const folder = new URL('exchanges/', import.meta.url);

/** What `holdfast prove` writes: each step is a conversation. */
type Proof = { at: string; holdfast: string; github: string; steps: Pick<Recording, 'name' | 'exchanges'>[] };

/** The setup of every step of a proof. */
export const setupOfProofs = 'the App of a proof';

/** The recordings of a file, by its name; those of a proof, by that of each step too. */
export function recordingsIn(file: string, content: Recording | Proof): [string, Recording][] {
  if (!('steps' in content)) return [[file, content]];
  const { at, holdfast, github } = content;
  const source = `holdfast prove ${holdfast} on ${github}, ${at.slice(0, 10)}`;
  return content.steps.map((step) => [`${file}: ${step.name}`, { source, setup: [setupOfProofs], ...step }]);
}

/** Every recording. */
export const recordings: Record<string, Recording> = Object.fromEntries(
  readdirSync(folder)
    .sort()
    .flatMap((file) =>
      recordingsIn(
        file.replace(/\.json$/, ''),
        JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Recording | Proof,
      ),
    ),
);

/** What happens in the background may take a moment. */
const mostTries = 50;
const aMoment = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** What the sandbox answers to one exchange of a recording. */
export type Answered = {
  /** As recorded, and with the values of now. */
  recorded: Exchange;
  exchange: Exchange;
  answer: { status: number; headers: Headers; body: Json };
};

/** Has a recorded conversation with the sandbox. @param names the values of placeholders. */
export async function converse(
  github: Sandbox,
  { exchanges }: Recording,
  names: Record<string, string>,
): Promise<Answered[]> {
  const known = { ...names };
  const ids = new Ids(exchanges, github);
  const answered: Answered[] = [];
  // ETags are those of a credential.
  const credentials = new Map<string, string | null>();
  for (const exchange of exchanges) {
    await ids.learnDelivery(exchange);
    const { method, path, headers, body } = ids.of(exchange.request);
    const as = exchange.as ?? 'installation';
    if (!credentials.has(as)) credentials.set(as, await credentialOf(github, as, known));
    const credential = credentials.get(as) ?? null;
    const once = () =>
      ask(github.url + filled(path, known), {
        method,
        headers: {
          ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
          ...(headers && filledJson(headers, known)),
        },
        body: body === undefined ? undefined : JSON.stringify(filledJson(body, known)),
      });
    let answer = await once();
    for (let tries = 0; tries < mostTries && method === 'GET' && isUnderWay(answer.body, exchange); tries++) {
      await aMoment();
      answer = await once();
    }
    ids.learn(exchange.response.body, answer.body);
    for (const [name, place] of Object.entries(exchange.keep ?? {}))
      known[name] = String(
        place.startsWith('header ') ? answer.headers.get(place.slice(7)) : at(answer.body, place),
      );
    const response = filledJson(ids.of(exchange.response), known);
    answered.push({ recorded: exchange, exchange: { ...exchange, response }, answer });
  }
  return answered;
}

/** Whether an answer says that something is not done yet which was done in the recording. */
const isUnderWay = (body: Json, { response }: Exchange): boolean =>
  ['status', 'mergeable', 'merged'].some((key) => {
    const recorded = at(response.body, key);
    return recorded !== undefined && at(body, key) !== recorded;
  });

/**
 * The ids of a proof, 1000001 and on, each with the one that stands for it now: what was equal is equal. SHAs, UUIDs and
 * node ids end with the number.
 */
class Ids {
  readonly #known = new Map<string, Json>();
  readonly #github: Sandbox;
  readonly #told = new Set<number>();
  readonly #all = /(?:\b[A-Z]{1,5}_|\b0[0-]*|(?<!\d))10\d{5}\b/g;

  constructor(exchanges: Exchange[], github: Sandbox) {
    this.#github = github;
    const [, first] = /"integration_id":(10\d{5})\b/.exec(JSON.stringify(exchanges)) ?? [];
    if (first !== undefined) this.#known.set(first, github.app.id);
  }

  /** Learns from an answer of now. */
  learn(recorded: Json | undefined, now: Json | undefined): void {
    if (recorded !== null && typeof recorded === 'object' && now !== null && typeof now === 'object')
      for (const [key, value] of Object.entries(recorded)) this.learn(value, at(now, key));
    else if (now !== undefined && new RegExp(`^(?:${this.#all.source})$`).test(String(recorded)))
      this.#known.set(String(recorded), now);
  }

  /** A proof has the webhook that a step waited for, and not the list in which it stood. */
  async learnDelivery({ request, response }: Exchange): Promise<void> {
    const [, id] = /^\/app\/hook\/deliveries\/(10\d{5})$/.exec(request.path) ?? [];
    if (id === undefined) return;
    const isMeant = ({ id, event, action = null }: Sandbox['deliveries'][number]) =>
      !this.#told.has(id) && event === at(response.body, 'event') && action === at(response.body, 'action');
    for (let tries = 0; tries < mostTries && !this.#known.has(id); tries++) {
      await this.#github.settled();
      const found = this.#github.deliveries.findLast(isMeant);
      if (found) this.#known.set(id, this.#told.add(found.id) && found.id);
      else await aMoment();
    }
  }

  /** The same with the ids and the address of now. */
  of<Value>(value: Value): Value {
    return JSON.parse(JSON.stringify(value), (_, each: Json) => {
      if (typeof each === 'number') return this.#known.get(String(each)) ?? each;
      if (typeof each !== 'string') return each;
      const here = each.replaceAll('https://api.github.com', this.#github.url);
      return here.replaceAll(this.#all, (id) => String(this.#known.get(id) ?? id));
    }) as Value;
  }
}

/** The value at a path such as `0.details.uuid`; undefined if there is none. */
export const at = (value: Json | undefined, path: string): Json | undefined =>
  path
    .split('.')
    .reduce<Json | undefined>(
      (inside, key) =>
        inside !== null && typeof inside === 'object' ? (inside as Record<string, Json>)[key] : undefined,
      value,
    );

/** One request as it is, redirects not followed. A text that is no JSON is the body itself. */
async function ask(url: string, init: RequestInit): Promise<Answered['answer']> {
  const { status, headers, ...answer } = await fetch(url, { redirect: 'manual', ...init }).then(
    async (response) => ({ status: response.status, headers: response.headers, text: await response.text() }),
  );
  return { status, headers, body: answer.text === '' ? null : parsed(answer.text) };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** GitHub's own templates, such as `{/sha}`, stay. */
const filled = (text: string, names: Record<string, string>): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => names[name] ?? whole);

/** The same for all texts of a JSON value. */
const filledJson = <Value>(value: Value, names: Record<string, string>): Value =>
  JSON.parse(
    JSON.stringify(value, (_, each: unknown) => (typeof each === 'string' ? filled(each, names) : each)),
  ) as Value;

async function credentialOf(
  github: Sandbox,
  as: string,
  { installation, secondInstallation, secondJwt }: Record<string, string>,
): Promise<string | null> {
  if (as === 'nobody') return null;
  if (as === 'app') return appJwt(github);
  if (as === 'installation') return installationToken(github, Number(installation));
  if (as === 'weak')
    return installationToken(github, Number(installation), { permissions: { metadata: 'read' } });
  if (as === 'second') return installationToken(github, Number(secondInstallation), {}, secondJwt);
  return github.addToken(as, { scopes: ['repo', 'read:org'] });
}
