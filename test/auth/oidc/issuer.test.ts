import { expect, test } from 'vitest';
import { issuerOf } from '../../../src/auth/oidc/job-token.ts';

test.each([
  ['https://api.github.com', 'https://token.actions.githubusercontent.com'],
  ['https://api.octocorp.ghe.com', 'https://token.actions.octocorp.ghe.com'],
  ['https://github.example.com/api/v3', 'https://github.example.com/_services/token'],
  ['https://api.example.com/api/v3', 'https://api.example.com/_services/token'],
])('of %s it is %s', (githubApiUrl, issuer) => {
  expect(issuerOf(githubApiUrl)).toBe(issuer);
});
