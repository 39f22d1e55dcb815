// The shapes that values of environment variables can have.
import { BlockList, isIP } from 'node:net';
import * as z from 'zod';

export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' });

/** The pages, their scripts and the API have fixed paths. */
export const originUrl = httpUrl.refine((text) => {
  const url = URL.parse(text);
  // An empty query or fragment stands in the text alone.
  return !url || (url.pathname === '/' && url.username + url.password === '' && !/[?#]/.test(text));
}, 'must be a host with no path, query or user, such as https://holdfast.example.com: Holdfast needs a host name of its own');

/** Every other one would be ignored, or count as the strictest. */
export const sslModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];
export const hasKnownSslMode = (url: string): boolean =>
  sslModes.includes(URL.parse(url)?.searchParams.get('sslmode') ?? 'disable');

export const number = (least: number, most: number, fallback: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be from ${least} to ${most}`)
    .default(fallback);

/** @param least characters. */
export const secret = (least: number) =>
  z.string().min(least, `must have at least ${least} characters: openssl rand -hex 32 makes one`).optional();

/** A bearer token is sent in a header. */
export const isSentInHeader = (token: string | undefined): boolean => /^[\x21-\x7e]*$/.test(token ?? '');

const mostWrites = 1_000_000;

/** The range of the pace of statuses, in writes per minute. If both ends are equal, the pace never changes. */
export type PaceRange = { least: number; most: number };

/** At a lower pace, a freeze of a hundred pull requests would take longer than people wait. */
const leastPace = 10;

/** The maximum, or the minimum and the maximum. */
export const paceRange = z
  .string()
  .regex(/^\d+(-\d+)?$/, 'must be a whole number, or two such as 75-75')
  .transform((text): PaceRange => {
    const [first = 0, most = first] = text.split('-').map(Number);
    return { least: text.includes('-') ? first : Math.min(leastPace, most), most };
  })
  .refine(
    ({ least, most }) => least >= 1 && least <= most && most <= mostWrites,
    `must be from 1 to ${mostWrites}, the smaller number first`,
  )
  .default({ least: leastPace, most: 170 });

/** Addresses and networks (CIDR), separated by commas. */
export const proxies = z
  .string()
  .default('')
  .transform((text, context) => {
    const list = new BlockList();
    for (const each of text
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean)) {
      const [address = '', length, ...rest] = each.split('/');
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
      const most = family === 'ipv6' ? 128 : 32;
      const bits = length === undefined ? most : /^\d{1,3}$/.test(length) ? Number(length) : NaN;
      if (isIP(address) && rest.length === 0 && bits <= most) list.addSubnet(address, bits, family);
      else
        context.addIssue({ code: 'custom', message: 'must be IP addresses or networks such as 10.0.0.0/8' });
    }
    return list;
  });

/** Names, globs, addresses and networks, separated by commas. */
export const hosts = z
  .string()
  .default('')
  .transform((text) =>
    text
      .toLowerCase()
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean),
  )
  .refine(
    (all) => all.every((host) => /^(?!https?:)[\w.*?:/-]+$/.test(host)),
    'must be names, globs such as *.corp.example, addresses or networks, without https://',
  );

/** Where Slack is, and the Slack app of everybody. Without one, each owner can set up its own. */
export type SlackConfig = {
  /** Ends with a slash. */
  apiUrl: string;
  /** One of `signingSecret` (requests over HTTP) and `appToken` (Socket Mode) is set. */
  app: { botToken: string; signingSecret: string | null; appToken: string | null } | null;
};

/** The Slack app, with a bot token and a way to hear of requests, or nothing of it. */
export function readSlackApp(given: Partial<Record<string, string>>, problems: string[]): SlackConfig['app'] {
  const { SLACK_BOT_TOKEN: botToken, SLACK_SIGNING_SECRET: signingSecret, SLACK_APP_TOKEN: appToken } = given;
  if (!botToken && !signingSecret && !appToken) return null;
  if (!botToken) problems.push('SLACK_BOT_TOKEN is missing: Holdfast answers in Slack with it');
  else if (signingSecret || appToken)
    return { botToken, signingSecret: signingSecret ?? null, appToken: appToken ?? null };
  else
    problems.push(
      'SLACK_SIGNING_SECRET is missing (or SLACK_APP_TOKEN for Socket Mode): Holdfast checks requests with it',
    );
  return null;
}

/** How other programs begin the names of the settings of a GitHub App, and the settings. */
const ofOthers = /^(?:GITHUB|GH|PROBOT|MERGIFYENGINE|HOLDFAST)_(?:APP_(?=[A-Z]+_))?(\w+)$/;
const ofAnApp: Record<string, string> = {
  APP_ID: 'APP_ID',
  INTEGRATION_ID: 'APP_ID',
  PRIVATE_KEY: 'PRIVATE_KEY',
  PRIVATE_KEY_PATH: 'PRIVATE_KEY_PATH',
  WEBHOOK_SECRET: 'WEBHOOK_SECRET',
  CLIENT_ID: 'CLIENT_ID',
  CLIENT_SECRET: 'CLIENT_SECRET',
};
const elsewhere: Record<string, string> = {
  BASE_URL: 'PUBLIC_URL',
  APP_URL: 'PUBLIC_URL',
  EXTERNAL_URL: 'PUBLIC_URL',
  GITHUB_BASE_URL: 'GITHUB_API_URL',
  POSTGRES_URL: 'DATABASE_URL',
  POSTGRESQL_URL: 'DATABASE_URL',
  SLACK_TOKEN: 'SLACK_BOT_TOKEN',
  https_proxy: 'HTTPS_PROXY',
  http_proxy: 'HTTP_PROXY',
  no_proxy: 'NO_PROXY',
  ALL_PROXY: 'HTTPS_PROXY',
  all_proxy: 'HTTPS_PROXY',
};

/**
 * Settings that stand there under the names that other programs give them, a sentence for each. Where ours is set, it is
 * meant.
 */
export function misnamedIn(environment: Partial<Record<string, string>>): string[] {
  const isSet = (name: string) => Boolean(environment[name]?.trim());
  const isOursSet = (name: string) =>
    [name, `${name}_FILE`, `${name}_PATH`, name.replace(/_PATH$/, '')].some(isSet);
  const sentences = Object.keys(environment)
    .filter(isSet)
    .flatMap((name) => {
      const ours = elsewhere[name] ?? ofAnApp[ofOthers.exec(name)?.[1] ?? ''];
      return ours === undefined || isOursSet(ours) ? [] : `${name} is set, and Holdfast reads it as ${ours}.`;
    });
  const host = environment['GHE_HOST']?.trim();
  if (host && !isSet('GITHUB_API_URL'))
    sentences.push(`GHE_HOST is set, and Holdfast reads GITHUB_API_URL: https://${host}/api/v3.`);
  if (isSet('WEBHOOK_PROXY_URL'))
    sentences.push(
      'WEBHOOK_PROXY_URL is set, and Holdfast asks no proxy for webhooks: forward them with a client of its own, or let GitHub reach PUBLIC_URL.',
    );
  return sentences;
}
