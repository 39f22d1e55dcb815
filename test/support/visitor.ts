// Somebody with a browser: keeps cookies, and follows no redirect unasked but the one from a form to its answer.
import type { Holdfast } from './holdfast.ts';

export type Seen = { status: number; text: string; headers: Headers; location: string };

export class Visitor {
  readonly cookies = new Map<string, string>();
  readonly #holdfast: Holdfast;

  constructor(holdfast: Holdfast) {
    this.#holdfast = holdfast;
  }

  /** Opens a path of the service, or a URL of it as GitHub sends people there. */
  async open(
    pathOrUrl: string,
    more: { method?: string; headers?: Record<string, string>; body?: URLSearchParams } = {},
  ): Promise<Seen> {
    const { publicUrl } = this.#holdfast.app.deps.config;
    const path = pathOrUrl.replace(publicUrl, '');
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(this.#holdfast.app.url + path, {
      method: more.method ?? 'GET',
      redirect: 'manual',
      body: more.body,
      headers: { Accept: 'text/html', ...(cookie && { Cookie: cookie }), ...more.headers },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (/max-age=0/i.test(line)) this.cookies.delete(name!);
      else this.cookies.set(name!, value!);
    }
    return seen(response);
  }

  /** Sends a form of ours, as a browser does: a preview that fills in is asked for until it is whole. */
  async send(...form: Parameters<Visitor['sendOnce']>): Promise<Seen & { from?: string }> {
    let answer = await this.sendOnce(...form);
    while (answer.from && answer.text.includes('data-fills-in'))
      answer = { ...(await this.open(answer.from)), from: answer.from };
    return answer;
  }

  /** @returns the page that the browser then shows: the form's answer has an address of its own, `from`. */
  async sendOnce(
    path: string,
    fields: Record<string, string | string[]>,
    headers: Record<string, string> = { 'Sec-Fetch-Site': 'same-origin' },
  ): Promise<Seen & { from?: string }> {
    const pairs = Object.entries(fields).flatMap(([name, value]) =>
      [value].flat().map((each): [string, string] => [name, each]),
    );
    const sent = await this.open(path, { method: 'POST', headers, body: new URLSearchParams(pairs) });
    if (!/[?&]answer=/.test(sent.location)) return sent;
    return { ...(await this.open(sent.location)), from: sent.location };
  }

  /** At GitHub, signed in there as somebody: to where GitHub sends the browser back. */
  async authorize(url: string, login: string, answer: '0' | '1' = '1'): Promise<string> {
    const { github } = this.#holdfast;
    github.signInToGitHub(login);
    const asked = await seen(await fetch(url, { redirect: 'manual' }));
    if (asked.location) return asked.location;
    const body = new URLSearchParams(new URL(url).search);
    body.set('authorize', answer);
    const pressed = await fetch(new URL('/login/oauth/authorize', github.url), {
      method: 'POST',
      body,
      redirect: 'manual',
    });
    return (await seen(pressed)).location;
  }

  /** The whole way from the sign-in to the answer of the callback. */
  async signIn(login: string, to = '/'): Promise<Seen> {
    const begun = await this.open(`/auth/sign-in?to=${encodeURIComponent(to)}`);
    return this.open(await this.authorize(begun.location, login));
  }

  async signOut(headers: Record<string, string> = { 'Sec-Fetch-Site': 'same-origin' }): Promise<Seen> {
    const sent = await this.open('/auth/sign-out', { method: 'POST', headers });
    return sent.location ? this.open(sent.location) : sent;
  }
}

/** The visible text of a page, in one line. */
export const words = ({ text }: Pick<Seen, 'text'>): string =>
  text
    .replace(/<head>[^]*<\/head>/, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');

async function seen(response: Response): Promise<Seen> {
  const { status, headers } = response;
  return { status, headers, text: await response.text(), location: headers.get('location') ?? '' };
}

/** The value of a hidden field of a page; empty if it has none. */
export const hiddenOf = (text: string, name: string): string =>
  new RegExp(`name="${name}"\\s+value="([^"]*)"`).exec(text)?.[1] ?? '';

/** Somebody who is signed in. */
export async function signedIn(holdfast: Holdfast, login: string): Promise<Visitor> {
  const visitor = new Visitor(holdfast);
  await visitor.signIn(login);
  return visitor;
}
