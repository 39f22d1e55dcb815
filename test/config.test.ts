import { BlockList } from 'node:net';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ConfigError, readConfig, readEnvironment, type StartConfig } from '../src/config.ts';
import { secretFiles } from '../src/secret-files.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const encryptedKey = createPrivateKey(privateKey)
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' })
  .toString();
const folder = mkdtempSync(join(tmpdir(), 'holdfast-config-'));
const keyFile = join(folder, 'key.pem');
writeFileSync(keyFile, privateKey);
afterAll(() => rmSync(folder, { recursive: true }));

/** A file of the test with this text. */
function fileWith(text: string): string {
  const path = join(folder, `secret-${++files}`);
  writeFileSync(path, text);
  return path;
}
let files = 0;

const least = { APP_ID: '42', PRIVATE_KEY: privateKey, WEBHOOK_SECRET: 'shh-secret' };

function problemsOf(environment: Record<string, string>): string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    for (const value of [least.WEBHOOK_SECRET, 'MII']) expect((error as Error).message).not.toContain(value);
    return (error as ConfigError).problems;
  }
}

test('the defaults', () => {
  expect(readConfig(least)).toEqual({
    port: 3000,
    host: '127.0.0.1',
    publicUrl: 'http://localhost:3000',
    database: { dataDir: './data' },
    app: { id: 42, privateKey, webhookSecret: 'shh-secret', oauth: null },
    secretKey: null,
    secretKeyPrevious: null,
    githubApiUrl: 'https://api.github.com',
    statusContext: 'holdfast/freeze',
    lock: null,
    statusWritesPerMinute: { least: 10, most: 170 },
    strangerQuestionsPerMinute: 30,
    callerQuestionsPerMinute: 60,
    trustedProxies: expect.any(BlockList),
    webhookAllowedHosts: [],
    httpProxy: null,
    httpsProxy: null,
    noProxy: '',
    metricsToken: null,
    slack: { apiUrl: 'https://slack.com/api/', app: null },
    role: 'all',
    logLevel: 'info',
    logFormat: 'json',
  });
});

const keyIs = (config: StartConfig) => config.app?.privateKey;

