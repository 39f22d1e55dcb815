import type { Context } from 'hono';
import pLimit from 'p-limit';
import { type Cache, createCache } from '../cache.ts';
import { type Clock, nowOf } from '../../time/clock.ts';
import { tooManyRequests } from '../../errors.ts';
import type { Actor } from '../../events/actor.ts';
import { bucketOf, mostBuckets, giveBackCount, secondsLeft, takeOne, hmacOf } from './minute-counts.ts';
import { addressOfClient, networkOf } from './client-address.ts';
import type { Ground } from '../../database/ground.ts';
import { hour, minute } from '../../time/units.ts';

/** Who a token belongs to: what GitHub refuses, for one address and in all. It costs no installation anything. */
export const identitiesPerMinute = { address: 60, all: 600 };
/** Names that the database does not have: for one caller, and in all where only the App can ask. */
export const namesPerMinute = { caller: 10, all: 60 };
/** Changes that one person can try on pages. Each asks GitHub again. */
export const changesPerMinute = 30;
/** Milliseconds in which the same name counts once for a caller. */
const sameNameFor = 10_000;
/** Questions of one address about identities that are under way at once. The others wait for their turn. */
const identitiesAtOnce = 20;

/**
 * Counts what one caller makes the service ask GitHub. Each kind of question has a count of its own, so that nobody uses
 * up what somebody else needs. Each method throws Refusal too-many-requests if its count is used up.
 */
export type CallerQuestions = {
  /**
   * Asks GitHub who a credential belongs to. Counts for the address, and only if GitHub refuses.
   * @param credential a token; null for a sign-in.
   */
  whoIs<Answer>(
    credential: string | null,
    isRefused: (answer: Answer) => boolean,
    ask: () => Promise<Answer>,
  ): Promise<Answer>;
  /** Before a question that an installation pays. */
  beforeInstallation(): Promise<void>;
  /**
   * Before the answer about a name that is not there, or that must look so.
   * @returns whether it counted: the same name counts once in 10 s.
   */
  beforeName(name: string): Promise<boolean>;
  /** Before the App itself is asked about a name. If its hour is used up, no installation gets a token. */
  beforeAppName(): Promise<void>;
  /** Before the look of a page at GitHub: counts for the address, unless the person is known. */
  beforeLook(): Promise<void>;
};

/** Names a person like a credential, for what is known. */
const knownPerson = (id: Actor['id']): string => `person ${id}`;

type Counter = { name: string; most: number; refusal(seconds: number): string };

/** Limits what callers can make the service ask GitHub, on all replicas together. */
export class CallerLimits {
  readonly #known: KnownCredentials;
  /** Counts that are used up, until their minute ends. After that, more questions cost no write. */
  readonly #usedUp: Cache<string, true>;
  readonly #namesCounted: Cache<string, true>;
  readonly #identities: Cache<string, ReturnType<typeof noIdentities>>;

  constructor(clock: Clock) {
    this.#known = new KnownCredentials(clock);
    this.#usedUp = createCache(clock, mostBuckets, minute);
    this.#namesCounted = createCache(clock, mostBuckets, sameNameFor);
    this.#identities = createCache(clock, mostBuckets, Infinity);
  }

  /** Remembers a person who got access to something that not everybody has, and their token if they sent one. */
  async remember(deps: Ground, { id }: Pick<Actor, 'id'>, token?: string): Promise<void> {
    await this.#known.remember(deps, knownPerson(id));
    if (token !== undefined) await this.#known.remember(deps, token);
  }

  /** Counts a change that somebody tries on a page. @throws Refusal too-many-requests. */
  countChange(deps: Ground, { id }: Pick<Actor, 'id'>): Promise<void> {
    return this.#take(deps, changesOf(deps, String(id)));
  }

