import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import type { Clock } from '../../time/clock.ts';
import { dropCookie, readCookie, type Cookie, writeCookie } from '../../auth/sign-in/sessions.ts';
import { deriveKey, openingKeys, type SecretKeys } from '../../database/secret-key.ts';

/** What the setup routes know about a visitor. */
export type SetupEnv = { Variables: { origin: string } };

/** Where to save the credentials. */
type CredentialStore = 'database' | 'env';

/** A visit to GitHub that started here. */
export type Begun = { state: string; place: CredentialStore };

type Visit = Context<SetupEnv>;

const admittedCookie = 'holdfast_setup';
const begunCookie = 'holdfast_setup_state';
/** In seconds. GitHub's code lasts as long. */
const lifetime = 3600;

/** Signed cookies of the setup page. Each value names its purpose, so that one cannot replace the other. */
export class SetupCookies {
  readonly #clock: Clock;
  readonly #keys: Buffer<ArrayBuffer>[];

  /** @param secretKeys without SECRET_KEY, the cookies are only valid until the process ends. */
  constructor(clock: Clock, secretKeys: SecretKeys) {
    this.#clock = clock;
    this.#keys =
      secretKeys.secretKey === null
        ? [randomBytes(32)]
        : openingKeys(secretKeys).map((key) => deriveKey(key, 'setup cookies'));
  }

  /** Remembers that this browser entered the code. */
  admit(context: Visit): Promise<void> {
    return this.#set(context, admittedCookie, 'admitted');
  }

  async isAdmitted(context: Visit): Promise<boolean> {
    return (await this.#read(context, admittedCookie, 'admitted')) !== null;
  }

  /** Starts a visit to GitHub. The return must carry the state. */
  async begin(context: Visit, place: CredentialStore): Promise<string> {
    const state = randomBytes(24).toString('base64url');
    await this.#set(context, begunCookie, `${place}~${state}`);
    return state;
  }

  /** The visit that this browser started, if the state matches; null if it is forged, foreign or more than an hour old. */
  async begun(context: Visit, state: string): Promise<Begun | null> {
    for (const place of ['database', 'env'] as const) {
      const own = await this.#read(context, begunCookie, place);
      if (own !== null && isSame(own, state)) return { state, place };
    }
    return null;
  }

  end(context: Visit): void {
    for (const name of [begunCookie, admittedCookie]) dropCookie(context, this.#cookie(context, name));
  }

  #cookie(context: Visit, name: string): Cookie {
    return { name, keys: this.#keys, isSecure: context.get('origin').startsWith('https:') };
  }

  async #set(context: Visit, name: string, value: string): Promise<void> {
    const until = Math.floor(this.#clock.now() / 1000) + lifetime;
    await writeCookie(context, this.#cookie(context, name), `${until}~${value}`, lifetime);
  }

  /** The rest of the cookie after `kind`, if its signature is valid and it has not expired. */
  async #read(context: Visit, name: string, kind: string): Promise<string | null> {
    const value = (await readCookie(context, this.#cookie(context, name))) ?? '';
    const [until, itsKind, rest = ''] = value.split('~');
    return Number(until) * 1000 > this.#clock.now() && itsKind === kind ? rest : null;
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