test.each<[string, Record<string, string>, (config: StartConfig) => unknown, unknown]>([
  ...(
    [
      ['75', 10, 75],
      ['5', 5, 5],
      ['75-75', 75, 75],
      ['40-120', 40, 120],
      ['1-1000000', 1, 1_000_000],
    ] as const
  ).map(
    ([text, least, most]): [string, Record<string, string>, (config: StartConfig) => unknown, unknown] => [
      `${text} writes a minute`,
      { STATUS_WRITES_PER_MINUTE: text },
      ({ statusWritesPerMinute }) => statusWritesPerMinute,
      { least, most },
    ],
  ),
  [
    'a Slack app by Socket Mode',
    { SLACK_BOT_TOKEN: 'xoxb-1', SLACK_APP_TOKEN: 'xapp-1', SLACK_API_URL: 'http://slack.test/api/' },
    ({ slack }) => slack,
    {
      apiUrl: 'http://slack.test/api/',
      app: { botToken: 'xoxb-1', signingSecret: null, appToken: 'xapp-1' },
    },
  ],
  ['a public URL opens all addresses', { PUBLIC_URL: 'https://h.example' }, ({ host }) => host, '0.0.0.0'],
  [
    'an address that is set stays',
    { PUBLIC_URL: 'https://h.example', HOST: '192.0.2.1' },
    ({ host }) => host,
    '192.0.2.1',
  ],
  ['no proxy is trusted unasked', {}, ({ trustedProxies }) => trustedProxies.check('127.0.0.1'), false],
  [
    'proxies, as networks and addresses',
    { TRUSTED_PROXIES: '10.0.0.0/8, 2001:db8::/32,192.0.2.7' },
    ({ trustedProxies: list }) => [
      list.check('10.200.0.1'),
      list.check('192.0.2.7'),
      list.check('192.0.2.8'),
      list.check('2001:db8:1::1', 'ipv6'),
    ],
    [true, true, false, true],
  ],
  [
    'hosts of webhooks, in lower case',
    { WEBHOOK_ALLOWED_HOSTS: 'Chat.corp.example, *.internal,10.1.0.0/16,fd00::1,' },
    (c) => c.webhookAllowedHosts,
    ['chat.corp.example', '*.internal', '10.1.0.0/16', 'fd00::1'],
  ],
  ['blanks count as absent', { PORT: ' ', DATABASE_URL: '', LOG_FORMAT: '' }, ({ port }) => port, 3000],
  [
    'slashes at the end go',
    { GITHUB_API_URL: 'https://ghe.example/api/v3//' },
    (c) => c.githubApiUrl,
    'https://ghe.example/api/v3',
  ],
  [
    'PostgreSQL',
    { DATABASE_URL: 'postgres://u:p@h/d' },
    (c) => c.database,
    { connectionString: 'postgres://u:p@h/d', noteIn: './data' },
  ],
  ['a key in one line', { PRIVATE_KEY: privateKey.replaceAll('\n', '\\n') }, keyIs, privateKey],
  [
    'a key in quotes, with escaped line breaks of Windows',
    { PRIVATE_KEY: `"${privateKey.replaceAll('\n', '\\r\\n')}"` },
    keyIs,
    privateKey,
  ],
  ['a key in single quotes', { PRIVATE_KEY: `'${privateKey}'` }, keyIs, privateKey],
  [
    'a key with line breaks of Windows',
    { PRIVATE_KEY: privateKey.replaceAll('\n', '\r\n') },
    keyIs,
    privateKey,
  ],
  ['a key that is indented', { PRIVATE_KEY: privateKey.replaceAll('\n', '\n    ') }, keyIs, privateKey],
  ['a key with blanks for line breaks', { PRIVATE_KEY: privateKey.replaceAll('\n', ' ') }, keyIs, privateKey],
  ['a key after a mark of its encoding', { PRIVATE_KEY: `\ufeff${privateKey}` }, keyIs, privateKey],
  [
    'a key in base64, in quotes and lines',
    { PRIVATE_KEY: `"${Buffer.from(privateKey).toString('base64').replaceAll(/.{76}/g, '$&\n')}"` },
    keyIs,
    privateKey,
  ],
  ['a key in base64', { PRIVATE_KEY: Buffer.from(privateKey).toString('base64') }, keyIs, privateKey],
  ['a key in a file', { PRIVATE_KEY: '', PRIVATE_KEY_FILE: keyFile }, keyIs, privateKey],
  [
    'a key in a file, under the older name',
    { PRIVATE_KEY: '', PRIVATE_KEY_PATH: keyFile },
    keyIs,
    privateKey,
  ],
])('%s', (_name, environment, read, expected) => {
  expect(read(readConfig({ ...least, ...environment }))).toEqual(expected);
});

