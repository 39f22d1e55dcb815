import { misused } from '../stop.ts';
import type { World } from '../world.ts';
import { hostOf, isReadableOnTheWay } from './address.ts';
import { tokenOfJob } from './job-token.ts';

/**
 * The credential for the service: from the option, from `HOLDFAST_TOKEN`, from `gh`, or from this job of GitHub
 * Actions.
 * @param url the address of the service.
 * @param isInsecure whether a token of `gh` may go where others on the way can read it.
 * @throws Stop if there is none, if it may not go there, or if it has characters that no credential has.
 */
export async function credentialOf(
  world: World,
  url: string,
  option: string | undefined,
  isInsecure = false,
): Promise<string> {
  const given = option ?? world.env.HOLDFAST_TOKEN?.trim();
  const ofGh = given ? null : await tokenOfGh(world);
  if (ofGh && !isInsecure && isReadableOnTheWay(url)) {
    throw misused(
      `Others on the way to ${url} could read your token of gh, and it can do everything that you can do at GitHub. Use https, or send it anyway with --insecure.`,
    );
  }
  const token = given || ofGh || (await tokenOfJob(world, url));
  if (!token) {
    throw misused(
      'There is no credential. Sign in with `gh auth login`, or set HOLDFAST_TOKEN to an application key or a GitHub token.',
    );
  }
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw misused(
      'The credential contains characters that no credential has, such as a space or a quote. Copy it again.',
    );
  }
  return token;
}

/** The output of `gh auth token`; null if there is no `gh`, or if nobody is signed in. Runs no shell. */
async function tokenOfGh(world: World): Promise<string | null> {
  const { execFile } = await import('node:child_process');
  const args = ['auth', 'token', '--hostname', hostOf(world)];
  return new Promise((resolve) => {
    const options = { env: world.env as NodeJS.ProcessEnv, timeout: 10_000, windowsHide: true };
    execFile('gh', args, options, (error, output) => resolve(error ? null : output.trim() || null));
  });
}
