import { expect, test } from 'vitest';
import { nameOfGitHub, pictureOriginsOf, webUrlOf } from '../../src/github/web-url.ts';

test.each([
  ['https://api.github.com', 'https://github.com'],
  ['https://api.acme.ghe.com', 'https://acme.ghe.com'],
  ['https://github.acme.example/api/v3', 'https://github.acme.example'],
  ['https://api.acme.example/api/v3', 'https://api.acme.example'],
  ['http://127.0.0.1:3001', 'http://127.0.0.1:3001'],
])('of %s people see %s', (api, web) => expect(webUrlOf(api)).toBe(web));

test.each([
  ['https://github.com/settings/apps/new', 'github.com'],
  ['https://github.acme.example', 'github.acme.example'],
  ['http://127.0.0.1:3001', 'the GitHub at 127.0.0.1:3001'],
  ['http://[::1]:3001', 'the GitHub at [::1]:3001'],
])('people call the GitHub at %s %s', (url, name) => expect(nameOfGitHub(url)).toBe(name));

test.each([
  ['https://api.github.com', ['https://avatars.githubusercontent.com']],
  ['https://git.acme.example/api/v3', ['https://git.acme.example', 'https://avatars.git.acme.example']],
  [
    'https://api.acme.ghe.com',
    ['https://acme.ghe.com', 'https://avatars.acme.ghe.com', 'https://avatars.githubusercontent.com'],
  ],
  ['http://127.0.0.1:3000', ['http://127.0.0.1:3000']],
])('the pictures of people of %s are at %o', (api, origins) => {
  expect(pictureOriginsOf(api)).toEqual(origins);
});
