import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/free-port.ts';
import type { Order, Report } from './service.ts';

const entry = fileURLToPath(new URL('service.ts', import.meta.url));

export type Role = 'all' | 'web' | 'worker';

type Member = {
  name: string;
  role: Role;
  url: string;
  port: number;
  child: ChildProcess | null;
  isUp: boolean;
  /** How long it stays down when it ends. */
  restartAfter: number;
};

/** How soon a process that ended by itself is started again. */
const supervision = 300;

/** The processes of the service, and a supervisor that starts what ended. */
export class Fleet {
  readonly members: Member[] = [];
  kills = 0;
  wrongClocks = 0;
  /** Processes that ended though nobody killed them. */
  readonly crashes: { name: string; how: string; at: number }[] = [];
  readonly #environment: Record<string, string>;
  readonly #logFolder: string;
  #offset = 0;
  #isStopping = false;

  private constructor(environment: Record<string, string>, logFolder: string) {
    this.#environment = environment;
    this.#logFolder = logFolder;
  }

  static async start(environment: Record<string, string>, roles: Role[], logFolder: string): Promise<Fleet> {
    const fleet = new Fleet(environment, logFolder);
    for (const [index, role] of roles.entries()) {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const name = `${role}-${index + 1}`;
      const member: Member = { name, role, url, port, child: null, isUp: false, restartAfter: supervision };
      fleet.members.push(member);
      fleet.#launch(member);
    }
    await fleet.whole();
    return fleet;
  }

  /** Where requests and webhooks go, whether somebody listens there or not. */
  get webs(): string[] {
    return this.members.filter(({ role }) => role !== 'worker').map(({ url }) => url);
  }

  get isWhole(): boolean {
    return this.members.every(({ isUp }) => isUp);
  }

  /** Resolves when every process serves. */
  async whole(): Promise<void> {
    const deadline = Date.now() + 180_000;
    while (!this.isWhole) {
      if (Date.now() > deadline) throw new Error(`The service does not start; see ${this.#logFolder}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** kill -9; it comes back after a while. */
  kill(index: number, downFor: number): string | null {
    const member = this.members[index % this.members.length]!;
    if (!member.isUp) return null;
    this.kills += 1;
    member.isUp = false;
    member.restartAfter = downFor;
    member.child?.kill('SIGKILL');
    return member.name;
  }

  /** Steps every clock, also of those that start later. Resolves when those that are up have stepped. */
  async step(offset: number): Promise<void> {
    this.#offset = offset;
    await Promise.all(this.members.map((member) => stepped(member, offset)));
  }

  /** Sets the clock of one process wrong for a while; a process that starts has the right time. */
  setWrong(index: number, wrongBy: number, lasts: number): string | null {
    const { name, child, isUp } = this.members[index % this.members.length]!;
    if (!isUp || !child?.connected) return null;
    this.wrongClocks += 1;
    const tell = (milliseconds: number) =>
      child.connected && child.send({ wrongBy: milliseconds } satisfies Order, () => {});
    tell(wrongBy);
    setTimeout(() => tell(0), lasts);
    return name;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(
      this.members.map(async ({ child }) => {
        if (!child || child.exitCode !== null || child.signalCode !== null) return;
        const ended = once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
      }),
    );
  }

  #launch(member: Member): void {
    const log = createWriteStream(join(this.#logFolder, `${member.name}.log`), { flags: 'a' });
    const child = fork(entry, {
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        PATH: process.env['PATH'],
        ...this.#environment,
        PORT: String(member.port),
        HOST: '127.0.0.1',
        ROLE: member.role,
        CLOCK_OFFSET: String(this.#offset),
      },
    });
    child.stdout!.pipe(log, { end: false });
    child.stderr!.pipe(log, { end: false });
    member.child = child;
    child.on('message', (report: Report) => {
      if ('url' in report) member.isUp = true;
    });
    child.on('error', () => {});
    child.once('exit', (code, signal) => {
      if (member.isUp) {
        this.crashes.push({ name: member.name, how: String(code ?? signal), at: Date.now() });
      }
      member.isUp = false;
      if (this.#isStopping) return;
      setTimeout(() => this.#isStopping || this.#launch(member), member.restartAfter);
      member.restartAfter = supervision;
    });
    // Told of steps that it missed while it started.
    child.send({ clockOffset: this.#offset }, () => {});
  }
}

async function stepped({ child, isUp }: Member, clockOffset: number): Promise<void> {
  if (!child?.connected) return;
  child.send({ clockOffset }, () => {});
  if (!isUp) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer);
      child.off('message', listen).off('exit', done);
      resolve();
    };
    const listen = (report: Report) => {
      if ('steppedTo' in report && report.steppedTo >= clockOffset) done();
    };
    const timer = setTimeout(done, 5_000);
    child.on('message', listen).once('exit', done);
  });
}
