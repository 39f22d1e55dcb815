import { describe, expect, test } from 'vitest';
import { misnamedIn } from '../src/config-values.ts';
import { readConfig } from '../src/config.ts';

describe('a setting under the name that another program gives it', () => {
  test.each<[string, Record<string, string>, string[]]>([
    ['Octokit', { GITHUB_APP_ID: '1' }, ['GITHUB_APP_ID is set, and Holdfast reads it as APP_ID.']],
    [
      'Octokit',
      { GITHUB_APP_PRIVATE_KEY: 'x' },
      ['GITHUB_APP_PRIVATE_KEY is set, and Holdfast reads it as PRIVATE_KEY.'],
    ],
    [
      'Probot',
      { GITHUB_CLIENT_SECRET: 'x' },
      ['GITHUB_CLIENT_SECRET is set, and Holdfast reads it as CLIENT_SECRET.'],
    ],
    [
      'Probot',
      { GHE_HOST: 'ghe.example' },
      ['GHE_HOST is set, and Holdfast reads GITHUB_API_URL: https://ghe.example/api/v3.'],
    ],
    [
      'Probot',
      { WEBHOOK_PROXY_URL: 'https://smee.io/a' },
      [expect.stringContaining('asks no proxy for webhooks') as string],
    ],
    [
      'Mergify',
      { MERGIFYENGINE_INTEGRATION_ID: '1' },
      ['MERGIFYENGINE_INTEGRATION_ID is set, and Holdfast reads it as APP_ID.'],
    ],
    ['Heroku', { BASE_URL: 'https://a.example' }, ['BASE_URL is set, and Holdfast reads it as PUBLIC_URL.']],
    ['Slack', { SLACK_TOKEN: 'xoxb-1' }, ['SLACK_TOKEN is set, and Holdfast reads it as SLACK_BOT_TOKEN.']],
    [
      'curl',
      { https_proxy: 'http://p:1', no_proxy: 'a' },
      [
        'https_proxy is set, and Holdfast reads it as HTTPS_PROXY.',
        'no_proxy is set, and Holdfast reads it as NO_PROXY.',
      ],
    ],
    ['curl', { ALL_PROXY: 'http://p:1' }, ['ALL_PROXY is set, and Holdfast reads it as HTTPS_PROXY.']],
    ['curl, and ours', { https_proxy: 'http://p:1', HTTPS_PROXY: 'http://p:1' }, []],
    ['ours beside it', { GITHUB_APP_ID: '1', APP_ID: '2', BASE_URL: 'x', PUBLIC_URL: 'y' }, []],
    ['ours as a file', { GITHUB_PRIVATE_KEY: 'x', PRIVATE_KEY_FILE: '/key.pem' }, []],
    [
      'what others need',
      { GITHUB_TOKEN: 'x', GITHUB_SHA: 'a', HOLDFAST_URL: 'x', GH_HOST: 'y', GHE_HOST: ' ' },
      [],
    ],
  ])('%s: %j', (_, environment, hints) => {
    expect(misnamedIn(environment)).toEqual(hints);
  });

  test('is named where a start fails', () => {
    expect(() => readConfig({ APP_ID: '1', GITHUB_WEBHOOK_SECRET: 's3cret' })).toThrow(
      /WEBHOOK_SECRET is missing[^]*GITHUB_WEBHOOK_SECRET is set, and Holdfast reads it as WEBHOOK_SECRET\.$/,
    );
  });
});