  /** @param caller called only if there is a question; null for a caller whom nothing names. */
  questionsOf(
    deps: Ground,
    context: Context,
    caller: () => Promise<Pick<Actor, 'type' | 'id'> | null>,
  ): CallerQuestions {
    const network = () => networkOf(addressOfClient(deps, context));
    const named = async () => {
      const actor = await caller();
      return actor ? `${actor.type} ${actor.id}` : `address ${network()}`;
    };
    const beforeInstallation = async () => this.#take(deps, questionsOfCaller(deps, await named()));
    return {
      whoIs: this.#whoIs(deps, network),
      beforeInstallation,
      beforeName: async (name) => {
        const caller = await named();
        const counted = `${caller} ${name}`;
        if (this.#namesCounted.get(counted)) return false;
        await this.#take(deps, namesOfCaller(deps, caller));
        this.#namesCounted.set(counted, true);
        return true;
      },
      beforeAppName: () => this.#take(deps, namesInAll),
      beforeLook: async () => {
        const actor = await caller();
        if (actor) await beforeInstallation();
        if (actor && (await this.#known.has(deps, knownPerson(actor.id)))) return;
        for (const counter of looksOfStrangers(deps, network())) await this.#take(deps, counter);
      },
    };
  }

  /** A token that was accepted within the last weeks does not count: nobody can use up what its owner needs. */
  #whoIs(deps: Ground, network: () => string): CallerQuestions['whoIs'] {
    return async (credential, isRefused, ask) => {
      if (credential !== null && (await this.#known.has(deps, credential))) return ask();
      const client = network();
      const counters = identities(deps, client);
      for (const counter of counters) this.#assertLeft(deps, counter);
      const { turns, taken, asked } = this.#identities.get(client) ?? noIdentities();
      this.#identities.set(client, { turns, taken, asked });
      return turns(async () => {
        const since = nowOf(deps.clock);
        const { promise: settled, resolve: settle } = Promise.withResolvers<null>();
        try {
          // Who waits for the second counter is nobody's reason to wait for it.
          await this.#take(deps, counters[0]!, taken);
          taken.add(settled);
          await this.#take(deps, counters[1]!, asked);
          asked.add(settled);
          return await askAndCount(deps, { counters, since, isRefused, ask });
        } finally {
          for (const each of [taken, asked]) each.delete(settled);
          settle(null);
        }
      });
    };
  }

  #assertLeft({ clock }: Ground, { name, refusal }: Counter): void {
    const seconds = secondsLeft(nowOf(clock));
    if (this.#usedUp.get(name)) throw tooManyRequests(refusal(seconds), seconds);
  }

  /** @param underWay questions that may give back what they took. */
  async #take(deps: Ground, counter: Counter, underWay = new Set<Promise<unknown>>()): Promise<void> {
    this.#assertLeft(deps, counter);
    const now = nowOf(deps.clock);
    for (;;) {
      // One that settles meanwhile may have given back what the statement missed, and one that began may have taken it.
      const before = [...underWay];
      if (await takeOne(deps, counter.name, counter.most)) return;
      const mayGiveBack = [...before, ...underWay];
      if (mayGiveBack.length === 0) {
        this.#usedUp.set(counter.name, true, minute - (now.getTime() % minute), now.getTime());
        this.#assertLeft(deps, counter);
      }
      await Promise.race(mayGiveBack);
    }
  }
}

/** Questions of one address about identities: those that took its counter, and of them those that took both. */
const noIdentities = () => ({
  turns: pLimit(identitiesAtOnce),
  taken: new Set<Promise<unknown>>(),
  asked: new Set<Promise<unknown>>(),
});

/** Asks, and gives back what was taken, unless GitHub refuses: only that goes on counting. */
async function askAndCount<Answer>(
  deps: Ground,
  question: {
    counters: Counter[];
    since: Date;
    isRefused: (answer: Answer) => boolean;
    ask: () => Promise<Answer>;
  },
): Promise<Answer> {
  let refused = false;
  try {
    const answer = await question.ask();
    refused = question.isRefused(answer);
    return answer;
  } finally {
    if (!refused) for (const { name } of question.counters) await giveBackCount(deps, name, question.since);
  }
}

/** Its address, then everybody. */
const identities = (deps: Ground, network: string): Counter[] => {
  const refusal = (seconds: number) =>
    `GitHub refused too many tokens and sign-ins in this minute. Try again in ${seconds} s, or use an application key: it is not limited.`;
  return [
    { name: bucketOf(deps, 'identities', network), most: identitiesPerMinute.address, refusal },
    { name: 'identities all', most: identitiesPerMinute.all, refusal },
  ];
};

function questionsOfCaller(deps: Ground, caller: string): Counter {
  const most = deps.config.callerQuestionsPerMinute;
  return {
    name: bucketOf(deps, 'caller', caller),
    most,
    refusal: (seconds) =>
      `Your requests need more than ${most} questions to GitHub in this minute. Try again in ${seconds} s.`,
  };
}

const namesOfCaller = (deps: Ground, caller: string): Counter => ({
  name: bucketOf(deps, 'names', caller),
  most: namesPerMinute.caller,
  refusal: (seconds) =>
    `You asked for more than ${namesPerMinute.caller} names in this minute that Holdfast does not know. Check the names, and try again in ${seconds} s.`,
});

const namesInAll: Counter = {
  name: 'names all',
  most: namesPerMinute.all,
  refusal: (seconds) =>
    `Callers asked for too many names in this minute that Holdfast does not know. Try again in ${seconds} s.`,
};

const changesOf = (deps: Ground, person: string): Counter => ({
  name: bucketOf(deps, 'changes', person),
  most: changesPerMinute,
  refusal: (seconds) =>
    `You sent more than ${changesPerMinute} forms in this minute. Nothing was changed: send the form again in ${seconds} s.`,
});

const looksOfStrangers = (deps: Ground, network: string): Counter[] => {
  const { strangerQuestionsPerMinute: inAll } = deps.config;
  const refusal = (seconds: number) =>
    `Visitors that Holdfast does not know loaded too many pages in this minute. Try again in ${seconds} s, or sign in.`;
  return [
    { name: bucketOf(deps, 'strangers', network), most: Math.ceil(inAll / 2), refusal },
    { name: 'strangers all', most: inAll, refusal },
  ];
};

// The only access to the table of known credentials: HMACs of people, and of tokens, that were accepted within 30 days.

/** Milliseconds that a credential stays known after it was accepted. */
export const knownFor = 30 * 24 * hour;
/** Milliseconds between two writes of the same credential. */
const writtenEach = hour;
const mostCallersKept = 10_000;

type Store = Pick<Ground, 'db' | 'clock' | 'config'>;

/** Remembers accepted credentials, without the credentials themselves. */
export class KnownCredentials {
  /** What this process wrote recently. */
  readonly #written: Cache<string, true>;

  constructor(clock: Clock) {
    this.#written = createCache(clock, mostCallersKept, writtenEach);
  }

  /** @param credential a token, or `person` with GitHub's id of a signed-in person. */
  async remember(deps: Store, credential: string): Promise<void> {
    const hash = hashOf(deps, credential);
    const now = nowOf(deps.clock);
    if (this.#written.get(hash)) return;
    this.#written.set(hash, true);
    await deps.db.knownCredential.upsert({
      where: { hash },
      create: { hash, goodAt: now },
      update: { goodAt: now },
    });
    await deps.db.$executeRaw`
      DELETE FROM known_credentials WHERE hash IN (
        SELECT hash FROM known_credentials ORDER BY good_at DESC OFFSET ${mostCallersKept})`;
  }

  async has(deps: Store, credential: string): Promise<boolean> {
    const goodAt = { gt: new Date(deps.clock.now() - knownFor) };
    return (await deps.db.knownCredential.count({ where: { hash: hashOf(deps, credential), goodAt } })) > 0;
  }
}

const hashOf = (deps: Store, credential: string): string => hmacOf(deps, 'known credentials', credential);
