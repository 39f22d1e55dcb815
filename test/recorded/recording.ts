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

/** Every recording, by the name of its file. */
export const recordings: Record<string, Recording> = Object.fromEntries(
  readdirSync(folder)
    .sort()
    .map((file) => [
      file.replace(/\.json$/, ''),
      JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Recording,
    ]),
);

/** What the sandbox answers to one exchange of a recording. */
export type Answered = { exchange: Exchange; answer: { status: number; headers: Headers; body: Json } };

/** Has a recorded conversation with the sandbox. @param names the values of placeholders. */
export async function converse(
  github: Sandbox,
  { exchanges }: Recording,
  names: Record<string, string>,
): Promise<Answered[]> {
  const known = { ...names };
  const answered: Answered[] = [];
  // ETags are those of a credential.
  const credentials = new Map<string, string | null>();
  for (const exchange of exchanges) {
    const { method, path, headers, body } = exchange.request;
    const as = exchange.as ?? 'installation';
    if (!credentials.has(as)) credentials.set(as, await credentialOf(github, as, known));
    const credential = credentials.get(as) ?? null;
    const answer = await ask(github.url + filled(path, known), {
      method,
      headers: {
        ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
        ...(headers && filledJson(headers, known)),
      },
      body: body === undefined ? undefined : JSON.stringify(filledJson(body, known)),
    });
    for (const [name, place] of Object.entries(exchange.keep ?? {}))
      known[name] = String(
        place.startsWith('header ') ? answer.headers.get(place.slice(7)) : at(answer.body, place),
      );
    const response = filledJson(exchange.response, known);
    answered.push({ exchange: { ...exchange, response }, answer });
  }
  return answered;
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
  { installation, secondInstallation }: Record<string, string>,
): Promise<string | null> {
  if (as === 'nobody') return null;
  if (as === 'app') return appJwt(github);
  if (as === 'installation') return installationToken(github, Number(installation));
  if (as === 'second') return installationToken(github, Number(secondInstallation));
  return github.addToken(as, { scopes: ['repo', 'read:org'] });
}