test.each<[string, Record<string, string>, RegExp]>([
  [
    'a host as an address of the web',
    { WEBHOOK_ALLOWED_HOSTS: 'https://a b' },
    /^WEBHOOK_ALLOWED_HOSTS must be names/,
  ],
  ...['?', '#', '/#'].map((end): [string, Record<string, string>, RegExp] => [
    `an address with ${end}`,
    { PUBLIC_URL: `https://holdfast.example.com${end}` },
    /^PUBLIC_URL must be a host with no path/,
  ]),
  ['a proxy without http', { HTTPS_PROXY: 'proxy:3128' }, /^HTTPS_PROXY must be an http/],
  ['no secret', { WEBHOOK_SECRET: '' }, /^WEBHOOK_SECRET is missing/],
  ['no App', { APP_ID: '' }, /^APP_ID is missing/],
  ['no key', { PRIVATE_KEY: '' }, /^PRIVATE_KEY is missing/],
  ['an App id that is none', { APP_ID: 'Iv23li' }, /^APP_ID must be the numeric/],
  ['a key that is none', { PRIVATE_KEY: 'MIIabc' }, /^PRIVATE_KEY does not hold/],
  ['a public key', { PRIVATE_KEY: publicKey }, /^PRIVATE_KEY is a public key/],
  ['the first line of a key', { PRIVATE_KEY: privateKey.split('\n')[0]! }, /its end is missing/],
  [
    'a key without a line',
    { PRIVATE_KEY: privateKey.split('\n').toSpliced(3, 1).join('\n') },
    /^PRIVATE_KEY has the frame of a key/,
  ],
  ['a key with a passphrase', { PRIVATE_KEY: encryptedKey }, /^PRIVATE_KEY is protected by a passphrase/],
  ['a path', { PRIVATE_KEY: '/run/secrets/app.pem' }, /^PRIVATE_KEY looks like a path: .*PRIVATE_KEY_FILE/],
  ['a fingerprint', { PRIVATE_KEY: 'SHA256:abcdef=' }, /^PRIVATE_KEY is the fingerprint/],
  [
    'a key of SSH',
    { PRIVATE_KEY: privateKey.replaceAll('RSA PRIVATE', 'OPENSSH PRIVATE') },
    /is a key for SSH/,
  ],
  [
    'a certificate',
    { PRIVATE_KEY: privateKey.replaceAll(/(RSA )?PRIVATE KEY/g, 'CERTIFICATE') },
    /is a certificate/,
  ],
  [
    'a path in the public address',
    { PUBLIC_URL: 'https://ops.example.com/holdfast' },
    /^PUBLIC_URL must be a host/,
  ],
  [
    'a query in the public address',
    { PUBLIC_URL: 'https://ops.example.com/?x=1' },
    /^PUBLIC_URL must be a host/,
  ],
  [
    'a user in the public address',
    { PUBLIC_URL: 'https://u:p@ops.example.com' },
    /^PUBLIC_URL must be a host/,
  ],
  [
    'a key file that is not there',
    { PRIVATE_KEY: '', PRIVATE_KEY_PATH: '/nowhere.pem' },
    /^PRIVATE_KEY_PATH: there is no file/,
  ],
  [
    'a folder as key file',
    { PRIVATE_KEY: '', PRIVATE_KEY_PATH: folder },
    /^PRIVATE_KEY_PATH: .* cannot be read \(EISDIR\)/,
  ],
  ['a port out of range', { PORT: '65536' }, /^PORT must be from 0/],
  ['a port that is none', { PORT: '3e3' }, /^PORT must be a whole number/],
  ['another database', { DATABASE_URL: 'mysql://h/d' }, /^DATABASE_URL must be a postgres/],
  [
    'an unknown mode of encryption',
    { DATABASE_URL: 'postgres://h/d?sslmode=on' },
    /^DATABASE_URL has an unknown sslmode: use disable, /,
  ],
  ['no URL', { GITHUB_API_URL: 'api.github.com' }, /^GITHUB_API_URL must be an http/],
  ['another role', { ROLE: 'boss' }, /^ROLE must be all, web or worker/],
  ['a range of writes upside down', { STATUS_WRITES_PER_MINUTE: '9-8' }, /the smaller number first$/],
  ['a half range', { STATUS_WRITES_PER_MINUTE: '9-' }, /or two such as 75-75$/],
  ['no writes at all', { STATUS_WRITES_PER_MINUTE: '0' }, /^STATUS_WRITES_PER_MINUTE must be from 1/],
  ['a long context', { STATUS_CONTEXT: 'x'.repeat(256) }, /^STATUS_CONTEXT must be at most 255/],
  ['a signing secret alone', { SLACK_SIGNING_SECRET: 'shh' }, /^SLACK_BOT_TOKEN is missing/],
  ['a bot token alone', { SLACK_BOT_TOKEN: 'xoxb-1' }, /^SLACK_SIGNING_SECRET is missing/],
  ['a level that is none', { LOG_LEVEL: 'loud' }, /^LOG_LEVEL /],
])('%s is one problem, named', (_name, environment, problem) => {
  const problems = problemsOf({ ...least, ...environment });
  expect(problems).toEqual([expect.stringMatching(problem)]);
});

