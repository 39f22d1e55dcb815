// Loaded into a process before its program: it looks names below `.test` up in a file.
import dns from 'node:dns';
import { readFileSync } from 'node:fs';

const file = new URL(import.meta.url).searchParams.get('file')!;
const lookup = dns.lookup;

type Answered = (error: Error | null, address?: unknown, family?: number) => void;

dns.lookup = ((name: string, ...more: unknown[]) => {
  if (!name.endsWith('.test')) return (lookup as (...all: unknown[]) => void)(name, ...more);
  const answered = more.at(-1) as Answered;
  const { all } = (typeof more[0] === 'object' ? more[0] : {}) as { all?: boolean };
  const address = (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string | null>)[name];
  setImmediate(() => {
    if (address) return all ? answered(null, [{ address, family: 4 }]) : answered(null, address, 4);
    const error = new Error(`getaddrinfo EAI_AGAIN ${name}`);
    answered(
      Object.assign(error, { code: 'EAI_AGAIN', errno: -3001, syscall: 'getaddrinfo', hostname: name }),
    );
  });
}) as typeof dns.lookup;
