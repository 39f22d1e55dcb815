// For a container's HEALTHCHECK, without curl: `node bin/healthcheck.ts [port] [host]` exits with 0 while the process on
// that port answers /healthz, else with 1. The host is the one that it listens on.
import { get } from 'node:http';
import process from 'node:process';
import { addressHere } from '../src/address-here.ts';

const host = process.argv[3]?.trim() || '127.0.0.1';
const url = `${addressHere(host === '0.0.0.0' ? '127.0.0.1' : host, process.argv[2] ?? '3000')}/healthz`;

const request = get(url, { timeout: 3000 }, (response) => {
  response.resume();
  end(response.statusCode === 200 ? 0 : 1, `status ${response.statusCode}`);
});
request.on('timeout', () => request.destroy(new Error('no answer within 3 s')));
request.on('error', (error) => end(1, error.message));

/** Docker stores the output with the result of the check. */
function end(code: number, what: string): void {
  process.stdout.write(`${url}: ${what}\n`);
  process.exitCode = code;
}
