// Somebody else's calendar: an iCalendar file at an address, which changes, fails, hangs and leads elsewhere.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the address does with a request, if it does not answer with the file. */
type Trouble = 'hang' | 'reset' | { status: number; headers?: Record<string, string>; body?: string };

export type CalendarFile = {
  /** Where it is, with a path that is a secret. */
  url: string;
  /** The status of every answer. 304: nothing had changed. */
  answers: number[];
  /** From now on the file has these events. Each is its lines without BEGIN, END and DTSTAMP. */
  publish(...events: string[][]): void;
  /** From now on the file is this text. */
  say(text: string): void;
  /** From now on it has this trouble; null: none. */
  trouble(trouble: Trouble | null): void;
  close(): Promise<void>;
};

export const calendarOf = (...events: string[][]): string =>
  [
    ...['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Sandbox//Calendar//EN'],
    ...events.flatMap((lines) => ['BEGIN:VEVENT', 'DTSTAMP:20260101T000000Z', ...lines, 'END:VEVENT']),
    ...['END:VCALENDAR', ''],
  ].join('\r\n');

export async function startCalendarFile(): Promise<CalendarFile> {
  const answers: number[] = [];
  let text = calendarOf();
  let current: Trouble | null = null;
  const answer = (response: ServerResponse, status: number, headers: object = {}, body = ''): void => {
    answers.push(status);
    response.writeHead(status, { ...headers }).end(body);
  };
  const server = createServer((request, response) => {
    if (current === 'hang') return;
    if (current === 'reset') return void request.socket.destroy();
    if (current) return answer(response, current.status, current.headers, current.body);
    const etag = `"${createHash('sha256').update(text).digest('hex').slice(0, 12)}"`;
    if (request.headers['if-none-match'] === etag) return answer(response, 304, { etag });
    answer(response, 200, { etag, 'content-type': 'text/calendar' }, text);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/s3cret-${port}/holidays.ics`,
    answers,
    publish: (...events) => void (text = calendarOf(...events)),
    say: (said) => void (text = said),
    trouble: (trouble) => void (current = trouble),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
