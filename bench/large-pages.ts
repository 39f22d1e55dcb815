// How many bytes the pages of a large owner have, compressed, and how long the reader waits for them.
import { get } from 'node:http';
import type { startProgram } from './child-process.ts';
import { alone, type Figure, upTo } from './figure.ts';
import type { Load, Loaded } from './load.ts';

/** The pages that could grow with the repositories of an owner. */
const pagesOf = (login: string): Record<string, string> => ({
  'the overview': `/repos/${login}`,
  'the last page of its repositories': `/repos/${login}?page=999`,
  'the form of a freeze': `/owners/${login}/freeze`,
  'what to unfreeze': `/owners/${login}/unfreeze`,
  'the calendar of a month': `/owners/${login}/calendar`,
  'the calendar of a quarter': `/owners/${login}/calendar?show=quarter`,
  'the plans': `/owners/${login}/plans`,
  'the audit log': `/owners/${login}/audit`,
  'the deployments': `/owners/${login}/deployments`,
  'the months': `/owners/${login}/reports`,
});

/** A page may have so much, and take so long. */
const mostKilobytes = 80;
const mostMilliseconds = 300;

/** Asks for each page, one after another, as somebody who is signed in. */
export async function largePages(
  load: Awaited<ReturnType<typeof startProgram>>,
  url: string,
  login: string,
  { Cookie, amount }: { Cookie: string; amount: number },
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, path] of Object.entries(pagesOf(login))) {
    const kilobytes = (await compressedBytes(url + path, Cookie)) / 1000;
    const { p99 } = await load.ask<Loaded>({
      ...{ url, paths: [path], method: 'GET', headers: { Cookie }, connections: 1, seconds: 0, amount },
    } satisfies Load);
    figures.push(
      alone('installation', `${name}, compressed`, 'KB', kilobytes, upTo(mostKilobytes)),
      alone('installation', `${name}, all frozen, p99`, 'ms', p99, undefined, upTo(mostMilliseconds)),
    );
  }
  return figures;
}

/** The bytes of an answer as they are sent. `fetch` would take the compression off. */
const compressedBytes = (url: string, Cookie: string): Promise<number> =>
  new Promise((resolve, reject) => {
    get(url, { headers: { Cookie, 'Accept-Encoding': 'gzip' } }, (answer) => {
      if (answer.statusCode !== 200 || answer.headers['content-encoding'] !== 'gzip')
        return reject(new Error(`GET ${url} was answered ${answer.statusCode}, or not compressed`));
      let bytes = 0;
      answer.on('data', (part: Buffer) => (bytes += part.length));
      answer.on('end', () => resolve(bytes));
    }).on('error', reject);
  });