test.each<[string, (config: StartConfig) => unknown]>([
  ['WEBHOOK_SECRET', ({ app }) => app?.webhookSecret],
  ['CLIENT_SECRET', ({ app }) => app?.oauth?.clientSecret],
  ['SECRET_KEY', ({ secretKey }) => secretKey],
  ['SECRET_KEY_PREVIOUS', ({ secretKeyPrevious }) => secretKeyPrevious],
  ['METRICS_TOKEN', ({ metricsToken }) => metricsToken],
  ['SLACK_SIGNING_SECRET', ({ slack }) => slack.app?.signingSecret],
  ['STATUS_CONTEXT', ({ statusContext }) => statusContext],
])('one line break at the end of %s is no part of it, as in files', (name, read) => {
  const value = 'x'.repeat(40);
  const others = {
    CLIENT_ID: 'Iv23li',
    CLIENT_SECRET: 'y',
    SLACK_BOT_TOKEN: 'xoxb-1',
    SLACK_APP_TOKEN: 'xapp-1',
  };
  for (const end of ['\n', '\r\n'])
    expect(read(readConfig({ ...least, ...others, [name]: value + end }))).toBe(value);
});

describe('secrets in files', () => {
  test('every secret is read from its file, without one newline at its end', () => {
    const config = readConfig({
      APP_ID: '42',
      CLIENT_ID: 'Iv23li',
      DATABASE_URL_FILE: fileWith('postgres://u:p@h/d\n'),
      SECRET_KEY_FILE: fileWith(`${'k'.repeat(32)}\r\n`),
      PRIVATE_KEY_FILE: fileWith(Buffer.from(privateKey).toString('base64')),
      WEBHOOK_SECRET_FILE: fileWith('of the file\n\n'),
      CLIENT_SECRET_FILE: fileWith(' with blanks '),
    });
    expect(config).toMatchObject({
      database: { connectionString: 'postgres://u:p@h/d' },
      secretKey: 'k'.repeat(32),
      app: {
        privateKey,
        webhookSecret: 'of the file\n',
        oauth: { clientId: 'Iv23li', clientSecret: ' with blanks ' },
      },
    });
  });

  test.each(Object.entries(secretFiles))('%s and %s together are refused', (file, variable) => {
    const keys = {
      SECRET_KEY: 'k'.repeat(32),
      SECRET_KEY_PREVIOUS: 'p'.repeat(32),
      METRICS_TOKEN: 'm'.repeat(16),
      SLACK_BOT_TOKEN: 'xoxb-1',
      SLACK_SIGNING_SECRET: 'shh',
      SLACK_APP_TOKEN: 'xapp-1',
    };
    const lock = { LOCK_APP_ID: '2', LOCK_PRIVATE_KEY: privateKey };
    const app = { ...least, CLIENT_ID: 'Iv23li', CLIENT_SECRET: 'shh', ...lock };
    const environment = { ...app, ...keys, DATABASE_URL: 'postgres://h/d', [file]: keyFile };
    expect(problemsOf(environment)).toEqual([`${file} and ${variable} are both set: remove one of them`]);
  });

  test('both names of the key file together are refused', () => {
    const environment = { ...least, PRIVATE_KEY: '', PRIVATE_KEY_FILE: keyFile, PRIVATE_KEY_PATH: keyFile };
    expect(problemsOf(environment)).toEqual([
      'PRIVATE_KEY_PATH and PRIVATE_KEY_FILE are both set: remove one of them',
    ]);
  });

  test.each(Object.keys(secretFiles))('%s that cannot be used is one problem, with its path', (file) => {
    const variable = secretFiles[file as keyof typeof secretFiles];
    const lock = { LOCK_APP_ID: '2', LOCK_PRIVATE_KEY: privateKey };
    const others = { ...least, CLIENT_ID: 'Iv23li', CLIENT_SECRET: 'shh', ...lock, [variable]: '' };
    const empty = fileWith(' \n');
    expect(problemsOf({ ...others, [file]: '/nowhere' })).toEqual([`${file}: there is no file /nowhere`]);
    expect(problemsOf({ ...others, [file]: empty })).toEqual([`${file}: ${empty} is empty`]);
    expect(problemsOf({ ...others, [file]: folder })).toEqual([`${file}: ${folder} cannot be read (EISDIR)`]);
  });

  test('a wrong value is named by its source, and never shown', () => {
    const PRIVATE_KEY_FILE = fileWith('MIIabc');
    expect(problemsOf({ ...least, PRIVATE_KEY: '', PRIVATE_KEY_FILE })).toEqual([
      expect.stringMatching(/^PRIVATE_KEY_FILE does not hold a private key in PEM form/),
    ]);
  });

  test('an App with only a file is incomplete', () => {
    expect(problemsOf({ WEBHOOK_SECRET_FILE: '/nowhere' })).toEqual(
      ['WEBHOOK_SECRET_FILE: there', 'APP_ID is missing', 'PRIVATE_KEY is missing'].map((text) =>
        expect.stringMatching(`^${text}`),
      ),
    );
  });
});

test('all problems are named at once', () => {
  expect(problemsOf({ PORT: 'x', ROLE: 'y', CLIENT_ID: 'Iv23li' })).toEqual(
    ['PORT', 'ROLE', 'APP_ID', 'WEBHOOK_SECRET', 'PRIVATE_KEY', 'CLIENT_SECRET'].map((name) =>
      expect.stringMatching(new RegExp(`^${name} `)),
    ),
  );
});

test('the second App has an id and a key, and is not the first one', () => {
  const key = privateKey;
  const lock = { LOCK_APP_ID: '2', LOCK_PRIVATE_KEY_PATH: keyFile };
  expect(readConfig({ ...least, ...lock }).lock).toEqual({
    id: 2,
    privateKey: expect.stringMatching(/BEGIN/),
  });
  expect(problemsOf({ ...least, LOCK_APP_ID: '2' })).toEqual([
    expect.stringMatching(/^LOCK_PRIVATE_KEY is missing \(or LOCK_PRIVATE_KEY_PATH\)/),
  ]);
  expect(problemsOf({ ...least, LOCK_PRIVATE_KEY: key })).toEqual([
    expect.stringMatching(/^LOCK_APP_ID is missing/),
  ]);
  expect(problemsOf({ ...least, ...lock, LOCK_APP_ID: least.APP_ID })).toEqual([
    expect.stringMatching(/^LOCK_APP_ID must be another App/),
  ]);
});

test('without any of the App’s variables there is no App', () => {
  expect(readConfig({ APP_ID: ' ', PRIVATE_KEY: '', WEBHOOK_SECRET: '' }).app).toBeNull();
});

test.each(Object.entries({ ...least, PRIVATE_KEY_PATH: keyFile, CLIENT_ID: 'Iv23li' }))(
  'an App with only %s is incomplete',
  (name, value) => expect(problemsOf({ [name]: value }).length).toBeGreaterThan(1),
);

test('an empty variable of the environment does not hide the value in .env; a set one does', () => {
  const here = process.cwd();
  writeFileSync(join(folder, '.env'), 'WEBHOOK_SECRET=of the file\nSTATUS_CONTEXT=of the file\n');
  process.env['WEBHOOK_SECRET'] = '';
  process.env['STATUS_CONTEXT'] = 'of the environment';
  process.chdir(folder);
  try {
    expect(readEnvironment()).toMatchObject({
      WEBHOOK_SECRET: 'of the file',
      STATUS_CONTEXT: 'of the environment',
    });
  } finally {
    process.chdir(here);
    delete process.env['WEBHOOK_SECRET'];
    delete process.env['STATUS_CONTEXT'];
  }
});
